"""How a state file is read without trusting what stands in its place."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from pathlib import Path

from openclaw_cli.errors import DamagedError
from openclaw_cli.store.fsio import reporting

_PIECE = 1 << 16


def open_regular(path: str | Path, folder: int | None = None) -> int:
    """Open a regular file inside the store for reading, ``path`` being relative to ``folder``.

    Raises ``FileNotFoundError`` when there is none and ``ValueError`` when something else stands
    there: a symbolic link could lead out of the store, a pipe could keep the reader for ever.
    """
    return _opened(path, folder)[0]


def _opened(path: str | Path, folder: int | None) -> tuple[int, int]:
    """Return the descriptor of a regular file, and its length."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise ValueError("not a regular file") from error
        raise
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise ValueError("not a regular file")
    return fd, found.st_size


def open_existing(path: Path) -> int | None:
    """Open a regular file for reading, None when there is none; what cannot be opened is an error
    of ours that names it."""
    try:
        return open_regular(path)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise DamagedError(
            f"{path} is {error}", path=str(path), hint="move away what stands there"
        ) from error
    except OSError:
        with reporting("read", path):
            raise


def read_file(path: str | Path, folder: int | None = None) -> bytes:
    """Return the bytes of a regular file inside the store; raises as `open_regular` does."""
    fd, size = _opened(path, folder)
    try:
        # A file object would ask the kernel four more questions about each of 100,000 records.
        data = os.read(fd, min(size, _PIECE) + 1)
        if len(data) == size:
            return data  # asked for one byte more, so that it is the end
        parts = [data]
        while part := os.read(fd, _PIECE):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def mapped(path: Path) -> mmap.mmap | bytes:
    """Return a file mapped into memory for reading (an empty one as empty bytes)."""
    with reporting("read", path), open(path, "rb") as source:
        if os.fstat(source.fileno()).st_size == 0:
            return b""
        return mmap.mmap(source.fileno(), 0, access=mmap.ACCESS_READ)


def release(data: mmap.mmap | bytes, begin: int = 0, end: int | None = None) -> None:
    """Let go of the pages of a mapped file that have been read: they count as memory till then.

    They are mapped again when they are read again. ``begin`` is a multiple of the page size.
    """
    if isinstance(data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        data.madvise(mmap.MADV_DONTNEED, begin, (len(data) if end is None else end) - begin)
