"""How a state file is read without trusting what stands in its place."""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.errors import DamagedError
from openclaw_cli.store.fsio import reporting

_PIECE = 1 << 16
_BLOCK = 1 << 20
#: Bytes of the largest file that is read whole: four times the longest text of a memory. What is
#: larger has grown by damage, often by zeros that take no room on the disk.
LIMIT = 256 << 20


class Line(NamedTuple):
    """A line as `lines` finds it: where it lies in the file, its end included, and its bytes
    without that; None for what no line can be."""

    begin: int
    end: int
    raw: bytes | None
    ended: bool


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


def read_file(path: str | Path, folder: int | None = None, *, limit: int = LIMIT) -> bytes:
    """Return the bytes of a regular file inside the store; raises as `open_regular` does.

    A file of more than ``limit`` bytes is damaged, and a ``ValueError`` too: it is not read.
    """
    fd, size = _opened(path, folder)
    try:
        if size > limit:
            raise ValueError(too_large(limit))
        # A file object would ask the kernel four more questions about each of 100,000 records.
        data = os.read(fd, size + 1 if size <= _PIECE else size)
        if len(data) == size <= _PIECE:
            return data  # asked for one byte more, so that it is the end
        parts, length = [data], len(data)
        while part := os.read(fd, _PIECE):
            parts.append(part)
            length += len(part)
            if length > limit:
                raise ValueError(too_large(limit))
        return data if len(parts) == 1 else b"".join(parts)
    finally:
        os.close(fd)


def too_large(limit: int) -> str:
    """Say what is wrong with a file of more than ``limit`` bytes."""
    return f"larger than {limit >> 20} MiB, which no sound one is"


def pieces(path: Path, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of a regular file from ``begin`` to ``end``, piece by piece."""
    with reporting("read", path), os.fdopen(open_regular(path), "rb", buffering=0) as source:
        source.seek(begin)
        left = os.fstat(source.fileno()).st_size - begin if end is None else end - begin
        while left > 0 and (piece := source.read(min(_BLOCK, left))):
            left -= len(piece)
            yield piece


def lines(fd: int, longest: int = LIMIT) -> Iterator[Line]:
    """Yield the lines of an open file from where it stands, in pieces: however long it is, no more
    than ``longest`` bytes of it are held.

    A longer one, and one of more than a piece that holds zero bytes, comes without its own.
    """
    begin = os.lseek(fd, 0, os.SEEK_CUR)
    held = _Held(longest)
    while block := os.read(fd, _BLOCK):
        if held.is_lost and b"\n" not in block:
            held.length += len(block) + _pass_hole(fd)
            continue
        first, *more = block.split(b"\n")
        held.add(first)
        for following in more:
            end = begin + held.length + 1
            yield Line(begin, end, held.taken(), True)
            begin = end
            held.add(following)
    if held.length:
        yield Line(begin, begin + held.length, held.taken(), False)


def _pass_hole(fd: int) -> int:
    """Pass over what of an open file was never written, which are zeros; return its length."""
    here = os.lseek(fd, 0, os.SEEK_CUR)
    try:
        return os.lseek(fd, here, getattr(os, "SEEK_DATA", os.SEEK_SET)) - here
    except OSError as error:
        if error.errno != errno.ENXIO:
            return 0  # the file system knows of no holes
        return os.lseek(fd, 0, os.SEEK_END) - here  # it goes on to the end


class _Held:
    """A line of which one piece after the other comes to light."""

    def __init__(self, longest: int) -> None:
        self.length = 0
        self._longest = longest
        self._parts: list[bytes] = []
        self.is_lost = False

    def add(self, part: bytes) -> None:
        self.length += len(part)
        if not self.is_lost:
            self._parts.append(part)
            # JSON has no zero bytes, a file that has grown by damage has nothing else.
            is_zero = len(part) == _BLOCK and b"\0" in part
            self.is_lost = is_zero or self.length > self._longest
            if self.is_lost:
                self._parts.clear()

    def taken(self) -> bytes | None:
        """Return the line, and begin the next one."""
        parts, self._parts, is_lost, self.is_lost = self._parts, [], self.is_lost, False
        self.length = 0
        if is_lost:
            return None
        return parts[0] if len(parts) == 1 else b"".join(parts)


def ends_a_line(path: Path) -> bool:
    """Tell whether what is appended to a file begins a line: also of one that is not there."""
    try:
        fd, size = _opened(path, None)
    except (FileNotFoundError, ValueError):
        return True
    try:
        return size == 0 or os.pread(fd, 1, size - 1) == b"\n"
    finally:
        os.close(fd)


def holds(path: Path, needles: Collection[bytes]) -> bool:
    """Tell whether a file holds one of ``needles``; raises as `open_regular` does."""
    overlap = max(map(len, needles), default=1) - 1
    edge = b""
    fd = open_regular(path)
    try:
        while block := os.read(fd, _BLOCK):
            text = edge + block
            if any(needle in text for needle in needles):
                return True
            edge = b"" if _pass_hole(fd) else text[max(0, len(text) - overlap) :]
    finally:
        os.close(fd)
    return False


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
