"""Appending: numbered, whole, kept as given, and refused with the line that is bad."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from openclaw_cli.errors import DamagedError, InvalidTextError, NotFoundError, UsageError
from openclaw_cli.session import appending
from tests.session.support import jsonl, said


@pytest.fixture
def ant(sessions):
    return sessions.new("ant")


def test_messages_are_numbered_and_counted(sessions, ant):
    first = sessions.append(
        ant, said("hi", tokens=3), said("你好", "assistant", tokens=5, cost=0.5)
    )
    assert first.data == {
        "sessionId": ant,
        "appended": 2,
        "firstIdx": 0,
        "lastIdx": 1,
        "messageCount": 2,
    }
    sessions.later(minutes=1)
    assert sessions.append(ant, "more").data["firstIdx"] == 2
    assert [m["idx"] for m in sessions.messages(ant)] == [0, 1, 2]
    meta = sessions.meta(ant)
    assert (meta["messageCount"], meta["totalInputTokens"], meta["totalOutputTokens"]) == (3, 3, 5)
    assert meta["totalCost"] == 0.5
    assert meta["lastActiveAt"] == "2026-03-01T12:01:00Z"
    sessions.sound()


def test_fields_that_nobody_knows_are_kept_and_an_own_idx_gives_way(sessions, ant):
    message = said("hi", idx=77, mood={"glad": [1, None]}, ts="2020-01-01T00:00:00+02:00")
    sessions.append(ant, message)
    assert sessions.messages(ant) == [{**message, "idx": 0}]


def test_a_message_without_a_time_gets_the_present(sessions, ant):
    sessions.append(ant, said("hi", ts=None))
    assert sessions.messages(ant)[0]["ts"] == "2026-03-01T12:00:00Z"


def test_three_senders_of_a_group_share_a_session(sessions):
    group = sessions.ensure("telegram", "-100")["sessionId"]
    for user in ("u1", "u2", "u3"):
        assert sessions.ensure("telegram", "-100", user=user)["sessionId"] == group
        sessions.append(group, said(f"I am {user}", sender={"userId": user, "name": "x"}))
    senders = [message["sender"]["userId"] for message in sessions.messages(group)]
    assert senders == ["u1", "u2", "u3"]


BAD = {
    b"{bad\n": "no JSON",
    b"[]\n": "not a JSON object",
    b'{"content":"x"}\n': "role None is not one of user, assistant, tool, system",
    b'{"role":"boss","content":"x"}\n': "role 'boss' is not one of",
    b'{"role":"user"}\n': "content is missing",
    b'{"role":"user","content":7}\n': "content is not a text",
    b'{"role":"assistant","content":null}\n': "content is missing",
    b'{"role":"user","content":"x","ts":"today"}\n': "ts 'today' is not an ISO-8601 time",
    b'{"role":"user","content":"x","ts":"2026-01-01T00:00:00"}\n': "is not an ISO-8601 time with",
    b'{"role":"user","content":"x","tokens":-1}\n': "tokens is not a whole number",
    b'{"role":"user","content":"x","sender":{}}\n': "sender is not an object with a userId",
    b'{"role":"assistant","content":"","toolCalls":[{}]}\n': "a tool call has no id",
    b'{"role":"assistant","content":"","toolCalls":[{"id":"a"}]}\n': "tool call 'a' has no name",
    b'{"role":"tool","content":"","toolCallId":3}\n': "toolCallId is not a text",
    '{"role":"user","content":"中'.encode()[:-1]: "no JSON",
    b'{"role":"user","content":"\\ud800"}\n': "no JSON",
}


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: ascii(bad)[:40])
def test_one_bad_line_refuses_the_whole_batch_with_its_number(sessions, ant, bad):
    sessions.append(ant, "before")
    tree = {path: path.read_bytes() for path in sessions.paths.root.rglob("*.json*")}
    with pytest.raises(InvalidTextError) as caught:
        sessions.append(ant, "good", jsonl(b"\n"), bad)
    assert caught.value.message.startswith("line 3: ")
    assert BAD[bad] in caught.value.message
    assert caught.value.details == {"line": 3}
    assert {path: path.read_bytes() for path in sessions.paths.root.rglob("*.json*")} == tree


def test_no_message_is_an_error_and_blank_lines_are_none(sessions, ant):
    for data in (b"", b"\n\r\n \n"):
        with pytest.raises(UsageError, match="no message given"):
            sessions.service.append(ant, BytesIO(data))
    sessions.service.append(ant, BytesIO(b"\xef\xbb\xbf" + jsonl(said("one")).rstrip() + b"\r\n\n"))
    assert sessions.contents(ant) == ["one"]


def test_a_batch_too_large_to_hold_is_refused(sessions, ant, monkeypatch):
    monkeypatch.setattr(appending, "BATCH_LIMIT", 1000)
    with pytest.raises(InvalidTextError, match="line 13: more than"):
        sessions.append(ant, *["x" * 50] * 20)
    assert sessions.messages(ant) == []


def test_a_line_of_five_megabytes_is_a_message_like_any_other(sessions, ant):
    text = "长" * 1_700_000
    sessions.append(ant, "before", text, "after")
    assert sessions.contents(ant) == ["before", text, "after"]
    assert sessions.append(ant, "more").data["firstIdx"] == 3
    sessions.sound()


def test_a_line_beyond_the_limit_is_refused(sessions, ant, monkeypatch):
    monkeypatch.setattr(appending, "LINE_LIMIT", 1000)
    with pytest.raises(InvalidTextError, match="line 1: it is longer than"):
        sessions.append(ant, "x" * 2000)


CALL = {"role": "assistant", "content": None, "toolCalls": [{"id": "c1", "name": "f", "args": {}}]}


def test_a_result_of_an_earlier_call_is_fine_and_of_none_is_a_warning(sessions, ant):
    assert sessions.append(ant, CALL, said("1", "tool", toolCallId="c1")).warnings == ()
    assert sessions.append(ant, said("2", "tool", toolCallId="c1")).warnings == ()
    result = sessions.append(ant, said("3", "tool", toolCallId="c2"), said("4", "tool"))
    assert [w.code for w in result.warnings] == ["call-missing"] * 2
    assert result.warnings[0].message == "message 3: no call c2 in the 3 messages before the batch"
    assert sessions.contents(ant)[-2:] == ["3", "4"]


def test_a_call_is_looked_for_in_a_bounded_number_of_messages(sessions, ant, monkeypatch):
    monkeypatch.setattr(appending, "LOOK_BACK", 5)
    sessions.append(ant, CALL, *["x"] * 4)
    assert sessions.append(ant, said("1", "tool", toolCallId="c1")).warnings == ()
    (warning,) = sessions.append(ant, said("2", "tool", toolCallId="c1")).warnings
    assert warning.message == "message 6: no call c1 in the 5 messages before the batch"


def test_very_many_warnings_are_summed_up(sessions, ant):
    result = sessions.append(ant, *[said("x", "tool", toolCallId="c9")] * 50)
    assert len(result.warnings) == 21
    assert result.warnings[-1].message == "30 more tool results without their call"


# -- what others have left -------------------------------------------------------------------------


def test_a_torn_tail_is_set_aside_and_reported(sessions, ant):
    sessions.append(ant, "one", "two")
    torn = '{"idx":2,"role":"user","content":"部署'.encode()[:-1]
    with sessions.files(ant).history.open("ab") as history:
        history.write(torn)
    messages, warnings = sessions.tail(ant)
    assert [m["content"] for m in messages] == ["one", "two"]
    assert [w.code for w in warnings] == ["torn-tail"]
    result = sessions.append(ant, "three")
    assert [w.code for w in result.warnings] == ["torn-tail"]
    assert result.data["firstIdx"] == 2
    (kept,) = sessions.files(ant).folder.glob("messages.jsonl.torn-*")
    assert kept.read_bytes() == torn
    assert kept.stat().st_mode & 0o777 == 0o600
    assert sessions.contents(ant) == ["one", "two", "three"]
    assert sessions.append(ant, "four").warnings == ()
    sessions.sound()


def test_a_whole_last_line_without_its_end_is_kept(sessions, ant):
    sessions.append(ant, "one", "two")
    history = sessions.files(ant).history
    history.write_bytes(history.read_bytes().rstrip(b"\n"))
    assert sessions.append(ant, "three").data["firstIdx"] == 2
    assert sessions.contents(ant) == ["one", "two", "three"]
    assert not list(sessions.files(ant).folder.glob("*.torn-*"))


def test_zero_bytes_at_the_end_are_set_aside(sessions, ant):
    sessions.append(ant, "one")
    with sessions.files(ant).history.open("ab") as history:
        history.write(bytes(9000))
    assert sessions.append(ant, "two").data["firstIdx"] == 1
    assert sessions.contents(ant) == ["one", "two"]
    sessions.sound()


def test_damage_at_the_end_is_told_and_no_number_used_twice(sessions, ant):
    sessions.append(ant, "one")
    with sessions.files(ant).history.open("ab") as history:
        history.write(b"{garbage}\n")
    result = sessions.append(ant, "two")
    assert result.data["firstIdx"] == 2
    assert [w.code for w in result.warnings] == ["history-damaged"]
    assert sessions.contents(ant) == ["one", "two"]


def test_a_pipe_in_the_place_of_the_history_keeps_nobody_waiting(sessions, ant):
    import os

    os.mkfifo(sessions.files(ant).history)
    with pytest.raises(DamagedError, match="not a regular file"):
        sessions.append(ant, "one")


def test_a_session_that_is_not_there_is_told(sessions, ant):
    with pytest.raises(NotFoundError, match="there is no session bee"):
        sessions.append("bee", "hi")
    assert json.loads(sessions.files(ant).meta.read_text())["messageCount"] == 0
