"""No number, nesting or name stops a session: refused at the door, passed over where it lies."""

from __future__ import annotations

import json
import sys
from io import BytesIO

import orjson
import pytest

from openclaw_cli.errors import DamagedError, InvalidTextError, NotFoundError
from openclaw_cli.session.appending import checked
from openclaw_cli.session.requests import ContextRequest, NewRequest, ResumeRequest, UsageQuery
from openclaw_cli.session.schema import COUNTERS, DEPTH, MOST
from openclaw_cli.store import jsonl as lines
from tests.session.support import jsonl, put, said


@pytest.fixture
def ant(sessions):
    sessions.new("ant", channel="tg", chat="1")
    sessions.append("ant", said("one", tokens=3))
    return sessions


def nested(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


def add(sessions, *messages: dict | bytes) -> None:
    """Put lines into the history as another program would."""
    history = sessions.files("ant").history
    put(history, history.read_bytes() + jsonl(*messages))


def check(sessions) -> dict:
    """Fail unless the session can be shown, listed, changed and repaired; return the metadata."""
    sessions.append("ant", "next")
    sessions.service.rename("ant", "name")
    for _ in range(2):
        sessions.verify(repair=True)
    sessions.sound()
    assert not list(sessions.files("ant").folder.glob("*.bad-*"))
    shown = sessions.show("ant")
    assert orjson.loads(orjson.dumps(sessions.listed())) == [shown]
    stored = sessions.meta("ant")
    assert all(type(stored[name]) in (int, float) for name in COUNTERS), stored
    assert all(0 <= stored[name] <= MOST for name in COUNTERS), stored
    return shown


@pytest.mark.parametrize("name", ["tokens", "cacheReadTokens", "cacheWriteTokens", "cost"])
@pytest.mark.parametrize("value", [MOST + 2, (1 << 63) - 1, (1 << 64) - 1, 1e300])
def test_numbers_beyond_all_sums_are_refused(ant, name, value):
    with pytest.raises(InvalidTextError, match=r"2\^53"):
        ant.append("ant", said("x", **{name: value}))
    assert ant.contents("ant") == ["one"]


def test_a_number_that_json_cannot_hold_is_named_as_such(ant):
    with pytest.raises(InvalidTextError, match="tokens is not"):
        checked(said("x", tokens=10**500), "2026-03-01T12:00:00Z")
    with pytest.raises(InvalidTextError, match="cannot be stored: Integer exceeds"):
        checked(said("x", mine=10**500), "2026-03-01T12:00:00Z")


def test_a_number_of_many_digits_is_refused_too(ant):
    with pytest.raises(InvalidTextError):
        ant.append("ant", b'{"role":"user","content":"x","tokens":%s}\n' % (b"9" * 400))


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_sums_stop_at_what_every_reader_of_json_can_hold(ant, role):
    numbers = {"tokens": MOST, "cacheReadTokens": MOST, "cacheWriteTokens": MOST, "cost": 1e15}
    for _ in range(3):
        ant.append("ant", said("x", role, **numbers), said("y", role, **numbers))
    meta = check(ant)
    assert meta["totalInputTokens" if role == "user" else "totalOutputTokens"] == MOST
    assert (meta["totalCacheReadTokens"], meta["totalCost"]) == (MOST, 6e15)


def test_numbers_of_other_programs_that_no_sum_can_hold_count_for_nothing(ant):
    odd = ((1 << 64) - 1, 1 << 63, 1e308, -1, "5", None, [1], True)
    for idx, value in enumerate(odd, 1):
        names = ("tokens", "cacheReadTokens", "cacheWriteTokens", "cost")
        add(ant, {"idx": idx, **said("x", **dict.fromkeys(names, value))})
    meta = check(ant)
    assert (meta["messageCount"], meta["totalInputTokens"], meta["totalCost"]) == (10, 3, 0)


@pytest.mark.parametrize("value", [(1 << 64) - 1, 1e300, -1, None, "x"])
def test_totals_that_nobody_can_hold_are_counted_again(ant, value):
    meta = ant.meta("ant")
    put(ant.files("ant").meta, orjson.dumps({**meta, "totalInputTokens": value}))
    assert ant.show("ant")["totalInputTokens"] == 3
    ant.append("ant", said("two", tokens=4))
    assert ant.meta("ant")["totalInputTokens"] == 7
    assert ant.listed()[0]["totalInputTokens"] == 7


def test_what_is_taken_can_be_shown_however_it_is_wrapped(ant):
    args = {"x": json.loads(nested(DEPTH - 5))}
    call = {"id": "c1", "name": "t", "args": args}
    ant.append("ant", said("", "assistant", toolCalls=[call]), said("ok", "tool", toolCallId="c1"))
    ant.append("ant", said("deep", extra=json.loads(nested(DEPTH - 1))))
    text = {"id": "c2", "name": "t", "args": nested(DEPTH + 10).decode()}
    ant.append("ant", said("", "assistant", toolCalls=[text]), said("ok", "tool", toolCallId="c2"))
    assert len(ant.messages("ant")) == 6
    orjson.dumps({"data": {"items": [{"message": ant.messages("ant")}]}})
    for form in ("json", "text", "openai", "anthropic"):
        built = ant.service.context("ant", ContextRequest(100_000, None, form)).data
        assert lines.nests_deeper({"data": built}, 254) is False
        resumed = ant.service.resume("ant", ResumeRequest("go", 100_000, form)).data
        assert lines.nests_deeper({"data": resumed}, 254) is False


@pytest.mark.parametrize("levels", [DEPTH, 252, 300, 1000])
def test_a_message_that_nests_too_deeply_is_refused(ant, levels):
    line = b'{"role":"user","content":"x","extra":%s}\n' % nested(levels)
    with pytest.raises(InvalidTextError, match="nested more than"):
        ant.append("ant", line)
    assert ant.contents("ant") == ["one"]


@pytest.mark.parametrize("levels", [DEPTH, 252, 300, 1000])
def test_one_of_another_program_is_passed_over_and_told(ant, levels):
    add(ant, b'{"idx":1,"role":"user","content":"x","extra":%s}\n' % nested(levels))
    add(ant, {"idx": 2, **said("two")})
    messages, warnings = ant.tail("ant")
    assert [message["content"] for message in messages] == ["one", "two"]
    assert "nested more than" in warnings[0].message
    for form in ("json", "anthropic"):
        data = ant.service.context("ant", ContextRequest(format=form)).data
        assert orjson.dumps({"data": data})
    ant.append("ant", "three")
    assert ant.contents("ant") == ["one", "two", "three"]


@pytest.mark.parametrize("levels", [DEPTH, 252, 400])
def test_metadata_that_nest_too_deeply_lose_that_field_only(ant, levels):
    ant.service.rename("ant", "kept")
    deep = ant.files("ant").meta.read_bytes().replace(b"{}", nested(levels), 1)
    put(ant.files("ant").meta, deep)
    shown = ant.show("ant")
    assert (shown["title"], shown["chatId"], shown["overrides"]) == ("kept", "1", {})
    assert ant.listed() == [shown]
    ant.append("ant", "two")
    assert next(ant.files("ant").folder.glob("meta.json.bad-*")).read_bytes() == deep


def test_a_turn_and_a_checkpoint_that_nest_too_deeply_are_refused(ant):
    for levels in (DEPTH, 300):
        turn = b'{"SessionId":"ant","InputTokens":1,"x":%s}' % nested(levels)
        with pytest.raises(InvalidTextError, match="nested more than"):
            ant.service.record_usage(turn)
        checkpoint = b'{"checkpointId":"a","x":%s}' % nested(levels)
        with pytest.raises(InvalidTextError, match="nested more than"):
            ant.service.checkpoint("ant", BytesIO(checkpoint))


def test_costs_beyond_all_numbers_leave_their_turns_unpriced(sessions):
    sessions.new("ant")
    for model in ("dear", "fair"):
        for _ in range(3):
            turn = {"SessionId": "ant", "ModelId": model, "InputTokens": MOST - 1}
            sessions.service.record_usage(orjson.dumps(turn))
    prices = '{session: {prices: {"dear": {input: 1e9}, "fair": {input: 1}}}}'
    sessions.state.joinpath("openclaw.json").write_text(prices)
    data = sessions.service.usage(UsageQuery("model")).data
    dear, fair = data["items"]
    assert (dear["cost"], dear["unpricedTurns"], dear["inputTokens"]) == (None, 3, MOST)
    assert fair["cost"] == data["sum"]["cost"] == MOST / 1e6
    assert data["sum"]["unpricedTurns"] == 3


def test_an_idx_of_thousands_of_digits_is_not_there(ant):
    for digits in ("9" * 5000, "9" * 17, "9" * 16):
        with pytest.raises(NotFoundError):
            ant.service.fork(NewRequest(), f"ant:{digits}")
    assert [row["sessionId"] for row in ant.listed()] == ["ant"]


def test_more_messages_than_any_machine_counts_are_all_of_them(ant):
    ant.service.archive(["ant"])
    for count in (sys.maxsize, sys.maxsize + 1, 10**30):
        assert ant.contents("ant", count) == ["one"]


def test_a_result_with_calls_of_its_own_does_not_stop_a_resumption(ant):
    call = {"id": "c1", "name": "search", "args": {}}
    ant.append("ant", said("", "assistant", toolCalls=[call]))
    add(ant, {"idx": 2, **said("found", "tool", toolCallId="c1", toolCalls=5)})
    checkpoint = {
        "checkpointId": "a",
        "state": "ready_to_resume",
        "sequence": 1,
        "historyCount": 3,
        "toolCalls": [{"callId": "c1"}],
    }
    ant.service.checkpoint("ant", BytesIO(orjson.dumps(checkpoint)))
    data = ant.service.resume("ant", ResumeRequest()).data
    assert data["resumed"] == "checkpoint"
    assert "search c1" in data["messages"][-1]["content"]


def test_a_branch_is_called_as_its_file_is(ant):
    ant.service.branch("ant", "ok", None)
    folder = ant.files("ant").branches
    put(folder / "copy.json", (folder / "ok.json").read_bytes())
    put(folder / "no branch.json", b"{}")
    put(folder / "notes.txt", b"mine")
    items = ant.service.branches("ant").data["items"]
    assert [(item["name"], item["matches"]) for item in items] == [("copy", True), ("ok", True)]
    ant.sound()


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{}", b"5", b'{"idx":0}', nested(300), b"\xff"),
        b'{"idx":0,"bytes":5,"sha256":"x","createdAt":"2026-03-01T12:00:00Z"}',
        b'{"idx":0,"bytes":5,"sha256":"%s","createdAt":5}' % (b"a" * 64),
        b'{"idx":0,"bytes":1e300,"sha256":"%s"}' % (b"a" * 64),
    ],
)
def test_a_damaged_branch_spoils_no_other(ant, data):
    ant.service.branch("ant", "ok", None)
    put(ant.files("ant").branches / "x.json", data)
    result = ant.service.branches("ant")
    assert [item["name"] for item in result.data["items"]] == ["ok"]
    assert [warning.code for warning in result.warnings] == ["branch-damaged"]
    with pytest.raises(DamagedError):
        ant.service.fork(NewRequest(), "ant:x")
    ant.sound("branch-damaged")


@pytest.mark.parametrize("kind", ["link", "file"])
def test_what_stands_in_place_of_the_branches_is_not_followed(ant, tmp_path, kind):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "there.json").write_text("{}")
    (outside / ".x.tmp-1").write_text("theirs")
    folder = ant.files("ant").branches
    if kind == "link":
        folder.symlink_to(outside)
    else:
        put(folder, b"no folder")
    before = {path.name: path.read_text() for path in outside.iterdir()}
    with pytest.raises(DamagedError, match="is not a folder"):
        ant.service.branch("ant", "b1", None)
    with pytest.raises(DamagedError):
        ant.service.fork(NewRequest(), "ant:there")
    with pytest.raises(DamagedError):
        ant.service.branches("ant")
    ant.append("ant", "two")
    assert ant.contents("ant") == ["one", "two"]
    assert {path.name: path.read_text() for path in outside.iterdir()} == before
    ant.sound("branches-damaged")
    assert ant.verify(repair=True).data["checked"] == 1
