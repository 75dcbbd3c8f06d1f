"""Records and log together: acknowledged means on disk, whatever happens in between."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest

from openclaw_cli import ids
from openclaw_cli.clock import Clock
from openclaw_cli.errors import StorageError
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import fsio, recovery, wal
from openclaw_cli.store.recovery import Indexed
from openclaw_cli.store.repository import Change, Repository


def document(name, text, updated="2026-01-01T00:00:00Z"):
    return {"id": name, "scope": "user", "content": {"l0": text}, "updatedAt": updated}


def put(name, text, **more):
    return Change("user", name, document(name, text, **more))


@pytest.fixture
def repository(tmp_path):
    paths = MemoryPaths(tmp_path, tmp_path / "memory")
    return Repository(paths, Clock(), lock_timeout=0, holder="test")


def commit(repository, *changes):
    with repository.writing() as writer:
        writer.commit(changes)


def text_of(repository, name):
    record = repository.view().record("user", name)
    return None if record is None else record.l0


def test_a_commit_is_in_the_log_and_in_its_file(repository):
    commit(repository, put("a", "one"), put("b", "two"))
    assert [entry.record_id for entry in wal.read(repository.paths.wal).entries] == ["a", "b"]
    assert orjson.loads(repository.paths.record("user", "a").read_bytes())["content"]["l0"] == "one"


def test_a_process_that_died_before_the_file_was_written_loses_nothing(repository, monkeypatch):
    commit(repository, put("a", "one"))

    def die(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(recovery, "write_record", die)
    with pytest.raises(KeyboardInterrupt), repository.writing() as writer:
        writer.commit([put("a", "two"), put("b", "three"), Change("user", "a", None)])
    monkeypatch.undo()
    assert not repository.paths.record("user", "b").exists()
    assert (text_of(repository, "a"), text_of(repository, "b")) == (None, "three")
    with repository.writing():
        pass
    assert repository.paths.record("user", "b").exists()
    assert not repository.paths.record("user", "a").exists()


def test_a_reader_never_writes(repository, monkeypatch):
    commit(repository, put("a", "one"))
    monkeypatch.setattr(recovery, "write_record", lambda *_: (_ for _ in ()).throw(OSError()))
    with pytest.raises(OSError), repository.writing() as writer:  # noqa: PT011
        writer.commit([put("a", "two")])
    monkeypatch.undo()
    before = sorted((p, p.stat().st_mtime_ns) for p in repository.paths.root.rglob("*"))
    assert text_of(repository, "a") == "two"
    assert sorted((p, p.stat().st_mtime_ns) for p in repository.paths.root.rglob("*")) == before


@pytest.mark.parametrize("left", [None, b"", b"\0\0\0\0", b'{"id":"a","content":{"l0":"half'])
def test_what_a_power_cut_left_of_a_file_is_written_again(repository, monkeypatch, left):
    commit(repository, put("a", "one"))
    path = repository.paths.record("user", "a")
    path.unlink() if left is None else path.write_bytes(left)
    monkeypatch.setattr(ids, "boot_id", lambda: "the next boot")
    assert text_of(repository, "a") == "one"
    with repository.writing():
        pass
    assert orjson.loads(path.read_bytes())["content"]["l0"] == "one"


def test_an_older_file_that_came_back_after_a_power_cut_is_brought_up_to_date(
    repository, monkeypatch
):
    commit(repository, put("a", "one"))
    older = repository.paths.record("user", "a").read_bytes()
    commit(repository, put("a", "two", updated="2026-01-02T00:00:00Z"))
    repository.paths.record("user", "a").write_bytes(older)
    monkeypatch.setattr(ids, "boot_id", lambda: "the next boot")
    assert text_of(repository, "a") == "two"


def test_an_edit_by_hand_stands_against_the_log(repository, monkeypatch):
    commit(repository, put("a", "one"))
    repository.paths.record("user", "a").write_bytes(orjson.dumps(document("a", "edited")))
    monkeypatch.setattr(ids, "boot_id", lambda: "the next boot")
    with repository.writing():
        pass
    assert text_of(repository, "a") == "edited"


def test_a_file_removed_by_hand_stays_removed(repository):
    commit(repository, put("a", "one"))
    repository.paths.record("user", "a").unlink()
    with repository.writing():
        pass
    assert text_of(repository, "a") is None


def test_what_is_set_aside_has_a_stamp_of_one_width_in_every_year(repository):
    for year in (1, 500, 1000, 9999):
        early = repository._replace(clock=Clock(datetime(year, 3, 1, tzinfo=UTC)))
        commit(early, put("a", "one"))
        with early.paths.wal.open("ab") as log:
            log.write(b"torn")
        with early.writing():
            pass
        assert (early.paths.root / f"wal.jsonl.torn-{year:04}0301T000000Z").exists()


def test_a_torn_tail_is_set_aside_and_told(repository):
    commit(repository, put("a", "one"))
    with open(repository.paths.wal, "ab") as log:
        log.write('{"crc":"00000000","seq":2,"record":{"l0":"中'.encode()[:-1])
    with repository.writing() as writer:
        assert [warning.code for warning in writer.warnings] == ["torn-tail"]
        writer.commit([put("b", "two")])
    assert [entry.record_id for entry in wal.read(repository.paths.wal).entries] == ["a", "b"]
    assert len(list(repository.paths.root.glob("wal.jsonl.torn-*"))) == 1


def test_damaged_lines_are_kept_when_the_log_is_cut(repository):
    commit(repository, put("a", "one"))
    with open(repository.paths.wal, "ab") as log:
        log.write(b"what is this\n")
    commit(repository, put("b", "two"))
    with repository.writing() as writer:
        writer.cut(2)
    kept = list(repository.paths.root.glob("wal.jsonl.bad-*"))
    assert [path.read_bytes() for path in kept] == [b"what is this\n"]


def test_sequence_numbers_go_on_after_the_log_was_lost(repository):
    commit(repository, put("a", "one"))
    repository.paths.wal.unlink()
    with repository._replace(indexed=lambda: Indexed(70)).writing() as writer:
        assert [entry.seq for entry in writer.commit([put("b", "two")])] == [71]
    assert wal.read(repository.paths.wal).base == 70


def test_a_full_disk_changes_nothing_and_the_command_works_again(repository, monkeypatch):
    commit(repository, put("a", "one"))

    class Full(fsio.Disk):
        def write(self, fd, data):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(fsio, "disk", Full())
    with pytest.raises(StorageError, match="No space left"), repository.writing() as writer:
        writer.commit([put("b", "two")])
    monkeypatch.undo()
    assert text_of(repository, "b") is None
    commit(repository, put("b", "two"))
    assert text_of(repository, "b") == "two"
