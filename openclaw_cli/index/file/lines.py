"""JSON Lines sorted bytewise: readable with ``less``, found by binary search in mapped memory.

Each line is a JSON array whose leading texts are its key; sorting whole lines sorts by key.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import orjson

from openclaw_cli.store import files

_HELD = 4 << 20


def key_of(*parts: str) -> bytes:
    """Return the bytes that a line with these leading texts begins with, comma included."""
    return orjson.dumps(parts)[:-1] + b","


def key_in(line: bytes, parts: int) -> bytes:
    """Return the key of a line whose first ``parts`` members are texts."""
    return key_of(*orjson.loads(line)[:parts])


class SortedLines:
    """The sorted lines of a mapped file, after a first line that is left to the caller."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._data = data
        self._end = len(data)
        self._start = data.find(b"\n") + 1

    @property
    def first(self) -> bytes:
        """The first line, without its line end."""
        return self._data[: max(0, self._start - 1)]

    def find(self, key: bytes) -> bytes | None:
        """Return the line that begins with ``key``, or None. O(log n) page touches."""
        data = self._data
        low, high = self._start, self._end
        width = len(key)
        while low < high:
            middle = (low + high) // 2
            begin = data.rfind(b"\n", low, middle) + 1 or low
            end = data.find(b"\n", middle, self._end)
            end = self._end if end < 0 else end
            head = data[begin : begin + width]
            if head == key:
                return data[begin:end]
            # A head cut short by its line end compares right as well: "\n" sorts before all else.
            if head < key:
                low = end + 1
            else:
                high = begin
        return None

    def __iter__(self) -> Iterator[bytes]:
        """Yield every sorted line without its line end; what has been read is let go."""
        data = self._data
        begin = self._start
        held = 0
        while begin < self._end:
            if begin - held >= _HELD:
                files.release(data, held, held + _HELD)
                held += _HELD
            end = data.find(b"\n", begin)
            end = self._end if end < 0 else end
            yield data[begin:end]
            begin = end + 1
