"""Index generations: complete folders behind one symbolic link that is switched atomically."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.errors import StorageError
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import fsio


class Generation(NamedTuple):
    """An opened generation; its files are reached through the folder's descriptor.

    So a reader keeps one generation even while the link is switched under it.
    """

    number: int
    path: Path
    fd: int

    def size(self, name: str) -> int:
        """Return the byte length of a file; ``FileNotFoundError`` when it is missing."""
        return os.stat(name, dir_fd=self.fd).st_size

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)
        with os.fdopen(fd, "rb") as source:
            return source.read()

    def map(self, name: str) -> mmap.mmap | bytes:
        """Return a file mapped into memory for reading (an empty one as empty bytes)."""
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.fd)
        try:
            if os.fstat(fd).st_size == 0:
                return b""
            return mmap.mmap(fd, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(fd)

    def close(self) -> None:
        """Let go of the folder; mapped files stay readable."""
        os.close(self.fd)


def current_number(paths: MemoryPaths) -> int | None:
    """Return the number of the current generation, None when there is no sound link."""
    try:
        target = os.readlink(paths.index)
    except (FileNotFoundError, OSError):
        return None
    folder, _, name = target.rpartition("/")
    return int(name) if folder == "generations" and name.isdecimal() else None


def open_current(paths: MemoryPaths) -> Generation | None:
    """Open the current generation, or return None when there is none."""
    number = current_number(paths)
    if number is None:
        return None
    path = paths.generations / str(number)
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        # Either the link was switched between the two calls, or it points at nothing.
        return open_current(paths) if current_number(paths) != number else None
    return Generation(number, path, fd)


def prepare(paths: MemoryPaths) -> tuple[int, Path]:
    """Make the folder of the next generation, sweeping half-made ones; the caller is the indexer.

    Nobody can see the folder before `publish`.
    """
    fsio.make_folder(paths.generations)
    sweep(paths)
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
    fsio.switch_link(paths.index, f"generations/{number}")


def sweep(paths: MemoryPaths) -> None:
    """Remove every generation but the current one, and links that were never put in place."""
    current = current_number(paths)
    for number in _numbers(paths):
        if number != current:
            fsio.remove_tree(paths.generations / str(number))
    fsio.sweep(paths.root)


def _numbers(paths: MemoryPaths) -> list[int]:
    try:
        with os.scandir(paths.generations) as entries:
            return [int(entry.name) for entry in entries if entry.name.isdecimal()]
    except FileNotFoundError:
        return []
