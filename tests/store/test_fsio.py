"""Durable writes: old bytes or new bytes, private modes, nothing left behind."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from openclaw_cli.errors import StorageError
from openclaw_cli.store import files, fsio, generations
from openclaw_cli.store.newfile import NewFile


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277])
def any_umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


class FailingDisk(fsio.Disk):
    """Fails the named step with an error number, the n-th time it is taken."""

    def __init__(self, step: str, number: int, after: int = 0) -> None:
        self.step, self.number, self.after = step, number, after

    def _maybe(self, step: str) -> None:
        if step == self.step:
            if self.after == 0:
                raise OSError(self.number, os.strerror(self.number))
            self.after -= 1

    def write(self, fd, data):
        self._maybe("write")
        return super().write(fd, data)

    def fsync(self, fd):
        self._maybe("fsync")
        super().fsync(fd)

    def rename(self, source, target):
        self._maybe("rename")
        super().rename(source, target)


def test_files_and_folders_are_private_under_any_umask(tmp_path, any_umask):
    folder = tmp_path / "a" / "b"
    fsio.make_folder(folder)
    fsio.write_file(folder / "file", b"x")
    fsio.append(folder / "log", b"x")
    fsio.note(folder / "hint", b"x")
    with NewFile(folder / "new") as new:
        new.write(b"x")
    os.close(fsio.open_lock(folder / "lock"))
    assert [mode(path) for path in (tmp_path / "a", folder)] == [0o700, 0o700]
    assert {mode(path) for path in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_failed_replacement_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, step, number):
    target = tmp_path / "file"
    fsio.write_file(target, b"old")
    monkeypatch.setattr(fsio, "disk", FailingDisk(step, number))
    with pytest.raises(StorageError, match=os.strerror(number)):
        fsio.write_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["write", "fsync"])
def test_a_failed_append_is_cut_off_again(tmp_path, monkeypatch, step):
    log = tmp_path / "log"
    fsio.append(log, b"one\n")
    monkeypatch.setattr(fsio, "disk", FailingDisk(step, errno.ENOSPC))
    with pytest.raises(StorageError):
        fsio.append(log, b"two\n")
    monkeypatch.undo()
    assert log.read_bytes() == b"one\n"
    fsio.append(log, b"three\n")
    assert log.read_bytes() == b"one\nthree\n"


def test_short_writes_are_continued(tmp_path, monkeypatch):
    class Slow(fsio.Disk):
        def write(self, fd, data):
            return super().write(fd, bytes(data[:3]))

    monkeypatch.setattr(fsio, "disk", Slow())
    fsio.write_file(tmp_path / "file", b"0123456789")
    fsio.append(tmp_path / "log", b"0123456789")
    assert (tmp_path / "file").read_bytes() == (tmp_path / "log").read_bytes() == b"0123456789"


def test_what_is_set_aside_never_replaces_what_was_set_aside_before(tmp_path):
    log = tmp_path / "log"
    first = fsio.set_aside(log, b"1", "torn", "now")
    second = fsio.set_aside(log, b"2", "torn", "now")
    assert (first.read_bytes(), second.read_bytes()) == (b"1", b"2")


def test_a_link_is_switched_in_one_step(tmp_path):
    link = tmp_path / "index"
    generations.switch_link(link, "generations/1")
    generations.switch_link(link, "generations/2")
    assert os.readlink(link) == "generations/2"
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_regular_files_are_read(tmp_path, kind):
    path = tmp_path / "record.json"
    if kind == "link":
        (tmp_path / "elsewhere").write_text("secret")
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises((ValueError, IsADirectoryError)):
        files.read_file(path)


def test_a_sweep_removes_temporary_files_only(tmp_path):
    (tmp_path / f".a.json{fsio.TEMP_MARK}12").write_text("")
    (tmp_path / ".vimrc").write_text("")
    (tmp_path / "a.json").write_text("")
    assert fsio.sweep(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [".vimrc", "a.json"]
