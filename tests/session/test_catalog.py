"""The catalogue is disposable: deleted, damaged or old, nothing is lost, hidden or wrong."""

from __future__ import annotations

import json
import os
import random
import shutil

import pytest

from openclaw_cli.errors import StorageError
from openclaw_cli.session import catalog
from openclaw_cli.session.requests import SessionFilter
from openclaw_cli.store import fsio
from tests.session.support import said


@pytest.fixture
def stocked(sessions):
    for number, name in enumerate(("ant", "bee", "cow", "dog")):
        sessions.new(name, channel="tg", chat=str(number), title=f"talk {number}", tags=(name,))
        sessions.later(minutes=1)
        sessions.append(name, *["hi"] * number, said("ho", "assistant", tokens=number))
    sessions.service.archive(["dog"])
    sessions.ensure("tg", "0")
    return sessions


def rows(sessions):
    return {row["sessionId"]: row for row in sessions.listed()}


def check(sessions, wanted) -> None:
    assert rows(sessions) == wanted
    for name, row in wanted.items():
        assert sessions.show(name) == row
        if row["status"] != "archived":
            found = sessions.ensure(row["channel"], row["chatId"])
            assert (found["sessionId"], found["created"]) == (name, False)
    assert rows(sessions) == wanted


def test_a_deleted_catalogue_is_made_anew(stocked):
    wanted = rows(stocked)
    stocked.paths.catalog.unlink()
    before = sorted(os.listdir(stocked.paths.root))
    assert rows(stocked) == wanted
    assert sorted(os.listdir(stocked.paths.root)) == before, "listing has written"
    check(stocked, wanted)
    assert stocked.paths.catalog.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_catalogue_misleads_nobody(stocked, seed):
    wanted = rows(stocked)
    chance = random.Random(seed)
    data = bytearray(stocked.paths.catalog.read_bytes())
    for _ in range(30):
        data[chance.randrange(len(data))] = chance.randrange(256)
    stocked.paths.catalog.write_bytes(data[: chance.randrange(len(data))] if seed % 2 else data)
    check(stocked, wanted)


@pytest.mark.parametrize("data", [b"", b"\n\n", bytes(999), b"[]\n", b'{"id":"x"}\n', b"\xff" * 99])
def test_a_catalogue_of_something_else_misleads_nobody(stocked, data):
    wanted = rows(stocked)
    stocked.paths.catalog.write_bytes(data)
    check(stocked, wanted)


def test_an_old_catalogue_hides_nothing_that_came_after_it(stocked):
    old = stocked.paths.catalog.read_bytes()
    stocked.new("eel", channel="tg", chat="9")
    stocked.append("ant", "later")
    stocked.service.rename("bee", "另一个")
    stocked.append("dog", "awake")
    stocked.service.delete(["cow"], dry_run=False)
    wanted = rows(stocked)
    assert (set(wanted), wanted["dog"]["status"]) == ({"ant", "bee", "dog", "eel"}, "active")
    stocked.paths.catalog.write_bytes(old)
    check(stocked, wanted)


def test_folders_that_come_and_go_without_a_command_are_seen(stocked, tmp_path):
    stocked.listed()
    shutil.copytree(stocked.files("ant").folder, stocked.files("gnu").folder)
    shutil.rmtree(stocked.files("bee").folder)
    found = rows(stocked)
    assert set(found) == {"ant", "cow", "dog", "gnu"}
    assert found["gnu"]["sessionId"] == "gnu"


def test_metadata_edited_by_hand_are_listed_as_they_are(stocked):
    meta = stocked.meta("bee")
    stocked.files("bee").meta.write_text(json.dumps({**meta, "title": "by hand", "chatId": "77"}))
    assert rows(stocked)["bee"]["title"] == "by hand"
    assert stocked.ensure("tg", "77")["sessionId"] == "bee"
    assert stocked.ensure("tg", "1")["created"]


def test_a_session_killed_between_its_history_and_its_metadata_is_counted(stocked, monkeypatch):
    real = fsio.replace

    def killed(path, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(fsio, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        stocked.append("ant", "acknowledged")
    monkeypatch.setattr(fsio, "replace", real)
    assert rows(stocked)["ant"]["messageCount"] == 2
    stocked.ensure("tg", "1")  # lets the catalogue be tidied
    assert rows(stocked)["ant"]["messageCount"] == 2
    stocked.append("ant", "next")
    assert rows(stocked)["ant"]["messageCount"] == 3


def test_a_catalogue_that_cannot_be_written_fails_nothing_that_is_done(stocked, monkeypatch):
    monkeypatch.setattr(catalog.Catalog, "_locked", _refusing)
    stocked.service.rename("ant", "new name")
    monkeypatch.undo()
    assert rows(stocked)["ant"]["title"] == "new name"


def _refusing(_self):
    raise StorageError("no space left")


def test_metadata_too_large_for_a_line_are_asked_for_each_time(stocked):
    stocked.service.rename("ant", "long " * 5000)
    assert rows(stocked)["ant"]["title"].startswith("long long")
    assert max(map(len, stocked.paths.catalog.read_bytes().splitlines())) < 9000
    assert stocked.ensure("tg", "0")["sessionId"] == "ant"


def test_a_catalogue_that_grows_is_written_anew_by_who_reads_it(stocked):
    for number in range(300):
        stocked.service.rename("ant", f"title {number}")
    assert stocked.paths.catalog.stat().st_size > 70_000
    wanted = rows(stocked)
    stocked.ensure("tg", "1")
    assert stocked.paths.catalog.stat().st_size < 3000
    check(stocked, wanted)


def test_a_catalogue_that_only_grows_is_written_anew_too(stocked, monkeypatch):
    monkeypatch.setattr(catalog, "_ADDED_SPARE", 4000)
    stocked.ensure("tg", "1")
    wanted = {**rows(stocked)}
    for number in range(100):
        stocked.append("ant", f"message {number}")
    assert stocked.paths.catalog.stat().st_size < 20_000
    found = rows(stocked)
    assert found["ant"]["messageCount"] == 101
    assert {n: r for n, r in found.items() if n != "ant"} == {
        n: r for n, r in wanted.items() if n != "ant"
    }


def test_what_is_not_ours_is_left_alone_and_mentioned(stocked):
    root = stocked.paths.root
    (root / "sessions.json").write_text('{"a": 1}')
    (root / "old-session.jsonl").write_text('{"type":"session"}\n')
    (root / "not a name!").mkdir()
    (root / "empty").mkdir()
    (root / "data").mkdir()
    (root / "data" / "x.sqlite").write_bytes(b"SQLite")
    (root / "link").symlink_to("/tmp")
    names = ["data", "empty", "link", "not a name!", "old-session.jsonl", "sessions.json"]
    wanted = rows(stocked)
    from openclaw_cli.session.requests import SessionListRequest

    result = stocked.service.list(SessionListRequest())
    assert result.data["foreign"] == {"count": 6, "names": names}
    check(stocked, wanted)
    verified = stocked.verify(repair=True)
    assert (verified.data["foreign"]["count"], verified.data["checked"]) == (6, 4)
    stocked.service.sweep(dry_run=False)
    assert set(names) <= set(os.listdir(root))
    assert (root / "sessions.json").read_text() == '{"a": 1}'


def test_filters_and_orders(stocked):
    def ids(**options):
        return [row["sessionId"] for row in stocked.listed(**options)]

    def fitting(**fields):
        request = {"status": None, **fields}
        return sorted(
            row["sessionId"] for row in stocked.listed(request.pop("status"), filters=request)
        )

    assert ids() == ["dog", "cow", "bee", "ant"]
    assert ids(sort="created") == ["dog", "cow", "bee", "ant"]
    assert ids(sort="messages") == ["dog", "cow", "bee", "ant"]
    assert ids(limit=2) == ["dog", "cow"]
    assert ids(status=SessionFilter().status) == ["cow", "bee", "ant"]
    assert fitting(chat=("0", "2")) == ["ant", "cow"]
    assert fitting(channel=("irc",)) == []
    assert fitting(tag=("bee", "dog")) == ["bee", "dog"]
    start = stocked.moment.replace(minute=2)
    assert fitting(since=start) == ["bee", "cow", "dog"]
    assert fitting(until=start) == ["ant"]


def test_times_of_any_form_are_ordered_by_moment(sessions):
    for name, moment in {
        "a": "2026-03-01T12:00:00.500Z",
        "b": "2026-03-01T12:00:00Z",
        "c": "2026-03-01T14:00:01+02:00",
    }.items():
        sessions.new(name)
        path = sessions.files(name).meta
        path.write_text(json.dumps({**sessions.meta(name), "lastActiveAt": moment}))
    assert [row["sessionId"] for row in sessions.listed()] == ["c", "a", "b"]
