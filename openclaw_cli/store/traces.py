"""Traces of what is to be forgotten: its ids and texts in every form that they have on disk."""

from __future__ import annotations

import json
import os
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.store import files
from openclaw_cli.store.patterns import Patterns

#: A text shorter than this (in characters) is no one's in particular.
SHORTEST = 8
#: Of a longer form so many bytes are looked for.
_LONGEST = 64 << 10
_LONGEST_NAME = 128
_BLOCK = 4 << 20
#: Between two files in one piece: no text and no name goes across.
_GAP = b"\0" * 8
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
        self._short = {name for name in self._ids if len(name) < SHORTEST}
        self._texts = {text for text in texts if len(text.strip()) >= SHORTEST}
        self._user = None if user is None else _user_pattern(user)

    @cached_property
    def _patterns(self) -> Patterns:
        texts = (form[:_LONGEST] for text in self._texts for form in forms(text))
        return Patterns(self._ids - self._short, texts)

    def count(self, data: bytes, *, user: bool = True) -> int:
        """Return how many traces ``data`` holds, those of the user's own name only if wanted."""
        matches = sum(1 for _place in self._places(data))
        if user and self._user is not None:
            matches += len(self._user.findall(data))
        return matches

    def _places(self, data: bytes) -> Iterator[int]:
        for place, is_id in self._patterns.places(data):
            if not is_id or _is_name(data, place, self._ids):
                yield place
        if self._short:
            for match in _NAME.finditer(data):
                start = match.start() + _escaped(data, match.start())
                if _stands_alone(data, start, self._short):
                    yield start

    def below(self, folder: Path) -> Iterator[Found]:
        """Read every file below ``folder``, also what is compressed in it, and count its traces.

        The name of a file counts as part of it; the user's own name does not count.
        """
        heap = _Heap(self._places)
        for parent, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted([*names, *folders]):
                path = Path(parent, name)
                heap.add(path, os.fsencode(name))
                if path.is_symlink():
                    heap.add(path, os.fsencode(os.readlink(path)))
                elif name not in folders:
                    heap.read(path)
                if heap.is_full:
                    yield from heap.emptied()
        yield from heap.emptied()


class _Heap:
    """Many small files in one piece of bytes, because each search has its price."""

    def __init__(self, places: Callable[[bytes], Iterator[int]]) -> None:
        self._places = places
        self._parts: list[bytes] = []
        self._starts: list[int] = []
        self._of: list[Path] = []
        self._length = 0
        self._found: dict[Path, Found] = {}

    @property
    def is_full(self) -> bool:
        return self._length >= _BLOCK

    def add(self, path: Path, data: bytes, size: int = 0) -> None:
        """Add bytes of a file, ``size`` of which stand in it as they are."""
        known = self._found.get(path) or Found(path, 0, 0)
        self._found[path] = known._replace(size=known.size + size)
        self._of.append(path)
        self._starts.append(self._length)
        self._parts += (data, _GAP)
        self._length += len(data) + len(_GAP)

    def read(self, path: Path) -> None:
        """Add what a file holds."""
        try:
            for block, size in _blocks(path):
                self.add(path, block, size)
                if self.is_full:
                    self._search()
        except FileNotFoundError:
            return
        except (OSError, ValueError, zlib.error) as error:
            self._found[path] = self._found[path]._replace(problem=str(error))

    def _search(self) -> None:
        for place in self._places(b"".join(self._parts)):
            path = self._of[bisect_right(self._starts, place) - 1]
            known = self._found[path]
            self._found[path] = known._replace(matches=known.matches + 1)
        self._parts, self._starts, self._of, self._length = [], [], [], 0

    def emptied(self) -> Iterator[Found]:
        """Search what is there and yield what was found in each file."""
        self._search()
        for item in self._found.values():
            if item.matches or item.path.is_symlink() or not item.path.is_dir():
                yield item
        self._found = {}


def _user_pattern(user: str) -> re.Pattern[bytes]:
    values = b"|".join(re.escape(form) for form in sorted(forms(user)))
    return re.compile(rb'\\?"userId\\?"\s*:\s*\\?"(?:' + values + rb')\\?"')


def _escaped(data: bytes, start: int) -> int:
    """Return how many bytes of a word at ``start`` belong to an escape before it."""
    if data[start - 1 : start] != b"\\":
        return 0
    return 5 if data[start : start + 1] == b"u" else 1


def _is_name(data: bytes, place: int, ids: set[bytes]) -> bool:
    """Tell whether one of the names stands at ``place``, and not a longer word around it."""
    begin = place
    while begin and _NAME.match(data, begin - 1, begin):
        begin -= 1
        if place - begin > 2 * _LONGEST_NAME:
            return False
    if begin + _escaped(data, begin) != place:
        return False
    match = _NAME.match(data, place)
    return match is not None and bool(_stem(match[0], ids))


def _stem(word: bytes, ids: set[bytes]) -> bytes:
    """Return the name that a word is, or is with a full stop or a file's suffix after it."""
    while word not in ids:
        cut = len(word) - 1 if word.endswith(b"-") else word.rfind(b".")
        if cut < 0:
            return b""
        word = word[:cut]
    return word


def _stands_alone(data: bytes, start: int, ids: set[bytes]) -> bool:
    """Tell a short name from a word of some text: it is quoted, or the name of a file."""
    match = _NAME.match(data, start)
    name = _stem(match[0], ids) if match else b""
    before, after = data[max(0, start - 1) : start], data[start + len(name) :][:1]
    if not name or before not in (b"", b"\0", b'"', b"'", b"/"):
        return False
    return after in (b"", b"\0", b'"', b"'", b".", b"\\")


def _blocks(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield what a file holds, also compressed, in overlapping blocks, and how much was read."""
    fd = files.open_regular(path)
    with os.fdopen(fd, "rb") as source:
        tail = b""
        inner = _Inflated()
        while block := source.read(_BLOCK):
            yield tail + block, len(block)
            tail = block[-_LONGEST:]
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
                self._tail = (self._tail + piece)[-_LONGEST:]
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                # Another member may follow; zeros may pad the file.
                data = self._stream.unused_data.lstrip(b"\0")
                self._stream = zlib.decompressobj(wbits=31)
