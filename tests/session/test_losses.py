"""What was acknowledged is not lost, not numbered anew and not left out without a word."""

from __future__ import annotations

import errno
import gzip
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from openclaw_cli.errors import DamagedError, StorageError
from openclaw_cli.store import fsio
from openclaw_cli.store.disk import Disk
from openclaw_cli.transfer.sessions.export import SessionExport, SessionExportRequest
from tests.session.support import Sessions, put, said

NOBODY = 65534


@pytest.fixture
def ant(sessions):
    sessions.new("ant", channel="tg", chat="1", title="标题")
    sessions.append("ant", *[said(f"m{n}", tokens=n) for n in range(4)])
    return "ant"


def warned(result) -> list[str]:
    return [warning.code for warning in result.warnings]


def failures(result) -> list[tuple[str, str]]:
    return [(failed["id"], failed["code"]) for failed in result.data.get("failed", [])]


def shorten(sessions, kept: int) -> None:
    history = sessions.files("ant").history
    history.write_bytes(b"".join(history.read_bytes().splitlines(keepends=True)[:kept]))


# -- a history shorter than its metadata -----------------------------------------------------------


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_history_that_lost_its_end_is_told_and_no_number_is_given_again(sessions, ant, kept):
    shorten(sessions, kept)
    assert warned(sessions.service.show(ant)) == ["history-short"]
    assert [warning.code for warning in sessions.tail(ant)[1]] == ["history-short"]
    result = sessions.append(ant, "after")
    assert warned(result) == ["history-short"]
    assert (result.data["firstIdx"], result.data["messageCount"]) == (4, 5)
    assert [m["idx"] for m in sessions.messages(ant)] == [*range(kept), 4]
    assert warned(sessions.verify()) == ["idx-gap"]
    sessions.sound()


@pytest.mark.parametrize("packed", [False, True])
def test_a_repair_does_not_make_a_loss_undone(sessions, ant, packed):
    shorten(sessions, 2)
    files = sessions.files(ant)
    if packed:
        put(files.packed, gzip.compress(files.history.read_bytes()))
        files.history.unlink()
        put(files.meta, json.dumps({**sessions.meta(ant), "status": "archived"}).encode())
    found = sessions.verify()
    assert ("ant", "history-short") in failures(found)
    repaired = sessions.verify(repair=True)
    assert "failed" not in repaired.data
    assert "history-short" not in [each["code"] for each in repaired.data["repaired"]]
    assert warned(sessions.verify()) == ["history-short"]
    assert (sessions.meta(ant)["messageCount"], sessions.meta(ant)["totalInputTokens"]) == (4, 1)
    assert sessions.append(ant, "after").data["firstIdx"] == 4
    shorten(sessions, 2)
    assert failures(sessions.verify()) == [("ant", "history-short")]


def test_damaged_lines_that_are_set_aside_keep_their_numbers(sessions, ant):
    history = sessions.files(ant).history
    put(history, history.read_bytes().replace(b'{"idx":3', b'{"idy":3'))
    sessions.verify(repair=True)
    assert sessions.append(ant, "after").data["firstIdx"] == 4
    sessions.sound()


def test_an_empty_compressed_history_is_damage(sessions, ant):
    sessions.service.archive([ant])
    files = sessions.files(ant)
    put(files.packed, b"")
    found = failures(sessions.verify())
    assert found[:2] == [("ant", "history-damaged"), ("ant", "history-short")]
    with pytest.raises(DamagedError):
        sessions.append(ant, "after")
    assert files.packed.read_bytes() == b""
    sessions.verify(repair=True)
    assert sessions.append(ant, "after").data["firstIdx"] == 4


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("trashed", [False, True])
def test_the_last_message_of_a_user_is_forgotten_and_its_number_too(sessions, archived, trashed):
    sessions.new("group")
    sessions.append("group", "hello all of you", said("mine", sender={"userId": "u1"}))
    if archived:
        sessions.service.archive(["group"])
    if trashed:
        sessions.service.delete(["group"], dry_run=False)
    sessions.service.forget_user("u1", group_messages=True, dry_run=False)
    if trashed:
        sessions.service.restore(["group"])
    assert sessions.service.show("group").warnings == ()
    assert failures(sessions.verify()) == []
    assert sessions.append("group", "after").data["firstIdx"] == 2


# -- a message that is stored is acknowledged ------------------------------------------------------


class Full(Disk):
    """A disk on which no new file can be made: what is there can grow a little."""

    def create(self, path, flags):
        if flags & os.O_EXCL:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().create(path, flags)


def test_a_message_is_stored_once_when_the_metadata_cannot_be_written(sessions, ant, monkeypatch):
    sessions.later(minutes=1)
    with monkeypatch.context() as patched:
        patched.setattr(fsio, "disk", Full())
        result = sessions.append(ant, said("kept", tokens=9))
    assert (warned(result), result.exit_status) == (["meta-behind"], 0)
    assert (result.data["firstIdx"], result.data["messageCount"]) == (4, 5)
    assert sessions.contents(ant)[3:] == ["m3", "kept"]
    assert sessions.listed() == [sessions.show(ant)]
    assert sessions.show(ant)["totalInputTokens"] == 15
    sessions.append(ant, "more")
    sessions.sound()


@pytest.mark.parametrize("last", [2**53 - 1, 2**53 - 2])
def test_no_message_gets_a_number_that_readers_refuse(sessions, ant, last):
    history = sessions.files(ant).history
    put(history, history.read_bytes() + b'{"idx":%d,"role":"user","content":"far"}\n' % last)
    before = history.read_bytes()
    with pytest.raises(DamagedError):
        sessions.append(ant, "one", "two")
    assert history.read_bytes() == before


def test_a_number_of_messages_that_cannot_be_is_damage(sessions, ant):
    put(
        sessions.files(ant).meta, json.dumps({**sessions.meta(ant), "messageCount": 2**60}).encode()
    )
    assert warned(sessions.service.show(ant)) == ["meta-damaged"]
    assert sessions.append(ant, "after").data["firstIdx"] == 4


# -- metadata that are not those of the session ----------------------------------------------------


@pytest.fixture
def bee(sessions, ant):
    sessions.new("bee", channel="tg", chat="2", title="other", user="u9")
    sessions.append("bee", "x")
    return "bee"


@pytest.mark.parametrize("kind", ["empty", "another", "nameless"])
def test_metadata_of_nobody_or_another_session_are_damage(sessions, ant, bee, kind):
    whole, files = sessions.show(ant), sessions.files(ant)
    spoiled = {
        "empty": b"{}",
        "another": sessions.files(bee).meta.read_bytes(),
        "nameless": b'{"status": "dormant"}',
    }[kind]
    put(files.meta, spoiled)
    for chat, name in (("1", ant), ("2", bee)):
        assert sessions.ensure("tg", chat)["sessionId"] == name
    shown = sessions.show(ant)
    status = {"status": "dormant"} if kind == "nameless" else {}
    assert shown == {**whole, **status}
    assert warned(sessions.service.show(ant)) == ["meta-damaged"]
    assert failures(sessions.verify()) == [(ant, "meta-damaged")]
    repaired = sessions.verify(repair=True)
    assert [Path(path).read_bytes() for path in repaired.data["kept"]] == [spoiled]
    assert sessions.show(ant) == {**whole, **status}
    assert sessions.service.show(ant).warnings == ()
    assert len(sessions.listed()) == 2


def test_the_catalogue_does_not_forget_what_a_session_cannot_say(sessions, ant):
    whole = sessions.show(ant)
    put(sessions.files(ant).meta, b"{}")
    with sessions.paths.catalog.open("ab") as catalogue:
        catalogue.write(b"x" * 200_000 + b"\n")  # long enough to be written anew
    for _ in range(2):
        sessions.ensure("tg", "1")
    assert sessions.paths.catalog.stat().st_size < 200_000
    assert sessions.show(ant) == whole


# -- sessions that cannot be read ------------------------------------------------------------------


@pytest.fixture
def humble():
    """The sessions of a user whom the system can keep from reading, whoever runs the tests."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        if os.geteuid() != 0:
            yield Sessions(Path(folder) / "state")
            return
        os.chown(folder, NOBODY, NOBODY)
        _warm_up(Sessions(Path(folder) / "warm"))
        os.seteuid(NOBODY)
        try:
            yield Sessions(Path(folder) / "state")
        finally:
            os.seteuid(0)


def _warm_up(sessions: Sessions) -> None:
    """Load the modules that commands load: another user may not be allowed to."""
    _stock(sessions)
    sessions.verify(repair=True)
    sessions.service.sweep(dry_run=False)
    sessions.service.branch("bee", "draft", 0)
    b"".join(SessionExport(sessions.service, SessionExportRequest()).pieces())
    sessions.service.delete(["bee"], dry_run=False)
    sessions.service.trash_list()


def _stock(sessions: Sessions) -> None:
    for number, name in enumerate(("ant", "bee", "cow")):
        sessions.new(name, channel="tg", chat=str(number))
        sessions.append(name, f"of {name}")


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("shut", ["", "messages.jsonl"])
def test_a_session_that_cannot_be_read_fails_by_itself(humble, shut, known):
    _stock(humble)
    place = humble.files("bee").folder / shut
    mode = place.stat().st_mode
    if not known:
        humble.paths.catalog.unlink()
    place.chmod(0)
    try:
        names = {row["sessionId"] for row in humble.listed()}
        assert {"ant", "cow"} <= names
        assert failures(humble.verify()) == [("bee", "storage")]
        with pytest.raises(StorageError):
            humble.append("bee", "more")
        assert humble.ensure("tg", "0")["sessionId"] == "ant"
        if known == bool(shut):  # then the catalogue tells of it, or nothing does
            assert humble.ensure("tg", "1")["created"] is not known
        else:
            with pytest.raises(StorageError):
                humble.ensure("tg", "1")
            assert failures(humble.service.sweep(dry_run=True)) == [("bee", "storage")]
    finally:
        place.chmod(mode)
    assert humble.contents("bee") == ["of bee"]


def test_metadata_that_cannot_be_read_are_not_replaced(humble):
    _stock(humble)
    files = humble.files("bee")
    before = files.meta.read_bytes()
    os.utime(files.meta, ns=(0, 0))  # the catalogue must ask
    files.meta.chmod(0)
    try:
        assert {row["sessionId"] for row in humble.listed()} == {"ant", "bee", "cow"}
        assert humble.ensure("tg", "1")["sessionId"] == "bee"
        assert warned(humble.service.show("bee")) == ["meta-unreadable"]
        assert failures(humble.verify()) == [("bee", "meta-unreadable")]
        with pytest.raises(StorageError):
            humble.service.rename("bee", "new")
    finally:
        files.meta.chmod(0o600)
    assert files.meta.read_bytes() == before


@pytest.mark.parametrize("name", ["checkpoint.json", "branches", "branches/draft.json"])
def test_a_small_file_that_cannot_be_read_fails_one_session(humble, name):
    _stock(humble)
    humble.service.branch("bee", "draft", 0)
    place = humble.files("bee").folder / name
    if not place.exists():
        put(place, b"{}")
    mode = place.stat().st_mode
    place.chmod(0)
    try:
        result = humble.verify()
        assert {failed["id"] for failed in result.data["failed"]} == {"bee"}
        export = SessionExport(humble.service, SessionExportRequest())
        export.check()
        data = b"".join(export.pieces())
        assert [failed["id"] for failed in export.result().data["failed"]] == ["bee"]
        assert all(b'"of %b"' % each in data for each in (b"ant", b"bee", b"cow"))
    finally:
        place.chmod(mode)


def test_a_trash_with_something_unreadable_is_listed(humble):
    _stock(humble)
    humble.service.delete(["ant", "bee"], dry_run=False)
    place = next(humble.paths.trash.glob("bee~*"))
    place.chmod(0)
    try:
        result = humble.service.trash_list()
    finally:
        place.chmod(0o700)
    assert [item["sessionId"] for item in result.data["items"]] == ["ant"]
    assert warned(result) == ["session-unreadable"]


def test_a_link_in_the_place_of_a_history_is_told_by_every_verification(sessions, ant, tmp_path):
    files = sessions.files(ant)
    files.history.rename(tmp_path / "elsewhere")
    files.history.symlink_to(tmp_path / "elsewhere")
    sessions.paths.catalog.unlink()
    assert failures(sessions.verify()) == [("ant", "damaged")]


def test_counters_are_settled_before_a_history_is_compressed(sessions, ant):
    old = sessions.files(ant).meta.read_bytes()
    sessions.append(ant, said("more", tokens=10))
    whole = sessions.show(ant)
    sessions.files(ant).meta.write_bytes(old)  # as a power cut may leave it
    sessions.service.archive([ant])
    assert sessions.show(ant) == {**whole, "status": "archived"}
    sessions.sound()


@pytest.mark.parametrize("status", ["active", "archived"])
def test_metadata_older_than_a_compressed_history_hide_no_message(sessions, ant, status):
    old = {**sessions.meta(ant), "status": status}
    sessions.append(ant, said("more", tokens=10))
    whole = sessions.show(ant)
    sessions.service.archive([ant])
    put(sessions.files(ant).meta, json.dumps(old).encode())
    if status == "active":
        assert sessions.show(ant)["messageCount"] == 5
        assert sessions.listed()[0]["totalInputTokens"] == whole["totalInputTokens"]
    assert sessions.append(ant, "after").data["firstIdx"] == 5
    assert sessions.meta(ant)["totalInputTokens"] == whole["totalInputTokens"]
    sessions.sound()
