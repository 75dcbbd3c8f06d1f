"""Many byte strings looked for all at once, where there is much to look through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

_WINDOW = 8
_WIDER = 4
_SMALL = 1024
_BITS = 20
_MULTIPLIER = 0x9E3779B97F4A7C15


class _Node:
    """Patterns that begin alike: those that end before the next level, and the others by stem."""

    __slots__ = ("ends", "stems")

    def __init__(self) -> None:
        self.ends: dict[int, set[bytes]] = {}
        self.stems: dict[bytes, _Node] = {}


class Patterns:
    """Many byte strings of at least 8 bytes, looked for all at once.

    Every window of 8 bytes is hashed and asked of a table of bits; at the few places where a
    pattern may begin, longer and longer stems are compared.
    """

    def __init__(self, names: Iterable[bytes], texts: Iterable[bytes]) -> None:
        self._names = set(names)
        self._root = _Node()
        for pattern in {*self._names, *texts}:
            node, level = self._root, _WINDOW
            while len(pattern) >= level:
                node = node.stems.setdefault(pattern[:level], _Node())
                level *= _WIDER
            node.ends.setdefault(len(pattern), set()).add(pattern)

    @cached_property
    def _table(self) -> numpy.ndarray:
        import numpy

        starts = numpy.frombuffer(b"".join(self._root.stems), "<u8")
        table = numpy.zeros(1 << _BITS, bool)
        table[_hashed(starts)] = True
        return table

    def places(self, data: bytes) -> Iterator[tuple[int, bool]]:
        """Yield where one of the patterns begins, and whether it is a name."""
        if not self._root.stems or len(data) < _WINDOW:
            return
        for place in self._candidates(data):
            found = self._at(data, place)
            if found is not None:
                yield place, found in self._names

    def _candidates(self, data: bytes) -> Iterator[int]:
        if len(data) < _SMALL:
            yield from range(len(data) - _WINDOW + 1)
            return
        import numpy

        for shift in range(_WINDOW):
            windows = numpy.frombuffer(data, "<u8", (len(data) - shift) // _WINDOW, shift)
            for place in numpy.nonzero(self._table[_hashed(windows)])[0]:
                yield int(place) * _WINDOW + shift

    def _at(self, data: bytes, place: int) -> bytes | None:
        node: _Node | None = self._root
        level = _WINDOW
        while node is not None:
            for length, held in node.ends.items():
                pattern = data[place : place + length]
                if pattern in held:
                    return pattern
            node = node.stems.get(data[place : place + level])
            level *= _WIDER
        return None


def _hashed(windows: numpy.ndarray) -> numpy.ndarray:
    import numpy

    with numpy.errstate(over="ignore"):
        return (windows * numpy.uint64(_MULTIPLIER)) >> numpy.uint64(64 - _BITS)
