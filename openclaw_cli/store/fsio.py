"""The one module that changes state files: what it returns from has happened on disk.

Every primitive that can be torn by a crash goes through ``disk``, so that a test can stop the
program at the n-th of them. Files are 0600 and folders 0700 whatever the umask is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from openclaw_cli import ids
from openclaw_cli.errors import StorageError
from openclaw_cli.store.disk import FILE_MODE, FOLDER_MODE, Disk

TEMP_MARK = ".tmp-"
_MANY = 16
_HOLE = 1 << 16
#: What file systems without links answer: FAT the first, others one of the rest.
NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)
# A symbolic link could lead out of the store, a pipe could keep the writer for ever.
_EXISTING = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


disk = Disk()


@contextmanager
def reporting(action: str, path: str | Path) -> Iterator[None]:
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


def sync_file(path: str | Path) -> None:
    """Make the content of a file that was written without a sync durable."""
    _sync("sync", path, 0)


def _sync(action: str, path: str | Path, flags: int) -> None:
    with reporting(action, path):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
        try:
            disk.fsync(fd)
        finally:
            os.close(fd)


def sync_files(files: Sequence[str | Path]) -> None:
    """Make many files that were written without a sync, and their names, durable.

    Many are synced with their whole file system in one go, a few one by one; what is gone by now,
    or no file any more, has nothing to be synced.
    """
    names = dict.fromkeys(map(os.path.dirname, files))
    folders = [Path(name) for name in names if os.path.isdir(name)]
    if len(files) <= _MANY or not folders or not _sync_all(folders[0]):
        for path in filter(os.path.isfile, files):
            sync_file(path)
    for folder in folders:
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


def write_all(fd: int, data: bytes) -> None:
    """Write all of ``data`` to an open file."""
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, view) :]


def _write_pieces(fd: int, pieces: Iterable[bytes]) -> None:
    """Write pieces to a new file; long runs of zeros become holes, which take no room."""
    length = 0
    for piece in pieces:
        length += len(piece)
        if len(piece) < _HOLE or piece != bytes(len(piece)):
            write_all(fd, piece)
        else:
            disk.truncate(fd, length)
            os.lseek(fd, length, os.SEEK_SET)


def create(path: str | Path) -> int:
    """Make a file that must not exist, 0600, and return its descriptor."""
    fd = disk.create(path, os.O_WRONLY | os.O_EXCL)
    os.fchmod(fd, FILE_MODE)
    return fd


def temp_name(path: str | Path) -> Path:
    """Return a hidden name beside ``path`` that `sweep` knows; it is short enough and random."""
    return Path(_temp_name(path))


def _temp_name(path: str | Path) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:100]}{TEMP_MARK}{ids.token()}")


def discard(path: str | Path) -> None:
    """Remove a temporary file after a failure, if that is possible."""
    try:
        disk.unlink(path)
    except OSError:
        # The temp file is swept by the next index run; the first failure is what matters.
        return


def write_file(path: str | Path, data: bytes | Iterable[bytes], *, durable: bool = True) -> None:
    """Replace ``path`` by ``data`` in one step; a reader sees the old or the new bytes.

    With ``durable=False`` nothing is synced: for files that the WAL can write again.
    """
    _put(path, data, durable)
    if durable:
        sync_folder(Path(os.path.dirname(path)))


def replace(path: Path, data: bytes) -> None:
    """Replace ``path`` by ``data``: after a power cut it holds the old or the new bytes, whole.

    The content is made durable and the name is not, for files that only sum up another one that
    has been synced already.
    """
    _put(path, data, True)


def _put(path: str | Path, data: bytes | Iterable[bytes], durable: bool) -> None:
    temp = _temp_name(path)
    with reporting("write", path):
        fd = create(temp)
        try:
            try:
                if isinstance(data, bytes):
                    write_all(fd, data)
                else:
                    _write_pieces(fd, data)
                if durable:
                    disk.fsync(fd)
            finally:
                os.close(fd)
            disk.rename(temp, path)
        except BaseException:
            discard(temp)
            raise


def move(source: Path, target: Path) -> None:
    """Move a file or folder, perhaps to another folder, durably; a file replaces what is there."""
    with reporting("move", source):
        disk.rename(source, target)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def append(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Append ``data`` and make it durable; on any failure the file is as long as before.

    A failed fsync is not tried again: the kernel may have dropped the pages, so the bytes are cut
    off and the caller is told that nothing was acknowledged. With ``durable=False`` nothing is
    synced: for files that can be made again.
    """
    with reporting("append to", path):
        fd = disk.create(path, _EXISTING | os.O_APPEND)
        try:
            os.fchmod(fd, FILE_MODE)
            size = os.fstat(fd).st_size
            if size == 0 and durable:
                # The name comes first, so that nothing can fail once the data is there.
                sync_folder(path.parent)
            try:
                write_all(fd, data)
                if durable:
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
    """Overwrite a small hint file in place, not synced: losing it costs time, never data.

    The data must tell by itself whether it is whole: a reader may see the old and the new mixed.
    Emptying the file first would prevent that; but some file systems (ext4) then write it out at
    once, and the next to empty it waits for that.
    """
    with reporting("write", path):
        fd = disk.create(path, _EXISTING)
        try:
            os.fchmod(fd, FILE_MODE)
            write_all(fd, data)
            if os.fstat(fd).st_size > len(data):
                disk.truncate(fd, len(data))
        finally:
            os.close(fd)


def remove(path: str | Path, *, durable: bool = True) -> None:
    """Remove a file; one that is gone already is fine."""
    with reporting("remove", path):
        try:
            disk.unlink(path)
        except FileNotFoundError:
            return
    if durable:
        sync_folder(Path(path).parent)


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


def set_aside(path: Path, data: bytes | Iterable[bytes], kind: str, stamp: str) -> Path:
    """Keep damaged bytes of ``path`` beside it as ``<name>.<kind>-<stamp>``; return that path."""
    kept = free_name(path, kind, stamp)
    write_file(kept, data)
    return kept


def rename(source: Path, target: Path) -> None:
    """Give a file or a folder another, free name in the same folder, durably."""
    with reporting("rename", source):
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, f"{target.name} is there already")
        disk.rename(source, target)
    sync_folder(target.parent)


def move_aside(path: Path, kind: str, stamp: str) -> Path:
    """Rename what stands at ``path``, whatever it is, to ``<name>.<kind>-<stamp>``; return that."""
    kept = free_name(path, kind, stamp)
    with reporting("set aside", path):
        disk.rename(path, kept)
    sync_folder(path.parent)
    return kept


def free_name(path: Path, kind: str, stamp: str) -> Path:
    """Return the path beside ``path`` where damaged bytes of it can be kept."""
    kept = path.with_name(f"{path.name}.{kind}-{stamp}")
    number = 1
    while os.path.lexists(kept):
        kept = path.with_name(f"{path.name}.{kind}-{stamp}.{number}")
        number += 1
    return kept


def is_temporary(name: str) -> bool:
    """Tell whether a file or folder of this name was made to be renamed."""
    return name.startswith(".") and TEMP_MARK in name


def sweep(folder: Path, names: Iterable[str] | None = None) -> int:
    """Remove temporary files and folders that killed writers left in ``folder``; return how many.

    Only for a caller that holds the lock under which they are made, and who may know their names.
    Where a link or a file stands in place of the folder, nothing there is ours.
    """
    count = 0
    if names is None:
        try:
            names = [name for name in os.listdir(folder) if is_temporary(name)]
        except (FileNotFoundError, NotADirectoryError):
            return 0
        if names and folder.is_symlink():
            return 0
    for path in [folder / name for name in names]:
        if path.is_dir() and not path.is_symlink():
            remove_tree(path)
        else:
            remove(path, durable=False)
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
        os.pwrite(fd, text, 0)
        # To cut a file is dear for the file system: done only when a longer text stood there.
        if os.fstat(fd).st_size > len(text):
            os.ftruncate(fd, len(text))
    except OSError:
        # The lock itself is held by the kernel; a full disk must not keep the command from working.
        return
