"""Messages are found by their words, in plain and archived histories, the newest first."""

from __future__ import annotations

import json
import unicodedata
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.errors import UsageError
from openclaw_cli.session.requests import SearchRequest
from openclaw_cli.text.matching import Query
from openclaw_cli.text.snippets import snippet
from tests.session.support import said
from tests.support import START


def hits(sessions, query, **options):
    results = sessions.service.search(SearchRequest(query, **options)).data["results"]
    return [(hit["sessionId"], hit["idx"]) for hit in results]


@pytest.fixture
def stocked(sessions):
    sessions.new("ant")
    sessions.append(
        "ant", "deploy the server", said("服务器部署完成", "assistant"), "server, deploy"
    )
    sessions.later(hours=1)
    sessions.new("bee")
    sessions.append("bee", "deploying the server now", "deploy the server zebra")
    return sessions


def test_all_words_must_occur_and_whole_phrases_come_first_then_the_newest(stocked):
    assert hits(stocked, "deploy the server") == [("bee", 1), ("ant", 0), ("bee", 0), ("ant", 2)]
    assert hits(stocked, "deploy zebra") == [("bee", 1)]
    assert hits(stocked, "deploy banana") == []


def test_the_limit_keeps_the_first_ones(stocked):
    for limit in range(1, 5):
        wanted = hits(stocked, "deploy the server")[:limit]
        assert hits(stocked, "deploy the server", limit=limit) == wanted


def test_archived_sessions_are_searched_too(stocked):
    stocked.service.archive(["ant"])
    assert hits(stocked, "部署") == [("ant", 1)]
    assert stocked.files("ant").packed.exists()


def test_session_role_and_time_narrow_the_search(stocked):
    assert hits(stocked, "server", session="ant") == [("ant", 2), ("ant", 0)]
    assert hits(stocked, "服务器", roles=("user",)) == []
    assert hits(stocked, "服务器", roles=("assistant", "tool")) == [("ant", 1)]
    assert hits(stocked, "server", since=START + timedelta(minutes=30)) == [("bee", 1), ("bee", 0)]


def test_tool_calls_are_searched(sessions):
    sessions.new("ant")
    call = {"id": "c1", "name": "run_shell", "args": {"command": "kubectl rollout 部署"}}
    sessions.append("ant", said("ok", "assistant", toolCalls=[call]))
    for query in ("kubectl", "run_shell", "部署", "rollout ok"):
        assert hits(sessions, query) == [("ant", 0)], query


def test_damaged_lines_are_passed_over_with_a_warning(stocked):
    history = stocked.files("ant").history
    lines = history.read_bytes().splitlines(keepends=True)
    escaped = json.dumps({"idx": 3, "role": "user", "content": "部署 again"}).encode()
    history.write_bytes(b"".join([lines[0], b"{bad\n", *lines[1:], escaped + b"\r\n", b'{"idx":4']))
    result = stocked.service.search(SearchRequest("部署"))
    assert [hit["idx"] for hit in result.data["results"]] == [1, 3]
    assert [warning.code for warning in result.warnings] == ["history-damaged", "torn-tail"]
    assert "line 2" in result.warnings[0].message


def test_a_damaged_archive_is_read_as_far_as_it_goes(stocked):
    stocked.service.archive(["ant"])
    packed = stocked.files("ant").packed
    packed.write_bytes(packed.read_bytes()[:-10])
    result = stocked.service.search(SearchRequest("server"))
    assert ("bee", 1) in [(hit["sessionId"], hit["idx"]) for hit in result.data["results"]]
    assert "history-damaged" in {warning.code for warning in result.warnings}


def test_an_empty_query_is_refused(stocked):
    for query in ("", "  ", "..."):
        with pytest.raises(UsageError):
            hits(stocked, query)


def test_candidates_are_judged_in_parts_with_the_same_result(stocked, monkeypatch):
    from openclaw_cli.session import searching

    wanted = hits(stocked, "deploy the server")
    monkeypatch.setattr(searching, "_HELD", 1)
    assert hits(stocked, "deploy the server") == wanted


def test_an_older_phrase_is_found_behind_newer_messages_without_it(sessions):
    sessions.new("ant")
    sessions.append("ant", "blue moon", *["moon blue"] * 30)
    assert hits(sessions, "blue moon", limit=2) == [("ant", 0), ("ant", 30)]


@pytest.mark.parametrize(
    ("query", "text", "shown"),
    [
        ("部署", "先" * 200 + "部署" + "后" * 200, "部署"),
        ("deploy", "x " * 300 + "Deploying it " + "y " * 300, "Deploying"),
        ("cafe", "é" * 100 + " le CAFÉ " + "ü" * 100, "CAFÉ"),
        ("cafe", "a " * 100 + "cafe\u0301 " + "b " * 100, "cafe\u0301"),
        ("deploy", "ß" * 100 + " ＤＥＰＬＯＹ " + "İ" * 100, "ＤＥＰＬＯＹ"),
        ("👍", "a" * 100 + "👍🏽" + "b" * 100, "👍🏽"),
        ("the end", "z\n" * 100 + "the\n  end", "the end"),
    ],
)
def test_a_snippet_shows_the_hit(query, text, shown):
    found = snippet(text, Query(query))
    assert shown in found
    assert len(found) < 260


def test_a_short_text_is_its_own_snippet():
    assert snippet("  今天\n天气 ", Query("天气")) == "今天 天气"


@given(st.text(max_size=400), st.text(min_size=1, max_size=5))
def test_a_snippet_cuts_no_character(text, query):
    found = snippet(text, Query(query)).strip("…")
    assert " ".join(text.split()).find(" ".join(found.split())) >= 0
    if found and text.strip() and not unicodedata.category(text.strip()[0]).startswith("M"):
        assert not unicodedata.category(found[0]).startswith("M") or len(found) > 64
