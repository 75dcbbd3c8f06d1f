"""Traces of what is to be forgotten: its ids and texts in every form that they have on disk."""

from __future__ import annotations

import os
import re
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.store import files
from openclaw_cli.store.patterns import Patterns

#: A text shorter than this (in characters) is no one's in particular; one of Han, kana or Hangul
#: says as much as two letters.
SHORTEST = 8
_DENSE = re.compile(
    "[\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]"
)
#: Of a longer form so many bytes are looked for.
_LONGEST = 64 << 10
#: Escaped twice, a character may take many times the bytes.
_OVERLAP = 8 * _LONGEST
_DEPTH = 3
_BLOCK = 4 << 20
#: Between two files in one piece: no text and no name goes across.
_GAP = b"\0" * 8
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.",
    re.DOTALL,
)
_SHORT_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f"}
_NAME = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._-]*")
_PART = re.compile(rb"[A-Za-z0-9._-]")
_GZIP = b"\x1f\x8b\x08"


class Found(NamedTuple):
    """A file below a folder that was read through, and how many traces it holds.

    ``problem`` tells why a file could not be read through.
    """

    path: Path
    size: int
    matches: int
    problem: str | None = None


def readings(data: bytes) -> list[bytes]:
    """Return ``data`` as it is, without its JSON escapes, and without those that this uncovers.

    So a text is found whichever characters a writer of JSON chose to escape, and in what way, also
    within a JSON text that stands in another; line ends are alike in all of them.
    """
    found = [data]
    while b"\\" in found[-1] and len(found) < _DEPTH:
        found.append(_ESCAPE.sub(_unescaped, found[-1]))
    return [reading.replace(b"\r\n", b"\n") for reading in found]


def _unescaped(match: re.Match[bytes]) -> bytes:
    escape = match[0]
    if len(escape) == 2:
        return _SHORT_ESCAPES.get(escape[1:], escape[1:])
    units = [int(part, 16) for part in escape.split(b"\\u")[1:]]
    code = units[0]
    if len(units) == 2:
        code = 0x10000 + ((units[0] - 0xD800) << 10) + (units[1] - 0xDC00)
    return chr(code).encode("utf-8", "surrogatepass")


def tells(text: str) -> bool:
    """Tell whether a text is long enough to be looked for: others may say a shorter one, too."""
    said = text.strip()
    return len(said) >= SHORTEST or len(said) + len(_DENSE.findall(said)) >= SHORTEST


def _flat(text: str) -> bytes:
    return text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")


class Traces:
    """What to look for; ``user`` also finds JSON that says it is of that user."""

    def __init__(self, ids: Iterable[str], texts: Iterable[str], user: str | None = None) -> None:
        self._ids = {name.encode("ascii") for name in ids}
        self._short = {name for name in self._ids if len(name) < SHORTEST}
        flat = {_flat(text)[:_LONGEST] for text in texts if tells(text)}
        self._texts = {text for text in flat if len(text) >= SHORTEST}
        #: Texts that have fewer bytes when their line ends are those of the readings.
        self._brief = flat - self._texts
        self._user = None
        if user is not None:
            self._user = re.compile(rb'"userId"\s*:\s*"' + re.escape(_flat(user)) + rb'"')

    @cached_property
    def _patterns(self) -> Patterns:
        return Patterns(self._ids - self._short, self._texts)

    def count(self, data: bytes, *, user: bool = True) -> int:
        """Return how many traces ``data`` holds, those of the user's own name only if wanted."""
        found = 0
        for reading in readings(data):
            matches = sum(1 for _place in self._places(reading))
            if user and self._user is not None:
                matches += len(self._user.findall(reading))
            found = max(found, matches)
        return found

    def are_in(self, path: Path) -> bool:
        """Tell whether a file of any length holds traces; raises as `files.open_regular` does."""
        with suppress(zlib.error):
            return any(self.count(block) for block, _size in _blocks(path))
        return False  # what came before the damage has been looked at

    def owner_count(self, data: bytes) -> int:
        """Return how often ``data`` says that something is the user's."""
        if self._user is None:
            return 0
        return max(len(self._user.findall(reading)) for reading in readings(data))

    def _places(self, data: bytes) -> Iterator[int]:
        for place, is_id in self._patterns.places(data):
            if not is_id or _is_name(data, place, self._ids):
                yield place
        for text in self._brief:
            yield from (match.start() for match in re.finditer(re.escape(text), data))
        if self._short:
            for match in _NAME.finditer(data):
                if _stands_alone(data, match, self._short):
                    yield match.start()

    def _all_places(self, data: bytes) -> Iterator[int]:
        yield from self._places(data)
        if self._user is not None:
            yield from (match.start() for match in self._user.finditer(data))

    def below(self, folder: Path) -> Iterator[Found]:
        """Read every file below ``folder``, also what is compressed in it, and count its traces.

        The name of a file counts as part of it.
        """
        heap = _Heap(self._places if self._user is None else self._all_places)
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
        self._of: list[tuple[Path, int]] = []
        self._length = 0
        self._found: dict[Path, Found] = {}
        self._counts: Counter[tuple[Path, int]] = Counter()

    @property
    def is_full(self) -> bool:
        return self._length >= _BLOCK

    def add(self, path: Path, data: bytes, size: int = 0) -> None:
        """Add bytes of a file, ``size`` of which stand in it as they are."""
        known = self._found.get(path) or Found(path, 0, 0)
        self._found[path] = known._replace(size=known.size + size)
        for depth, reading in enumerate(readings(data)):
            self._of.append((path, depth))
            self._starts.append(self._length)
            self._parts += (reading, _GAP)
            self._length += len(reading) + len(_GAP)

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
            self._counts[self._of[bisect_right(self._starts, place) - 1]] += 1
        self._parts, self._starts, self._of, self._length = [], [], [], 0

    def emptied(self) -> Iterator[Found]:
        """Search what is there and yield what was found in each file."""
        self._search()
        for path, item in self._found.items():
            matches = max(self._counts[path, depth] for depth in range(_DEPTH))
            if matches or path.is_symlink() or not path.is_dir():
                yield item._replace(matches=matches)
        self._found = {}
        self._counts.clear()


def _is_name(data: bytes, place: int, ids: set[bytes]) -> bool:
    """Tell whether one of the names stands at ``place``, and not a longer word around it."""
    match = _NAME.match(data, place)
    before = data[place - 1 : place] if place else b""
    return match is not None and not _PART.match(before) and bool(_stem(match[0], ids))


def _stem(word: bytes, ids: set[bytes]) -> bytes:
    """Return the name that a word is, or is with a full stop or the suffix of a file after it."""
    for name in (word, word.rstrip(b".-"), word.partition(b".json")[0]):
        if name in ids:
            return name
    return b""


def _stands_alone(data: bytes, match: re.Match[bytes], ids: set[bytes]) -> bool:
    """Tell a short name from a word of some text: it is quoted, or the name of a file."""
    name, start = _stem(match[0], ids), match.start()
    before, after = data[max(0, start - 1) : start], data[start + len(name) :][:1]
    if not name or before not in (b"", b"\0", b'"', b"'", b"/"):
        return False
    return after in (b"", b"\0", b'"', b"'", b".")


def _blocks(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield what a file holds, also compressed, in overlapping blocks, and how much was read."""
    fd = files.open_regular(path)
    with os.fdopen(fd, "rb") as source:
        tail = b""
        inner = _Inflated()
        while block := source.read(_BLOCK):
            yield tail + block, len(block)
            tail = block[-_OVERLAP:]
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
                self._tail = (self._tail + piece)[-_OVERLAP:]
            data = self._stream.unconsumed_tail
            if self._stream.eof:
                # Another member may follow; zeros may pad the file.
                data = self._stream.unused_data.lstrip(b"\0")
                self._stream = zlib.decompressobj(wbits=31)
