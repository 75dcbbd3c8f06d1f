"""``files.json``: size, mtime, inode and CRC-32 of the record file of each document."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator, Sequence

import orjson

from openclaw_cli.errors import DamagedError
from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file.base import Base
from openclaw_cli.index.file.metadata import json_list

_NAMES = ("size", "after", "inode", "crc")
_TYPES = ("q", "q", "Q", "I")

#: A record file's size, mtime in ns, inode, and the CRC-32 of its bytes.
Stat = tuple[int, int, int, int]
UNKNOWN: Stat = (0, 0, 0, 0)


class Stats:
    """The stats of many files in a few bytes each, by ordinal."""

    __slots__ = ("_columns",)

    def __init__(self, columns: Sequence[Sequence[int]] = ((), (), (), ())) -> None:
        self._columns: tuple[array[int], ...] = tuple(map(array, _TYPES, columns))

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, ordinal: int) -> Stat:
        size, time, inode, crc = self._columns
        return size[ordinal], time[ordinal], inode[ordinal], crc[ordinal]

    def __setitem__(self, ordinal: int, stat: Stat) -> None:
        for column, value in zip(self._columns, stat, strict=True):
            column[ordinal] = value

    @property
    def checksums(self) -> Sequence[int]:
        """The CRC-32 of every file."""
        return self._columns[3]

    def append(self, stat: Stat) -> None:
        """Add the stat of one more file."""
        size, time, inode, crc = self._columns
        size.append(stat[0])
        time.append(stat[1])
        inode.append(stat[2])
        crc.append(stat[3])

    def of(self, ordinals: Sequence[int] | None) -> Stats:
        """Return a copy of all, or of those of the ordinals."""
        if ordinals is None:
            return Stats(self._columns)
        return Stats([array(c.typecode, map(c.__getitem__, ordinals)) for c in self._columns])

    def extend(self, more: Stats) -> None:
        """Add the stats of further files."""
        for column, other in zip(self._columns, more._columns, strict=True):
            column.extend(other)

    def encoded(self, scanned: int) -> Iterator[bytes]:
        """Yield the bytes of the cache; times are told from the oldest on, which is shorter.

        ``scanned`` is when (ns) the oldest of the stats was taken.
        """
        oldest = min(self._columns[1], default=0)
        yield orjson.dumps({"scanned": scanned, "oldest": oldest})[:-1]
        for name, column in zip(_NAMES, self._columns, strict=True):
            yield b"," + orjson.dumps(name) + b":"
            yield from json_list(column, oldest if name == "after" else 0)
        yield b"}"


def read_stats(base: Base) -> tuple[Stats, int]:
    """Return the stat cache of a generation by ordinal, and when (ns) it was taken.

    A cache that is not sound is no loss: then nothing is known, and every file is read.
    """
    try:
        data = base.trusted(layout.STAT_CACHE)
        head = orjson.loads(data[: data.find(b',"size":')] + b"}")
        oldest, scanned = head["oldest"], head["scanned"]
        # One column after another: all of them at once are many times what is kept of them.
        columns = [array(c, _column(data, n)) for n, c in zip(_NAMES, _TYPES, strict=True)]
        columns[1] = array("q", [oldest + time for time in columns[1]])
        if {base.count} == set(map(len, columns)) and isinstance(scanned, int):
            return Stats(columns), scanned
    except (DamagedError, ValueError, KeyError, TypeError, OverflowError):
        pass
    return Stats([[0] * base.count] * len(_NAMES)), 0


def _column(data: mmap.mmap | bytes, name: str) -> list[int]:
    label = b'"%b":' % name.encode()
    begin = data.find(label) + len(label)
    column: list[int] = orjson.loads(data[begin : data.find(b"]", begin) + 1])
    return column
