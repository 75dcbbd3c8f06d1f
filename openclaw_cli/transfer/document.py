"""One JSON document that holds many records, read record by record in constant memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from openclaw_cli.errors import UsageError
from openclaw_cli.transfer.kinds import joined
from openclaw_cli.transfer.values import decode

#: The longest line or record that is taken, in bytes.
LONGEST = 64 << 20
_CHUNK = 1 << 18
_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"')
_SCALAR = re.compile(rb'[^\s,:"{}\[\]]++')
# Everything up to the next bracket, or to a quote that begins an unfinished string.
_FLAT = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")*+')
_REMARKABLE = 4096


class Piece(NamedTuple):
    """One record of a file: its line (or its place in the document, from 1), value or problem."""

    number: int
    value: Any
    problem: str | None = None


class NotADocument(NamedTuple):
    """The file is no document of records; ``spans_lines`` tells that its first object does."""

    spans_lines: bool = False


class Window:
    """A part of a stream in memory: what lies before ``at`` may go, the rest grows at its end."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.data = b""
        self.at = 0

    def more(self) -> bool:
        """Read on; False at the end of the stream."""
        part = self._stream.read(max(_CHUNK, len(self.data)))
        self.data += part
        return bool(part)

    def drop(self) -> None:
        """Let go of what lies before ``at``."""
        if self.at >= _CHUNK:
            self.data, self.at = self.data[self.at :], 0

    def rest(self) -> BinaryIO:
        """Return all of the stream that is still known, from its beginning, to be read anew."""
        return joined(self.data, self._stream)

    def peek(self) -> bytes:
        """Return the next byte that is no white space, b"" at the end."""
        while True:
            self.at = _at(_SPACE, self.data, self.at)
            if self.at < len(self.data):
                return self.data[self.at : self.at + 1]
            if not self.more():
                return b""

    def value_end(self) -> int | None:
        """Return where the value at ``at`` ends; None when it is malformed or cut off."""
        first = self.data[self.at : self.at + 1]
        if first in (b"{", b"["):
            return self._balanced()
        pattern = _STRING if first == b'"' else _SCALAR
        while True:
            match = pattern.match(self.data, self.at)
            if match is not None and (first == b'"' or match.end() < len(self.data)):
                return match.end()
            if self._is_broken(self.at) or not self.more():
                return match.end() if match is not None else None

    def _balanced(self) -> int | None:
        place, depth = self.at, 0
        while True:
            place = _at(_FLAT, self.data, place)
            sign = self.data[place : place + 1]
            if not sign or sign == b'"':
                if (sign and self._is_broken(place)) or not self.more():
                    return None
                continue
            depth += 1 if sign in b"{[" else -1
            place += 1
            if depth == 0:
                return place

    def _is_broken(self, place: int) -> bool:
        """Tell whether more bytes cannot end the string that begins at ``place``."""
        if len(self.data) - self.at > LONGEST:
            return True
        return self.data[place : place + 1] == b'"' and b"\n" in self.data[place:]


def _at(pattern: re.Pattern[bytes], data: bytes, place: int) -> int:
    match = pattern.match(data, place)
    return place if match is None else match.end()


class Records:
    """The list of records of a document, with the small members that stand before it."""

    def __init__(self, window: Window, head: dict[str, Any], *, bare: bool = False) -> None:
        self.head = head
        self._bare = bare
        self._window = window

    def __iter__(self) -> Iterator[Piece]:
        """Yield the records; where the document breaks off there is a last piece with a problem."""
        number = 0
        for number, raw in enumerate(self.raw(), 1):
            if raw is None:
                break
            yield Piece(number, *decode(raw))
        else:
            _members, problem = self.tail()
            if problem is not None:
                yield Piece(number + 1, None, problem)
            return
        yield Piece(number, None, "the document breaks off or is malformed here")

    def raw(self) -> Iterator[bytes | None]:
        """Yield the bytes of each record; None where the document cannot be read on."""
        window = self._window
        window.at += 1
        first = True
        while (sign := window.peek()) != b"]":
            if not first:
                if sign != b",":
                    yield None
                    return
                window.at += 1
                window.peek()
            end = window.value_end() if window.at < len(window.data) else None
            if end is None:
                yield None
                return
            start, window.at, first = window.at, end, False
            yield window.data[start:end]
            window.drop()
        window.at += 1

    def tail(self) -> tuple[dict[str, Any], str | None]:
        """Return the members that stand behind the records, all of which have been read, and what
        is wrong there: nothing may follow the document, nor a second list of records."""
        window = self._window
        found: dict[str, Any] = {}
        while not self._bare and window.peek() == b",":
            window.at += 1
            name = _member(window)
            if name == "records":
                return found, "the document has a second list of records, which is not read"
            if name is None or not _take(window, found, name):
                return found, "the document is malformed behind its records"
        if not self._bare:
            if window.peek() != b"}":
                return found, "the document breaks off behind its records"
            window.at += 1
        return found, "more follows the end of the document" if window.peek() else None


def records_of(window: Window) -> Records | NotADocument:
    """Return the records of a document or of a list, or what the file begins with instead."""
    sign = window.peek()
    if sign == b"[":
        return Records(window, {}, bare=True)
    if sign != b"{":
        return NotADocument()
    head: dict[str, Any] = {}
    window.at += 1
    while window.peek() == b'"':
        name = _member(window)
        if name is None:
            return NotADocument()
        if name == "records":
            if window.peek() != b"[":
                raise UsageError("records is not a list")
            return Records(window, head)
        if not _take(window, head, name):
            return NotADocument()
        if window.peek() == b",":
            window.at += 1
    is_whole = window.peek() == b"}"
    return NotADocument(is_whole and b"\n" in window.data[: window.at].strip())


def _member(window: Window) -> str | None:
    """Return the name of the next member and go to its value."""
    if window.peek() != b'"':
        return None
    end = window.value_end()
    if end is None:
        return None
    name, _problem = decode(window.data[window.at : end])
    window.at = end
    if window.peek() != b":" or not isinstance(name, str):
        return None
    window.at += 1
    window.peek()
    return name


def _take(window: Window, members: dict[str, Any], name: str) -> bool:
    """Keep the value of a member, if it is a small one, and go on behind it."""
    end = window.value_end() if window.at < len(window.data) else None
    if end is None:
        return False
    if end - window.at <= _REMARKABLE:
        members[name] = decode(window.data[window.at : end])[0]
    window.at = end
    return True
