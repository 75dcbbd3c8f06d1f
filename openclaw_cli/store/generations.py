"""Index generations: complete folders behind one symbolic link that is switched atomically."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

from openclaw_cli.errors import StorageError
from openclaw_cli.paths import SCOPES, MemoryPaths
from openclaw_cli.store import files, fsio

#: A longer number was not counted up to: the link or the folder is not ours.
_DIGITS = 15


class Generation:
    """An opened generation; its files are reached through the folder's descriptor.

    So a reader keeps one generation even while the link is switched under it. The descriptor is
    closed with the last reference to this.
    """

    def __init__(self, number: int, path: Path, fd: int) -> None:
        self.number = number
        self.path = path
        self.fd = fd

    def size(self, name: str) -> int:
        """Return the byte length of a file; ``FileNotFoundError`` when it is missing."""
        return os.stat(name, dir_fd=self.fd).st_size

    def read(self, name: str) -> bytes:
        """Return the bytes of a file; raises as `files.open_regular` does."""
        return files.read_file(name, self.fd)

    def map(self, name: str) -> mmap.mmap | bytes:
        """Return a file mapped into memory for reading (an empty one as empty bytes)."""
        fd = files.open_regular(name, self.fd)
        try:
            if os.fstat(fd).st_size == 0:
                return b""
            return mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(fd)

    def close(self) -> None:
        """Let go of the folder; mapped files stay readable."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    __del__ = close


def current_number(paths: MemoryPaths) -> int | None:
    """Return the number of the current generation, None when there is no sound link."""
    try:
        target = os.readlink(paths.index)
    except (FileNotFoundError, OSError):
        return None
    folder, _, name = target.rpartition("/")
    return _number(name) if folder == "generations" else None


def _number(name: str) -> int | None:
    return int(name) if name.isascii() and name.isdigit() and len(name) <= _DIGITS else None


def open_current(paths: MemoryPaths) -> Generation | None:
    """Open the current generation, or return None when there is none."""
    number = current_number(paths)
    if number is None:
        return None
    path = paths.generations / str(number)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        # Either the link was switched between the two calls, or it points at nothing.
        return open_current(paths) if current_number(paths) != number else None
    return Generation(number, path, fd)


def prepare(paths: MemoryPaths) -> tuple[int, Path]:
    """Make the folder of the next generation, sweeping half-made ones; the caller is the indexer.

    Nobody can see the folder before `publish`.
    """
    fsio.make_folder(paths.generations)
    _sweep_generations(paths)
    number = max([*_numbers(paths), current_number(paths) or 0]) + 1
    folder = paths.generations / str(number)
    fsio.make_folder(folder)
    return number, folder


def discard(paths: MemoryPaths, number: int) -> None:
    """Remove a generation that will not be published."""
    fsio.remove_tree(paths.generations / str(number))


def publish(paths: MemoryPaths, number: int) -> None:
    """Make generation ``number`` the current one; its files must be synced already."""
    fsio.sync_folder(paths.generations / str(number))
    fsio.sync_folder(paths.generations)
    if os.path.lexists(paths.index) and not os.path.islink(paths.index):
        raise StorageError(
            f"{paths.index} is not a symbolic link",
            path=str(paths.index),
            hint="move it away; the index is rebuilt from the records by: openclaw memory index",
        )
    switch_link(paths.index, f"generations/{number}")


def is_swept(paths: MemoryPaths) -> bool:
    """Tell whether there is no generation but the current one."""
    return set(_numbers(paths)) <= {current_number(paths)}


def sweep(paths: MemoryPaths) -> None:
    """Remove every generation but the current one, and temporary files; under both locks."""
    if _sweep_generations(paths):
        fsio.sync_folder(paths.generations)
    fsio.sweep(paths.root)
    for scope in SCOPES:
        fsio.sweep(paths.records_backup(scope))


def _sweep_generations(paths: MemoryPaths) -> int:
    current = current_number(paths)
    stale = [number for number in _numbers(paths) if number != current]
    for number in stale:
        fsio.remove_tree(paths.generations / str(number))
    return len(stale)


def _numbers(paths: MemoryPaths) -> list[int]:
    try:
        with os.scandir(paths.generations) as entries:
            found = [_number(entry.name) for entry in entries]
    except FileNotFoundError:
        return []
    return [number for number in found if number is not None]


def switch_link(link: Path, target: str) -> None:
    """Point the symbolic link ``link`` at ``target`` in one atomic, durable step."""
    temp = fsio.temp_name(link)
    with fsio.reporting("switch link", link):
        try:
            fsio.disk.symlink(target, temp)
        except OSError as error:
            if error.errno not in fsio.NO_LINKS:
                raise
            raise StorageError(
                f"the file system of {link.parent} does not allow symbolic links",
                path=str(link.parent),
                hint="keep the state directory on a file system with symbolic links",
            ) from error
        try:
            fsio.disk.rename(temp, link)
        except BaseException:
            fsio.discard(temp)
            raise
    fsio.sync_folder(link.parent)
