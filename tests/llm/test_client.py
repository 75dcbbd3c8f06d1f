"""The chat client against a real server that answers well, badly, late, or not at all."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime

import pytest

from openclaw_cli.clock import Clock
from openclaw_cli.config import Config
from openclaw_cli.errors import ConfigError, UnavailableError
from openclaw_cli.llm.client import ChatClient
from openclaw_cli.llm.configured import endpoint
from openclaw_cli.llm.protocol import Endpoint
from tests.llm.server import (
    completion,
    cut,
    dripping,
    endless,
    hanging,
    reply,
    serving,
    silent,
)

KEY = "sk-very-secret-0123456789"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Patient(Clock):
    """A clock that notes how long it was to wait, and does not."""

    waits: list[float]

    def sleep(self, seconds):
        self.waits.append(seconds)


@pytest.fixture
def clock():
    made = Patient(NOON)
    made.waits = []
    return made


def ask(url, clock, *, timeout=5.0, key=KEY):
    client = ChatClient(Endpoint(url, "small", key, timeout), clock)
    return client.complete([{"role": "user", "content": "你好"}], max_tokens=256, temperature=0.3)


def failing(clock, *behaviours, timeout=5.0):
    """Return the error that a server causes, and how often it was asked."""
    with serving(*behaviours) as server, pytest.raises(UnavailableError) as raised:
        ask(server.url, clock, timeout=timeout)
    error = raised.value
    told = json.dumps([error.message, error.hint, dict(error.details), repr(error)])
    assert KEY not in told
    assert error.exit_status == 15
    assert server.url in error.message
    assert error.hint
    assert error.details["attempts"] == len(server.bodies)
    return error, len(server.bodies)


def test_the_answer_is_returned_and_the_request_is_as_the_api_wants_it(clock):
    with serving(completion("  好的。\n")) as server:
        assert ask(server.url + "/", clock) == "好的。"
    assert server.bodies == [
        {
            "model": "small",
            "messages": [{"role": "user", "content": "你好"}],
            "max_tokens": 256,
            "temperature": 0.3,
            "stream": False,
        }
    ]
    head = server.heads[0].lower()
    assert head.startswith("post /v1/chat/completions http/1.1")
    assert f"authorization: bearer {KEY}" in head
    assert "content-type: application/json" in head
    assert clock.waits == []


def test_without_a_key_none_is_sent(clock):
    with serving(completion("ok")) as server:
        assert ask(server.url, clock, key=None) == "ok"
    assert "authorization" not in server.heads[0].lower()


def test_content_in_parts_is_joined(clock):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    body = json.dumps({"choices": [{"message": {"content": parts}}]}).encode()
    with serving(reply("200 OK", body)) as server:
        assert ask(server.url, clock) == "ab"


def test_a_server_error_is_tried_again_after_one_two_and_four_seconds(clock):
    error, asked = failing(clock, reply("500 Oops", b'{"error":{"message":"no\\n memory"}}'))
    assert (asked, clock.waits) == (4, [1.0, 2.0, 4.0])
    assert "HTTP 500 Oops: no memory (tried 4 times)" in error.message
    assert (error.details["reason"], error.details["status"]) == ("server-error", 500)


@pytest.mark.parametrize("passing", [reply("503 Busy", b""), reply("429 Slow", b"{}"), cut, silent])
def test_what_passes_is_tried_again_until_it_has_passed(clock, passing):
    with serving(passing, passing, completion("at last")) as server:
        assert ask(server.url, clock) == "at last"
    assert clock.waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "waits"),
    [
        ("Retry-After: 7", [7.0, 7.0, 7.0]),
        ("Retry-After: 0", [1.0, 2.0, 4.0]),
        ("Retry-After: Sun, 01 Mar 2026 12:00:03 GMT", [3.0, 3.0, 4.0]),
        ("Retry-After: Sun, 01 Mar 2020 12:00:03 GMT", [1.0, 2.0, 4.0]),
        ("Retry-After: soon", [1.0, 2.0, 4.0]),
        ("Retry-After: -5", [1.0, 2.0, 4.0]),
    ],
)
def test_retry_after_is_honoured_as_seconds_or_date(clock, header, waits):
    error, _asked = failing(clock, reply("429 Too Many Requests", b"{}", header))
    assert clock.waits == waits
    assert error.details["reason"] == "rate-limited"


def test_a_server_that_wants_to_be_left_alone_for_long_is_given_up_at_once(clock):
    error, asked = failing(clock, reply("429 Slow", b"", "Retry-After: 3600"))
    assert (asked, clock.waits) == (1, [])
    assert "asks to wait 3600 seconds" in error.message


@pytest.mark.parametrize(
    ("behaviour", "reason", "said"),
    [
        (reply("401 No", b'{"error":{"message":"bad key %s"}}' % KEY.encode()), "refused", "***"),
        (reply("404 Not Found", b"<html>"), "not-found", "HTTP 404"),
        (reply("400 Bad", b'{"error":"no such model"}'), "refused", "no such model"),
        (reply("200 OK", b"<!doctype html><p>hello"), "not-json", "a web page"),
        (reply("200 OK", b""), "not-json", "nothing"),
        (reply("200 OK", b"\xff\xfe\x00"), "not-json", "something else"),
        (reply("200 OK", b"[]"), "wrong-shape", "no chat completion"),
        (reply("200 OK", b'{"choices":[]}'), "wrong-shape", "no chat completion"),
        (reply("200 OK", b'{"choices":[{"text":"x"}]}'), "wrong-shape", "no chat completion"),
        (reply("200 OK", b'{"choices":[{"message":{"content":7}}]}'), "wrong-shape", "no chat"),
        (reply("200 OK", b'{"error":{"message":"not loaded"}}'), "wrong-shape", "not loaded"),
        (completion("  "), "empty", "nothing"),
        (endless, "too-large", "more than 4 MiB"),
    ],
)
def test_what_would_not_be_better_the_next_time_is_told_at_once(clock, behaviour, reason, said):
    error, asked = failing(clock, behaviour)
    assert (asked, clock.waits) == (1, [])
    assert error.details["reason"] == reason
    assert said in error.message


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 Other", "307 T", "308 P"])
def test_a_redirect_is_not_followed_so_that_no_other_server_gets_the_key(clock, status):
    with serving(completion("caught")) as other:
        target = f"Location: {other.url}/chat/completions"
        error, asked = failing(clock, reply(status, b"", target))
        assert (asked, other.heads) == (1, [])
    assert error.details["reason"] == "redirected"
    assert other.url in error.message


@pytest.mark.parametrize(
    "behaviour",
    [
        hanging,
        dripping(b"HTTP/1.1 200 OK\r\nX-Slow: "),
        dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"),
        dripping(b""),
        dripping(b"HTTP/1.1 500 Oops\r\nContent-Length: 100000\r\n\r\n"),
    ],
    ids=["silent", "header", "body", "nothing", "error body"],
)
def test_an_answer_is_due_within_the_timeout_however_it_is_drawn_out(clock, behaviour):
    start = time.monotonic()
    _error, asked = failing(clock, behaviour, timeout=0.2)
    assert (asked, clock.waits) == (4, [1.0, 2.0, 4.0])
    assert time.monotonic() - start < 5


def test_a_port_where_nothing_listens_is_told_at_once(clock):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(UnavailableError, match="nothing answers there") as raised:
        ask(f"http://127.0.0.1:{port}/v1", clock)
    assert raised.value.details["attempts"] == 1
    assert clock.waits == []


def test_a_server_that_speaks_no_tls_is_told(clock):
    with serving(completion("x")) as server, pytest.raises(UnavailableError):
        ask(server.url.replace("http:", "https:"), clock, timeout=1.0)


def test_a_key_that_cannot_be_sent_is_not_told(clock):
    with serving(completion("x")) as server, pytest.raises(UnavailableError) as raised:
        ask(server.url, clock, key=f"{KEY}\nInjected: yes")
    assert KEY not in str(raised.value.message)
    assert server.heads == []


def test_an_endpoint_never_shows_its_key():
    shown = repr(Endpoint("https://api.example/v1?k=1", "m", KEY))
    assert KEY not in shown
    assert Endpoint("https://me:pw@api.example/v1?k=1", "m").shown == "https://api.example/v1"


def settings(tmp_path, **sections):
    path = tmp_path / "openclaw.json"
    path.write_text(json.dumps(sections))
    return Config.load(path, {})


def test_the_first_section_that_names_an_endpoint_is_taken_as_a_whole(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "general")
    monkeypatch.setenv("OWN_KEY", "own")
    extract = {"extractModel": {"baseUrl": "http://a/v1", "model": "m", "apiKeyEnv": "OWN_KEY"}}
    names = ("session.context.model", "memory.extractModel")
    assert endpoint(settings(tmp_path), *names) is None
    found = endpoint(settings(tmp_path, memory=extract), *names)
    assert found == Endpoint("http://a/v1", "m", "own", 30.0)
    own = {"context": {"model": {"baseUrl": "https://b/v1", "model": "n", "timeout": 5}}}
    found = endpoint(settings(tmp_path, memory=extract, session=own), *names)
    assert found == Endpoint("https://b/v1", "n", "general", 5.0)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"model": "m"}, "session.context.model.baseUrl is not"),
        ({"baseUrl": "http://a"}, "session.context.model.model is not"),
        ({"baseUrl": "file:///etc/passwd", "model": "m"}, "no web address"),
        ({"baseUrl": "api.openai.com/v1", "model": "m"}, "no web address"),
        ({"baseUrl": "http://me:secret@a/v1", "model": "m"}, "holds a name or a password"),
    ],
)
def test_an_endpoint_that_cannot_be_one_is_refused_by_its_key(tmp_path, model, said):
    config = settings(tmp_path, session={"context": {"model": model}})
    with pytest.raises(ConfigError, match=said) as raised:
        endpoint(config, "session.context.model")
    assert "secret" not in raised.value.message
