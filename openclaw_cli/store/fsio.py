"""The one module that changes state files: what it returns from has happened on disk.

Every primitive that can be torn by a crash goes through ``disk``, so that a test can stop the
program at the n-th of them. Files are 0600 and folders 0700 whatever the umask is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from openclaw_cli import ids
from openclaw_cli.errors import StorageError
from openclaw_cli.store.disk import FILE_MODE, FOLDER_MODE, Disk

TEMP_MARK = ".tmp-"
_MANY = 16
# What file systems without symbolic links answer: FAT the first, others one of the rest.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
# A symbolic link could lead out of the store, a pipe could keep the writer for ever.
_EXISTING = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


disk = Disk()


@contextmanager
def reporting(action: str, path: Path) -> Iterator[None]:
    """Turn an `OSError` into a `StorageError` that names the path and the next step."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(
            f"cannot {action} {path}: {reason}",
            path=str(path),
            hint="check free space, permissions and the file system, then run the command again",
        ) from error


def make_folder(path: Path) -> None:
    """Make ``path`` and what is missing above it, 0700, durably; leave an existing one alone."""
    if path.is_dir():
        return
    make_folder(path.parent)
    if os.access(path.parent.parent, os.R_OK) and not any(path.parent.iterdir()):
        # A process killed right after making the one above has left its name at risk.
        sync_folder(path.parent.parent)
    with reporting("make folder", path):
        try:
            disk.mkdir(path)
        except FileExistsError:
            if not path.is_dir():
                raise
            return
        os.chmod(path, FOLDER_MODE)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    _sync("sync folder", path, os.O_DIRECTORY)


def sync_file(path: Path) -> None:
    """Make the content of a file that was written without a sync durable."""
    _sync("sync", path, 0)


def _sync(action: str, path: Path, flags: int) -> None:
    with reporting(action, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
        try:
            disk.fsync(fd)
        finally:
            os.close(fd)


def sync_files(files: list[Path]) -> None:
    """Make many files that were written without a sync, and their names, durable.

    Many are synced with their whole file system in one go, a few one by one.
    """
    if len(files) <= _MANY or not _sync_all(files[0].parent):
        for path in files:
            sync_file(path)
    for folder in dict.fromkeys(path.parent for path in files):
        sync_folder(folder)


def _sync_all(folder: Path) -> bool:
    with reporting("sync", folder):
        return disk.sync_all(folder)


def adopt(path: Path) -> None:
    """Give a file that a native library wrote the right mode, and make it durable."""
    with reporting("sync", path):
        os.chmod(path, FILE_MODE)
    sync_file(path)


def set_mode(path: Path, *, folder: bool = False) -> None:
    """Give a file or a folder that others may enter the mode that this program's own have."""
    with reporting("change the mode of", path):
        os.chmod(path, FOLDER_MODE if folder else FILE_MODE)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, view) :]


def _create(path: Path) -> int:
    fd = disk.create(path, os.O_WRONLY | os.O_EXCL)
    os.fchmod(fd, FILE_MODE)
    return fd


def _discard(path: Path) -> None:
    try:
        disk.unlink(path)
    except OSError:
        # The temp file is swept by the next index run; the first failure is what matters.
        return


def write_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace ``path`` by ``data`` in one step; a reader sees the old or the new bytes.

    With ``durable=False`` nothing is synced: for files that the WAL can write again.
    """
    temp = path.with_name(f".{path.name[:100]}{TEMP_MARK}{ids.token()}")
    with reporting("write", path):
        fd = _create(temp)
        try:
            try:
                _write_all(fd, data)
                if durable:
                    disk.fsync(fd)
            finally:
                os.close(fd)
            disk.rename(temp, path)
        except BaseException:
            _discard(temp)
            raise
    if durable:
        sync_folder(path.parent)


def append(path: Path, data: bytes) -> None:
    """Append ``data`` and make it durable; on any failure the file is as long as before.

    A failed fsync is not tried again: the kernel may have dropped the pages, so the bytes are cut
    off and the caller is told that nothing was acknowledged.
    """
    with reporting("append to", path):
        fd = disk.create(path, _EXISTING | os.O_APPEND)
        try:
            os.fchmod(fd, FILE_MODE)
            size = os.fstat(fd).st_size
            if size == 0:
                # The name comes first, so that nothing can fail once the data is there.
                sync_folder(path.parent)
            try:
                _write_all(fd, data)
                disk.fsync(fd)
            except OSError:
                disk.truncate(fd, size)
                raise
        finally:
            os.close(fd)


def cut(path: Path, length: int) -> None:
    """Cut a file to ``length`` bytes and make that durable."""
    with reporting("cut", path):
        fd = os.open(path, _EXISTING)
        try:
            disk.truncate(fd, length)
            disk.fsync(fd)
        finally:
            os.close(fd)


def note(path: Path, data: bytes) -> None:
    """Overwrite a small hint file in place, not synced: losing it costs time, never data."""
    with reporting("write", path):
        fd = disk.create(path, _EXISTING)
        try:
            os.fchmod(fd, FILE_MODE)
            disk.truncate(fd, 0)
            _write_all(fd, data)
        finally:
            os.close(fd)


def remove(path: Path, *, durable: bool = True) -> None:
    """Remove a file; one that is gone already is fine."""
    with reporting("remove", path):
        try:
            disk.unlink(path)
        except FileNotFoundError:
            return
    if durable:
        sync_folder(path.parent)


def remove_tree(path: Path) -> None:
    """Remove a folder of derived data with all that is in it."""
    with reporting("remove", path):
        _remove_within(path)


def _remove_within(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        disk.unlink(path)
        return
    for inner in list(path.iterdir()):
        _remove_within(inner)
    disk.rmdir(path)


def set_aside(path: Path, data: bytes, kind: str, stamp: str) -> Path:
    """Keep damaged bytes of ``path`` beside it as ``<name>.<kind>-<stamp>``; return that path."""
    kept = _free_name(path, kind, stamp)
    write_file(kept, data)
    return kept


def move_aside(path: Path, kind: str, stamp: str) -> Path:
    """Rename what stands at ``path``, whatever it is, to ``<name>.<kind>-<stamp>``; return that."""
    kept = _free_name(path, kind, stamp)
    with reporting("set aside", path):
        disk.rename(path, kept)
    sync_folder(path.parent)
    return kept


def _free_name(path: Path, kind: str, stamp: str) -> Path:
    kept = path.with_name(f"{path.name}.{kind}-{stamp}")
    number = 1
    while os.path.lexists(kept):
        kept = path.with_name(f"{path.name}.{kind}-{stamp}.{number}")
        number += 1
    return kept


def switch_link(link: Path, target: str) -> None:
    """Point the symbolic link ``link`` at ``target`` in one atomic, durable step."""
    temp = link.with_name(f".{link.name}{TEMP_MARK}{ids.token()}")
    with reporting("switch link", link):
        try:
            disk.symlink(target, temp)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            raise StorageError(
                f"the file system of {link.parent} does not allow symbolic links",
                path=str(link.parent),
                hint="keep the state directory on a file system with symbolic links",
            ) from error
        try:
            disk.rename(temp, link)
        except BaseException:
            _discard(temp)
            raise
    sync_folder(link.parent)


def sweep(folder: Path) -> int:
    """Remove temporary files that killed writers left in ``folder``; return how many.

    Only for a caller that holds the lock under which they are made.
    """
    count = 0
    try:
        with os.scandir(folder) as entries:
            stale = [e.name for e in entries if e.name.startswith(".") and TEMP_MARK in e.name]
    except FileNotFoundError:
        return 0
    for name in stale:
        remove(folder / name, durable=False)
        count += 1
    return count


def open_lock(path: Path) -> int:
    """Open (and make) a lock file and return its descriptor; lock files are never removed."""
    with reporting("open lock file", path):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
        os.fchmod(fd, FILE_MODE)
        return fd


def describe_lock(fd: int, text: bytes) -> None:
    """Write into an open lock file who holds it: a hint for people, not part of the lock."""
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, text, 0)
    except OSError:
        # The lock itself is held by the kernel; a full disk must not keep the command from working.
        return


class NewFile:
    """A new file written in one go, synced on leaving; counts its bytes and their SHA-256."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.length = 0
        import hashlib

        self._hash = hashlib.sha256()
        self._pending: list[bytes] = []
        self._waiting = 0
        self._fd = -1

    def __enter__(self) -> NewFile:
        with reporting("write", self.path):
            self._fd = _create(self.path)
        return self

    def write(self, data: bytes) -> None:
        """Append ``data``; small pieces are gathered to a megabyte."""
        self._pending.append(data)
        self._waiting += len(data)
        if self._waiting >= 1 << 20:
            self._flush()

    def _flush(self) -> None:
        block = b"".join(self._pending)
        self._pending.clear()
        self._waiting = 0
        self._hash.update(block)
        self.length += len(block)
        with reporting("write", self.path):
            _write_all(self._fd, block)

    @property
    def sha256(self) -> str:
        """The digest of what has been written; complete after leaving."""
        return self._hash.hexdigest()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._flush()
                with reporting("sync", self.path):
                    disk.fsync(self._fd)
        finally:
            os.close(self._fd)
