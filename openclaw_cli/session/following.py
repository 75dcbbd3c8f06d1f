"""A history as it grows: what is appended by others is yielded when it has come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO

from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Warning
from openclaw_cli.session.lines import TOO_LONG, Line, lines_of
from openclaw_cli.session.listing import damage_warning
from openclaw_cli.session.metadata import Stat, stat_of
from openclaw_cli.session.schema import LINE_LIMIT, Message
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.transcript import lines_backward
from openclaw_cli.store import files as reading

_PAUSE_SECONDS = 0.2
_PIECE = 1 << 20
#: Messages at the end among which the one that was yielded last is looked for.
_LOOK_BACK = 1000

Tell = Callable[[Warning], None]


def follow(store: SessionStore, files: SessionFiles, after: int, tell: Tell) -> Iterator[Message]:
    """Yield the messages after the one of idx ``after``, for ever; end when the session is deleted.

    What can be read only in part is told at once. The file may be packed and unpacked again
    meanwhile: places in it are found by idx.
    """
    reader = _Reader(files, after, tell)
    while files.exist():
        yield from reader.news()
        store.env.clock.sleep(_PAUSE_SECONDS)


class _Reader:
    """Knows how far a history has been read."""

    def __init__(self, files: SessionFiles, after: int, tell: Tell) -> None:
        self._files = files
        self._after = after
        self._tell = tell
        self._seen: Stat | None = None
        self._inode = 0
        self._at = 0
        self._within = False  # a line too long to hold, whose end has not come yet

    def news(self) -> Iterator[Message]:
        """Yield what has been appended; nothing is read while the file is as it was."""
        try:
            fd = reading.open_regular(self._files.history)
        except (FileNotFoundError, ValueError):
            return
        with os.fdopen(fd, "rb") as source:
            state = os.fstat(fd)
            if stat_of(state) == self._seen:
                return
            if state.st_ino != self._inode or state.st_size < self._at:
                self._inode, self._within = state.st_ino, False
                self._at = _end_of(fd, state.st_size, self._after)
            source.seek(self._at)
            for line in self._lines(source):
                if line.problem is not None:
                    self._tell(damage_warning(self._files, line))
                if line.message is not None:
                    self._after = line.message["idx"]
                    yield line.message
            self._seen = stat_of(state)

    def _lines(self, source: BinaryIO) -> Iterator[Line]:
        """Yield the lines that are whole; one without its end is still being written."""
        while True:
            if self._within:
                self._skip(source)
                if self._within:
                    return
            raw = source.readline(LINE_LIMIT + 1)
            at = self._at
            if raw.endswith(b"\n"):
                self._at += len(raw)
                yield from lines_of(0, at, raw, finished=True)
            elif len(raw) > LINE_LIMIT:
                self._at += len(raw)
                self._within = True
                yield Line(0, at, b"", None, TOO_LONG)
            else:
                return

    def _skip(self, source: BinaryIO) -> None:
        while self._within and (piece := source.readline(_PIECE)):
            self._at += len(piece)
            self._within = not piece.endswith(b"\n")


def _end_of(fd: int, size: int, after: int) -> int:
    """Return where the last message of an idx ends, or else the last one below it."""
    below = None
    found = 0
    for line in lines_backward(fd, size):
        if line.message is None:
            continue
        found += 1
        idx = line.message["idx"]
        if idx == after:
            return line.at + len(line.raw)
        if idx < after and below is None:
            below = line.at + len(line.raw)
        if below is not None and found >= _LOOK_BACK:
            break
    return below or 0
