"""A history read forwards as a stream, backwards from its end, and appended to.

What a line holds is answered by `lines`. Memory is bounded by the longest line, whatever the length
of the history.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session.lines import TOO_LONG, Line, lines_of
from openclaw_cli.session.schema import LINE_LIMIT, Message
from openclaw_cli.store import files as reading
from openclaw_cli.store import fsio
from openclaw_cli.store.newfile import NewFile

_FIRST_PIECE = 1 << 13
_LAST_PIECE = 1 << 20
#: What has been compressed has a head at least.
EMPTY_PACKED = "the compressed history is damaged: it is empty"


class Tail(NamedTuple):
    """How a history ends.

    The next message gets ``next_idx`` and goes to ``end``, with a line end before it unless
    ``ended``; bytes from ``end`` to ``size`` are an unfinished write. ``damage`` are the lines
    after the last message that hold none.
    """

    size: int = 0
    end: int = 0
    ended: bool = True
    next_idx: int = 0
    last: Message | None = None
    damage: tuple[Line, ...] = ()

    @property
    def torn(self) -> bool:
        """Tell whether there is an unfinished write to set aside."""
        return self.end < self.size


class History(NamedTuple):
    """A history opened for reading: plain, or ``packed`` and unpacked on the way."""

    source: BinaryIO
    packed: bool

    @property
    def size(self) -> int:
        """The length of the file in bytes."""
        return os.fstat(self.source.fileno()).st_size

    def forward(self, *, blank: bool = False) -> Iterator[Line]:
        """Yield the lines from where the source stands, without the ``blank`` ones or with them."""
        if self.packed and self.size == 0:
            yield Line(1, 0, b"", None, EMPTY_PACKED)
            return
        at, number = self.source.tell(), 0
        try:
            while raw := self.source.readline(LINE_LIMIT + 1):
                number += 1
                whole, length = raw.endswith(b"\n"), len(raw)
                if not whole and length > LINE_LIMIT:
                    length += self._skip_line()
                    yield Line(number, at, b"", None, TOO_LONG)
                else:
                    found = lines_of(number, at, raw, finished=whole)
                    yield from found
                    if blank and not found:
                        yield Line(number, at, raw, None)
                at += length
        except (EOFError, zlib.error, OSError) as error:
            if not self.packed:
                raise
            yield Line(number + 1, at, b"", None, f"the compressed history is damaged: {error}")

    def _skip_line(self) -> int:
        skipped = 0
        while piece := self.source.readline(_LAST_PIECE):
            skipped += len(piece)
            if piece.endswith(b"\n"):
                break
        return skipped

    def backward(self) -> Iterator[Line]:
        """Yield the lines of a plain history from its end, blank ones left out."""
        return lines_backward(self.source.fileno(), self.size)

    def tail(self) -> Tail:
        """Return how a plain history ends, at a cost that does not depend on its length."""
        fd, size = self.source.fileno(), self.size
        end, following, last = size, 0, None
        damage: list[Line] = []
        for line in self.backward():
            if line.message is not None:
                last = line.message
                following += last["idx"] + 1
                break
            if line.torn:
                end = line.at
            else:
                # A line that held something once has used up a number.
                following += line.problem != "zero bytes"
                damage.append(line)
        ended = end == 0 or os.pread(fd, 1, end - 1) == b"\n"
        return Tail(size, end, ended, following, last, tuple(damage))

    def newest(self, count: int) -> Iterator[Line]:
        """Yield the lines from the ``count``-th last message on, in order."""
        if self.packed:
            lines = self.forward()
            most = min(count, sys.maxsize)
            places = deque((each.at for each in lines if each.message is not None), most)
            # Without a message to begin with there is nothing to read again.
            self.source.seek(places[0] if places else 0)
            yield from (each._replace(number=0) for each in self.forward() if places)
            return
        start, found = self.size, 0
        for line in self.backward() if count else ():
            start = min(start, line.at)
            found += line.message is not None
            if found == count:
                break
        self.source.seek(start)
        yield from (line._replace(number=0) for line in self.forward())


def lines_backward(fd: int, end: int) -> Iterator[Line]:
    """Yield the lines of an open file from byte ``end`` backwards, blank ones left out."""
    first = True
    for at, raw in _pieces_backward(fd, end):
        if raw is None:
            yield Line(0, at, b"", None, TOO_LONG, first)
        else:
            yield from reversed(lines_of(0, at, raw, finished=not first))
        first = False


def _pieces_backward(fd: int, end: int) -> Iterator[tuple[int, bytes | None]]:
    """Yield offset and bytes of what lies between line ends, the last first; None if too long.

    The first is what follows the last line end: nothing, in a sound file.
    """
    parts: list[bytes] = []  # the end of a line whose beginning lies further left, reversed
    held, too_long, step = 0, False, _FIRST_PIECE
    while end > 0:
        start = max(0, end - step)
        block = _read_span(fd, start, end)
        cut = len(block)
        while (found := block.rfind(b"\n", 0, cut)) >= 0:
            parts.append(block[found + 1 : cut])
            yield start + found + 1, None if too_long else b"".join(reversed(parts))
            parts, held, too_long, cut = [], 0, False, found
        parts.append(block[:cut])
        held += cut
        if held > LINE_LIMIT:
            parts, too_long = [], True
        end, step = start, min(step * 2, _LAST_PIECE)
    yield 0, None if too_long else b"".join(reversed(parts))


def _read_span(fd: int, start: int, end: int) -> bytes:
    data = os.pread(fd, end - start, start)
    while len(data) < end - start:
        more = os.pread(fd, end - start - len(data), start + len(data))
        if not more:
            break  # cut while it was read: what is missing was never acknowledged
        data += more
    return data


def span(fd: int, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of an open file between two offsets, in pieces."""
    while start < end:
        piece = os.pread(fd, min(_LAST_PIECE, end - start), start)
        if not piece:
            return
        yield piece
        start += len(piece)


@contextmanager
def opened(files: SessionFiles) -> Iterator[History | None]:
    """Open the history of a session, plain or packed; None when it has none.

    A plain one is the truth wherever there are both. Raises `DamagedError` for what is no file.
    """
    # A plain history may be packed, or a packed one unpacked, between the two looks.
    for path in (files.history, files.packed, files.history):
        source = _open(path)
        if source is not None:
            break
    else:
        yield None
        return
    with source:
        if path == files.packed:
            import gzip

            with gzip.GzipFile(fileobj=source) as unpacked:
                yield History(cast("BinaryIO", unpacked), True)
        else:
            yield History(source, False)


def _open(path: Path) -> BinaryIO | None:
    fd = reading.open_existing(path)
    return None if fd is None else os.fdopen(fd, "rb", buffering=_LAST_PIECE)


def append(files: SessionFiles, tail: Tail, lines: Sequence[bytes]) -> None:
    """Append whole lines with one fsync: from its return on they are acknowledged.

    The caller holds the session's lock, and has set an unfinished write aside (`mend`).
    """
    # Who renamed it into its place may have been killed before that was safe.
    fsio.sync_folder(files.folder)
    fsio.append(files.history, (b"" if tail.ended else b"\n") + b"".join(lines))


def mend(files: SessionFiles, tail: Tail, stamp: str) -> str:
    """Set an unfinished write at the end of the history aside; return the name of its file."""
    kept = fsio.free_name(files.history, "torn", stamp)
    source = _open(files.history)
    if source is None:
        return ""
    with source, NewFile(kept) as target:
        for piece in span(source.fileno(), tail.end, tail.size):
            target.write(piece)
    fsio.sync_folder(files.folder)
    fsio.cut(files.history, tail.end)
    return kept.name
