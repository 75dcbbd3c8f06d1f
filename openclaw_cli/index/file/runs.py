"""More lines than are to be held in memory, in order: sorted runs in files, merged when read.

A line is ``KEY``, a tab, ten digits that tell where it stands among those of its key, and a rest;
it ends with a line end. A key is JSON, in which no tab stands as it is, so whole lines sort by key.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from openclaw_cli.store.newfile import scratch

_DIGITS = 10
_BLOCK = 1 << 17
_PIECES = 1024


def line_of(key: bytes, place: int, rest: bytes = b"") -> bytes:
    """Return the line of a key that stands at ``place`` among those of the same key."""
    return b"%b\t%010d%b\n" % (key, place, rest)


class SortedRuns:
    """Takes runs of sorted lines, and yields all of them in order.

    Every run lies in a file without a name, made in ``folder``: nothing is left of it when the
    process is killed. Used as a context, which closes the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: list[BinaryIO] = []
        self._stack = ExitStack()

    def __enter__(self) -> SortedRuns:
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def __len__(self) -> int:
        return len(self._files)

    def spill(self, lines: Iterable[bytes]) -> None:
        """Put a run away."""
        pieces = iter(lines)
        blocks = iter(lambda: b"".join(islice(pieces, _PIECES)), b"")
        name = self._folder / f"run.{len(self._files)}"
        self._files.append(self._stack.enter_context(scratch(name, blocks)))

    def merged(self) -> Iterator[bytes]:
        """Yield the lines of all runs in order; to be called once."""
        blocks: list[list[bytes]] = [[] for _file in self._files]
        ended = [False] * len(self._files)
        while True:
            for number, file in enumerate(self._files):
                if not blocks[number] and not ended[number]:
                    blocks[number] = file.readlines(_BLOCK)
                    ended[number] = not blocks[number]
            ends = [block[-1] for block in blocks if block]
            if not ends:
                return
            # What is at most the least of the last lines read cannot be preceded by what is unread.
            yield from _up_to(min(ends), blocks)


def _up_to(limit: bytes, blocks: list[list[bytes]]) -> Sequence[bytes]:
    """Take the lines up to ``limit`` out of the blocks, sorted."""
    lines: list[bytes] = []
    for number, block in enumerate(blocks):
        count = bisect_right(block, limit)
        lines += block[:count]
        blocks[number] = block[count:]
    lines.sort()
    return lines


def grouped(lines: Iterable[bytes]) -> Iterator[tuple[bytes, list[bytes]]]:
    """Yield each key, and what stands after it in each of its lines: ten digits and the rest."""
    group: list[bytes] = []
    last = b""
    for line in lines:
        key, _tab, rest = line.partition(b"\t")
        if key == last:
            group.append(rest[:-1])
            continue
        if group:
            yield last, group
        last, group = key, [rest[:-1]]
    if group:
        yield last, group


def place_in(rest: bytes) -> int:
    """Return the place that a line's digits tell."""
    return int(rest[:_DIGITS])


def after_place(rest: bytes) -> bytes:
    """Return what follows on the digits."""
    return rest[_DIGITS:]
