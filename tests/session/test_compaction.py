"""Summaries: when one is due, what it covers, how the next one grows, what serves without one."""

from __future__ import annotations

import gzip
import json

import pytest

from openclaw_cli.clock import Clock
from openclaw_cli.errors import ConfigError
from openclaw_cli.session.context import compaction
from openclaw_cli.session.requests import ContextRequest
from openclaw_cli.store import locks
from tests.llm.server import completion, reply, serving
from tests.session.support import said

BROKEN = reply("404 Not Found", b"{}")


@pytest.fixture
def ant(sessions, monkeypatch):
    monkeypatch.setattr(Clock, "sleep", lambda _self, _seconds: None)
    sessions.new("ant")
    return sessions


def configure(sessions, url, **more):
    model = {"baseUrl": url, "model": "small", "apiKeyEnv": "NO_SUCH_KEY"}
    document = {"session": {"context": {"model": model, **more}}}
    (sessions.state / "openclaw.json").write_text(json.dumps(document))


def talk(sessions, count, start=0):
    lines = [
        said(f"word{n}", "assistant" if n % 2 else "user", tokens=5)
        for n in range(start, start + count)
    ]
    sessions.append("ant", *lines)


def context(sessions, budget=100_000, **more):
    return sessions.service.context("ant", ContextRequest(budget, "summary", **more))


def codes(result):
    return [warning.code for warning in result.warnings]


def asked(server):
    return [body["messages"][1]["content"] for body in server.bodies]


def stored(sessions):
    return json.loads(sessions.files("ant").context.read_bytes())


def test_a_long_history_becomes_a_summary_and_its_newest_messages(ant):
    ant.append("ant", said("be kind", "system", tokens=5))
    talk(ant, 40)
    with serving(completion("They counted.")) as server:
        configure(ant, server.url)
        result = context(ant)
    data = result.data
    assert (data["strategy"], data["dropped"], result.warnings) == ("summary", 30, ())
    prompt, summary, *later = data["messages"]
    assert prompt["content"] == "be kind"
    assert summary["role"] == "user"
    assert "They counted." in summary["content"]
    assert [m["content"] for m in later] == [f"word{n}" for n in range(30, 40)]
    (body,) = server.bodies
    assert (body["max_tokens"], body["temperature"]) == (256, 0.3)
    words = body["messages"][1]["content"].split()
    assert [word for word in words if word.startswith("word")] == [f"word{n}" for n in range(30)]
    assert ant.meta("ant")["summaryCheckpoint"] == stored(ant)["last"] == 30
    assert ant.show("ant")["summaryCheckpoint"] == 30
    ant.sound()


def test_thirty_messages_are_short_enough(ant):
    talk(ant, 30)
    with serving(completion("x")) as server:
        configure(ant, server.url)
        result = context(ant)
        assert server.bodies == []
    assert (result.data["strategy"], codes(result)) == ("sliding-window", ["no-summary"])
    assert not ant.files("ant").context.exists()


def test_the_next_summary_merges_the_one_before_and_reads_only_what_is_new(ant):
    talk(ant, 40)
    with serving(completion("First."), completion("Both.")) as server:
        configure(ant, server.url)
        context(ant)
        talk(ant, 10, 40)
        again = context(ant)
        assert (len(server.bodies), codes(again)) == (1, [])
        assert len(again.data["messages"]) == 21
        talk(ant, 20, 50)
        merged = context(ant)
    first, second = asked(server)
    assert "summary-so-far" not in first
    assert "First." in second
    assert "word29" not in second.split()
    assert {"word30", "word59"} <= set(second.split())
    assert "word60" not in second.split()
    assert "Both." in merged.data["messages"][0]["content"]
    assert ant.meta("ant")["summaryCheckpoint"] == 59


def test_no_pair_is_parted_by_the_end_of_a_summary(ant):
    talk(ant, 30)
    calls = [{"id": f"c{n}", "name": "look", "args": {}} for n in range(9)]
    ant.append("ant", {"role": "assistant", "content": "", "toolCalls": calls})
    ant.append("ant", *(said("found", "tool", toolCallId=f"c{n}") for n in range(9)), "thanks")
    with serving(completion("Fine.")) as server:
        configure(ant, server.url, keepRecent=5)
        data = context(ant).data
    assert stored(ant)["last"] == 29
    assert [m["idx"] for m in data["messages"][1:]] == list(range(30, 41))


def test_a_history_longer_than_one_command_sums_up_goes_on_in_the_next(ant, monkeypatch):
    monkeypatch.setattr(compaction, "PART_TOKENS", 40)
    talk(ant, 200)
    with serving(completion("Part.")) as server:
        configure(ant, server.url)
        first = context(ant)
        assert codes(first) == ["summary-partial"]
        reached = stored(ant)["last"]
        assert len(server.bodies) == compaction.ROUNDS
        second = context(ant)
    assert reached < stored(ant)["last"] < 190
    assert [m["idx"] for m in first.data["messages"][1:]] == list(range(reached + 1, 200))
    assert codes(second) == ["summary-partial"]
    words = " ".join(asked(server)).split()
    found = [word for word in words if word.startswith("word")]
    assert found == [f"word{n}" for n in range(len(found))], "each message once, in order"


def test_without_a_model_the_window_serves_and_says_so(ant):
    talk(ant, 40)
    result = context(ant)
    assert (result.data["strategy"], codes(result)) == ("sliding-window", ["no-model"])
    assert "session.context.model" in result.warnings[0].message
    assert len(result.data["messages"]) == 40


@pytest.mark.parametrize("behaviour", [BROKEN, reply("500 Oops", b""), reply("200 OK", b"<p>")])
def test_when_the_model_fails_the_window_serves_and_nothing_is_written(ant, behaviour):
    talk(ant, 40)
    before = ant.meta("ant")
    with serving(behaviour) as server:
        configure(ant, server.url)
        result = context(ant)
    assert (result.data["strategy"], codes(result)) == ("sliding-window", ["summary-failed"])
    assert server.url in result.warnings[0].message
    assert ant.meta("ant") == before
    assert not ant.files("ant").context.exists()


def test_when_the_model_fails_later_the_summary_that_there_is_serves(ant):
    talk(ant, 40)
    with serving(completion("First."), BROKEN) as server:
        configure(ant, server.url)
        context(ant)
        talk(ant, 30, 40)
        result = context(ant)
    assert (result.data["strategy"], codes(result)) == ("summary", ["summary-failed"])
    assert "First." in result.data["messages"][0]["content"]
    assert len(result.data["messages"]) == 41


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"summary":"","last":1,"end":2}', b'{"summary":"x","last":"1","end":2}'],
)
def test_a_damaged_snapshot_is_as_good_as_none(ant, content):
    talk(ant, 40)
    ant.files("ant").context.write_bytes(content)
    result = context(ant)
    assert codes(result) == ["summary-unusable", "no-model"]
    assert result.data["strategy"] == "sliding-window"
    with serving(completion("New.")) as server:
        configure(ant, server.url)
        assert context(ant).data["strategy"] == "summary"
    assert stored(ant)["summary"] == "New."


def test_a_snapshot_of_messages_that_are_not_there_is_not_used(ant):
    talk(ant, 3)
    document = {"summary": "x", "last": 7, "end": 100}
    ant.files("ant").context.write_text(json.dumps(document))
    assert codes(context(ant)) == ["summary-unusable"]


@pytest.mark.parametrize("archived", [False, True])
def test_a_snapshot_of_another_session_or_of_other_words_is_not_used(ant, archived):
    talk(ant, 60)
    with serving(completion("New.")) as server:
        configure(ant, server.url)
        assert context(ant).data["strategy"] == "summary"
    (ant.state / "openclaw.json").unlink()
    files = ant.files("ant")
    if archived:
        ant.service.archive(["ant"])
    result = context(ant)
    assert (codes(result), result.data["strategy"]) == ([], "summary")
    sound = files.context.read_bytes()
    files.context.write_bytes(sound.replace(b'"ant"', b'"bee"'))
    result = context(ant)
    assert (codes(result), result.data["strategy"]) == (
        ["summary-unusable", "no-model"],
        "sliding-window",
    )
    assert "of the session bee" in result.warnings[0].message
    files.context.write_bytes(sound)
    if archived:
        data = gzip.decompress(files.packed.read_bytes())
        files.packed.write_bytes(gzip.compress(data.replace(b"word3", b"WORD3", 1)))
    else:
        files.history.write_bytes(files.history.read_bytes().replace(b"word3", b"WORD3", 1))
    result = context(ant)
    assert codes(result) == ["summary-unusable", "no-model"]
    assert "changed since" in result.warnings[0].message


def test_a_wrong_hint_at_the_end_of_a_summary_costs_time_and_nothing_else(ant):
    talk(ant, 60)
    for end in (0, 17, 100, 1 << 40):
        document = {"summary": "Old.", "last": 19, "end": end, "mine": 1}
        ant.files("ant").context.write_text(json.dumps(document))
        with serving(completion("New.")) as server:
            configure(ant, server.url)
            result = context(ant)
        assert result.warnings == ()
        words = [word for word in asked(server)[0].split() if word.startswith("word")]
        assert words == [f"word{n}" for n in range(20, 50)]
        assert stored(ant)["mine"] == 1


def test_a_summary_too_long_for_the_budget_gives_way_to_the_window(ant):
    talk(ant, 40)
    with serving(completion("long " * 200)) as server:
        configure(ant, server.url)
        result = context(ant, 30)
    assert (result.data["strategy"], codes(result)) == ("sliding-window", ["summary-too-long"])


def test_a_session_that_is_written_to_keeps_the_summary_from_being_kept_not_used(ant):
    talk(ant, 40)
    ant.lock_timeout = 0
    clock = Clock()
    with (
        serving(completion("Used.")) as server,
        locks.hold(ant.files("ant").lock, clock=clock, timeout=0, holder="another"),
    ):
        configure(ant, server.url)
        result = context(ant)
    assert codes(result) == ["summary-not-kept"]
    assert "Used." in result.data["messages"][0]["content"]
    assert not ant.files("ant").context.exists()


def test_an_archived_session_is_summed_up_where_it_lies(ant):
    talk(ant, 40)
    ant.service.archive(["ant"])
    with serving(completion("Packed.")) as server:
        configure(ant, server.url)
        result = context(ant)
    assert result.data["strategy"] == "summary"
    assert [m["idx"] for m in result.data["messages"][1:]] == list(range(30, 40))
    assert ant.show("ant")["status"] == "archived"
    assert ant.files("ant").packed.exists()


def test_half_a_configuration_is_an_error_that_names_the_other_half(ant):
    talk(ant, 40)
    document = {"session": {"context": {"model": {"model": "small"}}}}
    (ant.state / "openclaw.json").write_text(json.dumps(document))
    with pytest.raises(ConfigError, match=r"session\.context\.model\.baseUrl"):
        context(ant)


def test_very_long_messages_are_shortened_for_the_model(ant):
    ant.append("ant", *(said("x" * 100_000, tokens=9) for _ in range(40)))
    with serving(completion("Much.")) as server:
        configure(ant, server.url)
        context(ant)
    assert all(len(text) < 70_000 for text in asked(server))


def test_a_message_larger_than_a_part_is_summed_up_all_the_same(ant):
    calls = [{"id": f"c{n}", "name": "look", "args": {"q": "词" * 400}} for n in range(60)]
    ant.append("ant", "go", {"role": "assistant", "content": "", "toolCalls": calls})
    talk(ant, 40)
    with serving(completion("All.")) as server:
        configure(ant, server.url)
        assert context(ant).data["strategy"] == "summary"
    assert stored(ant)["last"] == 31
