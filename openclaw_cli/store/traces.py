"""Traces of what is to be forgotten: its ids and texts in every form that they have on disk."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from openclaw_cli.store import files

if TYPE_CHECKING:
    import numpy

#: A text shorter than this (in characters) is no one's in particular.
SHORTEST = 8
#: Of a longer form only this many bytes at its beginning and at its end are looked for.
_EDGE = 192
_WINDOW = 8
_BLOCK = 8 << 20
_BITS = 20
_MULTIPLIER = 0x9E3779B97F4A7C15
_UNICODE_ESCAPE = re.compile(r"\\u[0-9a-f]{4}")
_NAME = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]*")
_GZIP = b"\x1f\x8b\x08"


class Found(NamedTuple):
    """A file below a folder that was read through, and how many traces it holds.

    ``problem`` tells why a file could not be read through.
    """

    path: Path
    size: int
    matches: int
    problem: str | None = None


def forms(text: str) -> set[bytes]:
    """Return the bytes by which a text can stand in a file.

    Raw UTF-8, escaped as JSON does with and without its ``\\uXXXX`` form (in small and in capital
    letters), and escaped once more, as JSON within a JSON text is.
    """
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    lower = json.dumps(text)[1:-1]
    upper = _UNICODE_ESCAPE.sub(lambda found: "\\u" + found[0][2:].upper(), lower)
    found = {text, plain, lower, upper}
    found |= {form.replace("/", "\\/") for form in (plain, lower, upper)}
    found |= {json.dumps(form)[1:-1] for form in (lower, upper)}
    found.add(json.dumps(plain, ensure_ascii=False)[1:-1])
    return {form.encode("utf-8", "surrogatepass") for form in found}


class Traces:
    """What to look for; ``user`` also finds JSON that says it is of that user."""

    def __init__(self, ids: Iterable[str], texts: Iterable[str], user: str | None = None) -> None:
        self._ids = {name.encode("ascii") for name in ids}
        self._texts = {text for text in texts if len(text.strip()) >= SHORTEST}
        self._user = None if user is None else _user_pattern(user)

    @cached_property
    def _patterns(self) -> _Patterns:
        return _Patterns(
            edge for text in self._texts for form in forms(text) for edge in _edges(form)
        )

    def count(self, data: bytes, *, user: bool = True) -> int:
        """Return how many traces ``data`` holds, those of the user's own name only if wanted."""
        matches = sum(1 for _name in self._names(data)) + self._patterns.count(data)
        if user and self._user is not None:
            matches += len(self._user.findall(data))
        return matches

    def _names(self, data: bytes) -> Iterator[bytes]:
        if not self._ids:
            return
        for match in _NAME.finditer(data):
            start, word = match.start(), match[0]
            if data[start - 1 : start] == b"\\" and start:
                # What an escape begins with is not part of the name: \n, \u4e2d.
                start += 5 if word[:1] == b"u" else 1
                word = data[start : match.end()]
            name = _stem(word, self._ids)
            if name and (len(name) >= SHORTEST or _stands_alone(data, start, len(name))):
                yield name

    def below(self, folder: Path) -> Iterator[Found]:
        """Read every file below ``folder``, also what is compressed in it, and count its traces.

        The name of a file counts as part of it; the user's own name does not count.
        """
        for parent, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted([*names, *folders]):
                path = Path(parent, name)
                if name in folders and not path.is_symlink():
                    matches = self.count(os.fsencode(name), user=False)
                    if matches:
                        yield Found(path, 0, matches)
                    continue
                yield self._file(path)

    def _file(self, path: Path) -> Found:
        matches = self.count(os.fsencode(path.name), user=False)
        if path.is_symlink():
            return Found(path, 0, matches + self.count(os.fsencode(os.readlink(path)), user=False))
        size = 0
        try:
            for block, read in _blocks(path):
                size += read
                matches += self.count(block, user=False)
        except FileNotFoundError:
            return Found(path, size, matches)
        except (OSError, ValueError, zlib.error) as error:
            return Found(path, size, matches, str(error))
        return Found(path, size, matches)


def _user_pattern(user: str) -> re.Pattern[bytes]:
    values = b"|".join(re.escape(form) for form in sorted(forms(user)))
    return re.compile(rb'\\?"userId\\?"\s*:\s*\\?"(?:' + values + rb')\\?"')


def _stem(word: bytes, ids: set[bytes]) -> bytes:
    """Return the name that a word is, or is with a full stop or a file's suffix after it."""
    while word not in ids:
        cut = len(word) - 1 if word.endswith(b"-") else word.rfind(b".")
        if cut < 0:
            return b""
        word = word[:cut]
    return word


def _stands_alone(data: bytes, start: int, length: int) -> bool:
    """Tell a short name from a word of some text: it is quoted, or the name of a file."""
    before, after = data[max(0, start - 1) : start], data[start + length : start + length + 1]
    return before in (b"", b'"', b"'", b"/") and after in (b"", b'"', b"'", b".", b"\\")


def _edges(form: bytes) -> Iterator[bytes]:
    yield form[:_EDGE]
    if len(form) > _EDGE:
        yield form[-_EDGE:]


def _blocks(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield what a file holds, also compressed, in overlapping blocks, and how much was read."""
    fd = files.open_regular(path)
    with os.fdopen(fd, "rb") as source:
        tail = b""
        inner = _Inflated()
        while block := source.read(_BLOCK):
            yield tail + block, len(block)
            tail = block[-2 * _EDGE :]
            for piece in inner.feed(block):
                yield piece, 0


class _Inflated:
    """What a gzip file holds, in overlapping pieces; nothing for any other file."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)
        self._is_gzip: bool | None = None
        self._tail = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._is_gzip is None:
            self._is_gzip = data.startswith(_GZIP)
        while self._is_gzip and data:
            piece = self._stream.decompress(data, _BLOCK)
            if piece:
                yield self._tail + piece
                self._tail = (self._tail + piece)[-2 * _EDGE :]
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                # Another member may follow; zeros may pad the file.
                data = self._stream.unused_data.lstrip(b"\0")
                self._stream = zlib.decompressobj(wbits=31)


class _Patterns:
    """Many byte strings of at least 8 bytes, looked for all at once.

    Every window of 8 bytes is hashed and asked of a table of bits; the few that may begin a
    pattern are compared.
    """

    def __init__(self, patterns: Iterable[bytes]) -> None:
        self._by_start: dict[bytes, dict[int, set[bytes]]] = {}
        for pattern in patterns:
            start = self._by_start.setdefault(pattern[:_WINDOW], {})
            start.setdefault(len(pattern), set()).add(pattern)

    @cached_property
    def _table(self) -> numpy.ndarray:
        import numpy

        starts = numpy.frombuffer(b"".join(self._by_start), "<u8")
        table = numpy.zeros(1 << _BITS, bool)
        table[_hashed(starts)] = True
        return table

    def count(self, data: bytes) -> int:
        """Return at how many places of ``data`` one of the patterns begins."""
        if not self._by_start or len(data) < _WINDOW:
            return 0
        if len(data) < 4096:
            return sum(self._begins(data, at) for at in range(len(data) - _WINDOW + 1))
        import numpy

        total = 0
        for shift in range(_WINDOW):
            windows = numpy.frombuffer(data, "<u8", (len(data) - shift) // _WINDOW, shift)
            places = numpy.nonzero(self._table[_hashed(windows)])[0]
            total += sum(self._begins(data, int(at) * _WINDOW + shift) for at in places)
        return total

    def _begins(self, data: bytes, at: int) -> bool:
        lengths = self._by_start.get(data[at : at + _WINDOW])
        if lengths is None:
            return False
        return any(data[at : at + length] in held for length, held in lengths.items())


def _hashed(windows: numpy.ndarray) -> numpy.ndarray:
    import numpy

    with numpy.errstate(over="ignore"):
        return (windows * numpy.uint64(_MULTIPLIER)) >> numpy.uint64(64 - _BITS)
