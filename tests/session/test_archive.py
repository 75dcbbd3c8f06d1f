"""Archived histories: proved before the plain one goes, read by everybody, unpacked on demand."""

from __future__ import annotations

import gzip

import pytest

from openclaw_cli.errors import DamagedError
from openclaw_cli.session import archive
from openclaw_cli.session.archive import Proof
from tests.session.support import put


@pytest.fixture
def ant(sessions):
    sessions.new("ant", channel="tg", chat="1")
    sessions.append("ant", *[f"消息 {number}" for number in range(100)])
    return "ant"


def test_an_archived_session_reads_as_before(sessions, ant):
    plain = sessions.files(ant).history.read_bytes()
    before, shown = sessions.messages(ant), sessions.show(ant)
    data = sessions.service.archive([ant]).data
    assert data == {"changed": [{"sessionId": ant, "from": "active", "to": "archived"}]}
    files = sessions.files(ant)
    assert not files.history.exists()
    assert gzip.decompress(files.packed.read_bytes()) == plain
    assert files.packed.stat().st_mode & 0o777 == 0o600
    assert sessions.messages(ant) == before
    assert sessions.messages(ant, 3) == before[-3:]
    assert sessions.show(ant) == {**shown, "status": "archived"}
    sessions.sound()
    assert sessions.service.archive([ant]).data == {"changed": []}


def test_a_new_message_unpacks_it_and_makes_it_active(sessions, ant):
    sessions.service.archive([ant])
    assert sessions.append(ant, "again").data["firstIdx"] == 100
    assert not sessions.files(ant).packed.exists()
    assert sessions.show(ant)["status"] == "active"
    assert len(sessions.messages(ant)) == 101
    sessions.sound()


def test_a_session_without_messages_can_be_archived(sessions):
    sessions.new("bee")
    sessions.service.archive(["bee"])
    assert sessions.show("bee")["status"] == "archived"
    sessions.append("bee", "first")
    assert sessions.show("bee")["status"] == "active"
    sessions.sound()


def test_a_compressed_history_that_reads_back_differently_is_not_used(sessions, ant, monkeypatch):
    before = sessions.messages(ant)
    real = archive.prove
    proofs = iter([None, Proof(99, 1, "x")])
    monkeypatch.setattr(
        archive, "prove", lambda pieces: (proof := real(pieces)) and (next(proofs) or proof)
    )
    with pytest.raises(DamagedError, match="read back, it has 99 lines where the history has 100"):
        sessions.service.archive([ant])
    assert sessions.messages(ant) == before
    assert not sessions.files(ant).packed.exists()
    assert sessions.show(ant)["status"] == "active"
    assert not [p for p in sessions.files(ant).folder.iterdir() if p.name.startswith(".")]


def test_a_damaged_archive_is_not_appended_to(sessions, ant):
    sessions.service.archive([ant])
    packed = sessions.files(ant).packed
    packed.write_bytes(packed.read_bytes()[:-20])
    data = packed.read_bytes()
    with pytest.raises(DamagedError, match="the compressed history is damaged"):
        sessions.append(ant, "more")
    assert packed.read_bytes() == data
    assert not sessions.files(ant).history.exists()
    messages, warnings = sessions.tail(ant)
    assert len(messages) > 10
    assert [w.code for w in warnings] == ["history-damaged"]


def test_what_a_stopped_unpacking_left_is_no_second_history(sessions, ant):
    sessions.service.archive([ant])
    packed = sessions.files(ant).packed.read_bytes()
    sessions.append(ant, "more")
    put(sessions.files(ant).packed, packed)
    assert len(sessions.messages(ant)) == 101
    assert [f["code"] for f in sessions.verify().data["failed"]] == ["twin-left"]
    sessions.service.archive([ant])
    assert len(sessions.messages(ant)) == 101
    sessions.sound()


def test_another_compressed_history_is_set_aside_before_its_name_is_used(sessions, ant):
    other = gzip.compress(b'{"idx":0,"role":"user","content":"other"}\n')
    put(sessions.files(ant).packed, other)
    assert [f["code"] for f in sessions.verify().data["failed"]] == ["twin-differs"]
    result = sessions.service.archive([ant])
    assert [w.code for w in result.warnings] == ["set-aside"]
    (kept,) = sessions.files(ant).folder.glob("messages.jsonl.gz.bad-*")
    assert kept.read_bytes() == other
    assert len(sessions.messages(ant)) == 100
