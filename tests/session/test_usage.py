"""The ledger of tokens is appended durably, read as far as it is sound, and summed up."""

from __future__ import annotations

import json

import pytest

from openclaw_cli.errors import InvalidTextError, NotFoundError
from openclaw_cli.session import ledger
from openclaw_cli.session.requests import UsageQuery
from openclaw_cli.session.usage import SUMS
from tests.session.support import Sessions

FIELDS = {
    *("CorrelationId", "SessionId", "ChannelId", "ProviderId", "ModelId", "InputTokens"),
    *("OutputTokens", "CacheReadTokens", "CacheWriteTokens", "EstimatedInputTokensByComponent"),
    *("IsEstimated", "TimestampUtc"),
}


def record(sessions, **turn):
    turn = {"SessionId": "ant", "ModelId": "m", "InputTokens": 10, "OutputTokens": 5, **turn}
    return sessions.service.record_usage(json.dumps(turn).encode())


def rows(sessions, by="day", since=None):
    data = sessions.service.usage(UsageQuery(by, since)).data
    return {item["key"]: item for item in data["items"]}


def test_a_turn_is_recorded_with_every_field_and_unknown_ones(sessions):
    recorded = record(sessions, Mine={"a": 1}).data["recorded"]
    assert set(recorded) == FIELDS | {"Mine"}
    assert recorded["TimestampUtc"] == "2026-03-01T12:00:00Z"
    assert [json.loads(line) for line in sessions.paths.ledger.read_bytes().splitlines()] == [
        recorded
    ]
    assert sessions.paths.ledger.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "turn",
    [
        b"",
        b"{",
        b"[]",
        b'{"SessionId":"a"}',
        b'{"InputTokens":1}',
        b'{"SessionId":"a","InputTokens":-1}',
        b'{"SessionId":"a","InputTokens":1.5}',
        b'{"SessionId":"a","InputTokens":true}',
        b'{"SessionId":"a","InputTokens":1,"ModelId":3}',
        b'{"SessionId":"a","InputTokens":1,"TimestampUtc":"today"}',
        b'{"SessionId":"a","InputTokens":1,"IsEstimated":"no"}',
        b'{"SessionId":"a","InputTokens":1,"EstimatedInputTokensByComponent":{"x":"y"}}',
    ],
)
def test_what_is_no_turn_is_refused_and_nothing_written(sessions, turn):
    with pytest.raises(InvalidTextError):
        sessions.service.record_usage(turn)
    assert not sessions.paths.ledger.exists()


def test_turns_are_summed_by_day_session_model_and_channel(sessions):
    record(sessions, TimestampUtc="2026-02-01T23:30:00-02:00", ChannelId="tg")
    record(sessions, SessionId="bee", CacheReadTokens=7, IsEstimated=True)
    record(sessions, ModelId="big", CacheWriteTokens=2)
    assert {k: r["turns"] for k, r in rows(sessions).items()} == {"2026-02-02": 1, "2026-03-01": 2}
    by_session = rows(sessions, "session")
    assert by_session["ant"]["inputTokens"] == 20
    assert by_session["bee"] == {
        "key": "bee",
        "turns": 1,
        "estimatedTurns": 1,
        "cost": None,
        "unpricedTurns": 1,
        **dict(zip(SUMS, (10, 5, 7, 0), strict=True)),
    }
    assert {k: r["outputTokens"] for k, r in rows(sessions, "model").items()} == {"m": 10, "big": 5}
    assert list(rows(sessions, "channel")) == ["tg", None]
    assert list(rows(sessions, since=sessions.moment)) == ["2026-03-01"]


def test_costs_come_from_the_prices_of_the_configuration(sessions):
    record(sessions, InputTokens=1_000_000, OutputTokens=500_000, CacheReadTokens=10)
    record(sessions, ModelId="free")
    sessions.state.joinpath("openclaw.json").write_text(
        '{session: {prices: {"m": {input: 3, output: 15, cacheRead: 0.3}}}}'
    )
    data = sessions.service.usage(UsageQuery("model")).data
    assert {i["key"]: i["cost"] for i in data["items"]} == {"free": None, "m": 10.500003}
    assert (data["sum"]["cost"], data["sum"]["unpricedTurns"]) == (10.500003, 1)


def test_a_torn_end_is_passed_over_and_set_aside_by_the_next_turn(sessions):
    record(sessions)
    with sessions.paths.ledger.open("ab") as file:
        file.write('{"SessionId":"ant","ChannelId":"中'.encode()[:-1])
    result = sessions.service.usage(UsageQuery())
    assert result.data["sum"]["turns"] == 1
    assert [w.code for w in result.warnings] == ["ledger-damaged"]
    assert [w.code for w in record(sessions).warnings] == ["torn-tail"]
    result = sessions.service.usage(UsageQuery())
    assert (result.data["sum"]["turns"], result.warnings) == (2, ())
    assert len(list(sessions.paths.ledger.parent.glob("*.torn-*"))) == 1


def test_a_whole_turn_without_its_line_end_is_kept(sessions):
    record(sessions)
    sessions.paths.ledger.write_bytes(sessions.paths.ledger.read_bytes().rstrip())
    assert record(sessions).warnings == ()
    assert sessions.service.usage(UsageQuery()).data["sum"]["turns"] == 2


def test_foreign_lines_are_passed_over_with_one_warning(sessions, monkeypatch):
    monkeypatch.setattr(ledger, "LONGEST", 2000)
    record(sessions)
    with sessions.paths.ledger.open("ab") as file:
        file.write(b"\0\0\0\nhello\n[1]\n\n" + b"x" * 9000 + b"\n")
    record(sessions)
    result = sessions.service.usage(UsageQuery())
    assert result.data["sum"]["turns"] == 2
    assert len(result.warnings) == 1
    assert result.warnings[0].message.startswith("4 lines of the ledger were passed over")
    assert "line 2" in result.warnings[0].message


def test_an_agent_without_sessions_is_not_found(sessions):
    with pytest.raises(NotFoundError):
        sessions.service.usage(UsageQuery())


def test_many_processes_record_at_once(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    sessions = Sessions(tmp_path / "state")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: record(sessions, CorrelationId=str(n)), range(40)))
    read = [json.loads(line) for line in sessions.paths.ledger.read_bytes().splitlines()]
    assert sorted(int(turn["CorrelationId"]) for turn in read) == list(range(40))
