"""meta.json missing, emptied, damaged or old: the history and the catalogue know better."""

from __future__ import annotations

import json

import pytest

from openclaw_cli.session import metadata
from tests.session.support import said


@pytest.fixture
def ant(sessions):
    sessions.new("ant", channel="tg", chat="1", user="u1", title="标题", tags=("a", "b"))
    sessions.later(minutes=5)
    sessions.append("ant", said("hi", tokens=3), said("ho", "assistant", tokens=4))
    return "ant"


SPOILED = {
    "deleted": None,
    "emptied": b"",
    "zeroed": bytes(600),
    "cut": b'{"sessionId": "ant", "chan',
    "a list": b"[]",
    "no utf-8": b'{"title": "\xff"}',
}


@pytest.mark.parametrize("data", SPOILED.values(), ids=SPOILED)
@pytest.mark.parametrize("catalogue", [True, False])
def test_metadata_that_are_gone_are_recovered(sessions, ant, data, catalogue):
    whole = sessions.show(ant)
    path = sessions.files(ant).meta
    path.unlink() if data is None else path.write_bytes(data)
    if not catalogue:
        sessions.paths.catalog.unlink()
    shown = sessions.show(ant)
    if catalogue:
        assert shown == whole
        assert sessions.ensure("tg", "1")["sessionId"] == ant
    else:
        assert {n: shown[n] for n in ("messageCount", "totalInputTokens", "totalOutputTokens")} == {
            "messageCount": 2,
            "totalInputTokens": 3,
            "totalOutputTokens": 4,
        }
        assert shown["createdAt"] == shown["lastActiveAt"] == "2026-03-01T12:05:00Z"
    assert [row["sessionId"] for row in sessions.listed()] == [ant]
    warning = sessions.service.show(ant).warnings[0]
    assert warning.code == "meta-damaged"
    result = sessions.append(ant, "more")
    assert result.data["firstIdx"] == 2
    assert sessions.meta(ant)["title"] == ("标题" if catalogue else None)
    kept = list(sessions.files(ant).folder.glob("meta.json.bad-*"))
    assert [file.read_bytes() for file in kept] == ([data] if data is not None else [])
    assert sessions.service.show(ant).warnings == ()
    sessions.sound()


def test_metadata_from_yesterday_are_brought_up_to_the_history(sessions, ant):
    old = sessions.files(ant).meta.read_bytes()
    sessions.later(hours=1)
    sessions.append(ant, said("more", tokens=10), said("and", "assistant", tokens=20))
    whole = sessions.show(ant)
    sessions.files(ant).meta.write_bytes(old)
    assert sessions.show(ant) == whole
    assert sessions.listed() == [whole]
    assert sessions.append(ant, "last").data["firstIdx"] == 4
    sessions.sound()


def test_a_history_far_ahead_is_counted_whole(sessions, ant, monkeypatch):
    monkeypatch.setattr(metadata, "CATCH_UP", 3)
    old = sessions.files(ant).meta.read_bytes()
    sessions.append(ant, *[said("x", tokens=1)] * 5)
    whole = sessions.show(ant)
    sessions.files(ant).meta.write_bytes(old)
    assert sessions.show(ant) == whole


def test_a_history_from_yesterday_is_what_counts(sessions, ant):
    old = sessions.files(ant).history.read_bytes()
    sessions.append(ant, said("more", tokens=10))
    sessions.files(ant).history.write_bytes(old)
    shown = sessions.show(ant)
    assert (shown["messageCount"], shown["totalInputTokens"]) == (3, 3)
    assert sessions.append(ant, "again").data["firstIdx"] == 3


def test_a_history_that_is_gone_is_told_and_its_numbers_are_not_used_again(sessions, ant):
    sessions.files(ant).history.unlink()
    assert [w.code for w in sessions.service.show(ant).warnings] == ["history-missing"]
    assert sessions.append(ant, "again").data["firstIdx"] == 2


def test_one_field_that_cannot_be_used_spoils_no_other(sessions, ant):
    path = sessions.files(ant).meta
    path.write_text(json.dumps({**sessions.meta(ant), "status": "asleep", "mood": {"a": 1}}))
    assert sessions.show(ant)["status"] == "active"
    assert "status is not one of active, dormant" in sessions.service.show(ant).warnings[0].message
    sessions.service.rename(ant, "neu")
    assert sessions.meta(ant)["mood"] == {"a": 1}
    assert sessions.meta(ant)["status"] == "active"
    assert list(sessions.files(ant).folder.glob("meta.json.bad-*"))


def test_unknown_fields_survive_every_change(sessions, ant):
    path = sessions.files(ant).meta
    path.write_text(json.dumps({**sessions.meta(ant), "future": [1, {"x": None}]}))
    sessions.append(ant, "hi")
    sessions.service.tag(ant, ["c"], ["a"])
    sessions.service.archive([ant])
    assert sessions.meta(ant)["future"] == [1, {"x": None}]
    assert sessions.meta(ant)["tags"] == ["b", "c"]
    assert sessions.listed()[0]["future"] == [1, {"x": None}]


def test_metadata_written_by_hand_need_not_be_complete(sessions):
    folder = sessions.files("hand").folder
    folder.mkdir(parents=True)
    (folder / "meta.json").write_text('{"channel": "tg", "chatId": "7"}')
    assert sessions.ensure("tg", "7")["sessionId"] == "hand"
    sessions.append("hand", "hi")
    assert sessions.meta("hand")["messageCount"] == 1
    assert sessions.show("hand")["createdAt"]
