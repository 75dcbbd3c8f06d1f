"""``bm25.idx``: which documents hold a term, and how often.

Line 1 is ``{"format":2,"tokenizer":…,"buckets":{"zh":{"totalDocs":n,"totalTokens":n},…}}``; then
one line per bucket and term, ``["zh","部署",[doc,…],[tf,…]]``, documents by ordinal, ascending.
"""

from __future__ import annotations

import mmap
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

import orjson

from openclaw_cli.index.file.lines import SortedLines, key_in, key_of
from openclaw_cli.index.file.runs import SortedRuns, after_place, grouped, line_of

FORMAT = 2
#: As many ordinals of new documents are held in memory: some 60 MB, those of 100,000 notes.
ORDINALS_HELD = 4_500_000


class PostingsFile:
    """A mapped ``bm25.idx``."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        self._lines = SortedLines(data)
        header = orjson.loads(self._lines.first)
        self.tokenizer: str = header["tokenizer"]
        self.buckets: dict[str, tuple[int, int]] = {
            name: (stats["totalDocs"], stats["totalTokens"])
            for name, stats in header["buckets"].items()
        }

    def find(self, bucket: str, term: str) -> tuple[list[int], list[int]] | None:
        """Return (ordinals, frequencies) of a term, or None when no document holds it."""
        line = self._lines.find(key_of(bucket, term))
        if line is None:
            return None
        _bucket, _term, ordinals, frequencies = orjson.loads(line)
        return ordinals, frequencies

    def __iter__(self) -> Iterator[bytes]:
        """Yield the posting lines in order."""
        return iter(self._lines)


class _Lists(dict[str, "array[int]"]):
    """Term to the ordinals of its documents; a term that is new has none."""

    def __missing__(self, term: str) -> array[int]:
        ordinals = array("I")
        self[term] = ordinals
        return ordinals


class PostingsBuilder:
    """Gathers the terms of new documents: for each one its ordinals, repeated by its frequency.

    What is done for every term of every document is a loop of the interpreter's own. Whenever
    ``limit`` ordinals are held they are put away in ``runs``, so that memory is bounded.
    """

    def __init__(self, runs: SortedRuns, limit: int = ORDINALS_HELD) -> None:
        self._runs = runs
        self._limit = limit
        self._held = 0
        self._ordinals: dict[str, _Lists] = {}
        self._repeated: dict[str, set[str]] = {}
        self.lengths: dict[str, array[int]] = {}

    def add(self, ordinal: int, terms: Mapping[str, Mapping[str, int]]) -> None:
        """Take the terms of document ``ordinal``; ordinals must rise."""
        if self._held >= self._limit:
            self._runs.spill(self._run())
            self._held = 0
        for bucket, frequencies in terms.items():
            if bucket not in self._ordinals:
                self._ordinals[bucket], self._repeated[bucket] = _Lists(), set()
            known = self._ordinals[bucket].__getitem__
            deque(map(array.append, map(known, frequencies), repeat(ordinal)), 0)
            length = sum(frequencies.values())
            if length > len(frequencies):
                more = [term for term, frequency in frequencies.items() if frequency > 1]
                self._repeated[bucket].update(more)
                for term in more:
                    known(term).extend([ordinal] * (frequencies[term] - 1))
            self._held += length
            self._length(bucket, ordinal, length)

    def _length(self, bucket: str, ordinal: int, length: int) -> None:
        lengths = self.lengths.setdefault(bucket, array("I"))
        lengths.frombytes(bytes(lengths.itemsize * (ordinal - len(lengths))))
        lengths.append(length)

    def take_lines(self) -> Iterator[bytes]:
        """Yield the posting lines in order, with line ends, and give up what they were made of."""
        if not len(self._runs):
            for key, ordinals, frequencies in self._taken():
                yield b"%b[%b],[%b]]\n" % (key, ordinals, frequencies)
            return
        self._runs.spill(self._run())
        for key, parts in grouped(self._runs.merged()):
            columns = [after_place(part).split(b"|") for part in parts]
            yield b"%b[%b],[%b]]\n" % (key, *map(b",".join, zip(*columns, strict=True)))

    def _run(self) -> Iterator[bytes]:
        """Yield what is held as lines for `SortedRuns`, and give it up."""
        for key, ordinals, frequencies in self._taken():
            first = int(ordinals.partition(b",")[0])
            yield line_of(key, first, b"%b|%b" % (ordinals, frequencies))

    def _taken(self) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Take the terms out in the order of their lines: key, ordinals and frequencies."""
        for bucket in sorted(self._ordinals):
            repeated = set(map(_place, self._repeated.pop(bucket)))
            terms = self._ordinals.pop(bucket)
            places = {_place(term): ordinals for term, ordinals in terms.items()}
            terms.clear()
            begin = key_of(bucket) + b'"'
            for place in sorted(places):
                ordinals = places.pop(place)
                key = b"%b%b," % (begin, place)
                if place in repeated:
                    counts = Counter(ordinals.tolist())
                    yield key, _numbers(list(counts)), _numbers(list(counts.values()))
                elif len(ordinals) == 1:  # as half of all terms have
                    yield key, b"%d" % ordinals[0], b"1"
                else:
                    yield key, _numbers(ordinals.tolist()), b"1" + b",1" * (len(ordinals) - 1)


def _place(term: str) -> bytes:
    """Return by what the lines of one bucket are sorted: the term as it stands in JSON.

    It is a copy of the right size: what orjson returns holds on to a kilobyte.
    """
    return orjson.dumps(term)[1:]


def _numbers(numbers: list[int]) -> bytes:
    return orjson.dumps(numbers)[1:-1]


def merged_lines(
    old: Iterable[bytes], remap: Sequence[int] | None, new: Iterable[bytes]
) -> Iterator[bytes]:
    """Yield the posting lines of old and new documents together, with line ends as ``new`` has.

    ``remap`` gives an old ordinal its new one, or -1 when the document is gone; None keeps all as
    they are, and then a line without new documents is copied byte for byte.
    """
    fresh = iter(new)
    pending, pending_key = _next(fresh)
    for line in old:
        key = _key(line)
        while pending and pending_key < key:
            yield pending
            pending, pending_key = _next(fresh)
        same = b""
        if pending_key == key:
            same = pending
            pending, pending_key = _next(fresh)
        elif remap is None:
            yield line + b"\n"
            continue
        yield from _rewritten(line, remap, same)
    if pending:
        yield pending
    yield from fresh


def _next(lines: Iterator[bytes]) -> tuple[bytes, bytes]:
    line = next(lines, b"")
    return line, _key(line) if line else b""


def _rewritten(line: bytes, remap: Sequence[int] | None, new: bytes) -> Iterator[bytes]:
    bucket, term, ordinals, frequencies = orjson.loads(line)
    if remap is not None:
        moved = [remap[ordinal] for ordinal in ordinals]
        if min(moved, default=0) < 0:
            frequencies = [f for f, n in zip(frequencies, moved, strict=True) if n >= 0]
            moved = [n for n in moved if n >= 0]
        ordinals = moved
    if new:
        _bucket, _term, more_ordinals, more_frequencies = orjson.loads(new)
        ordinals += more_ordinals
        frequencies += more_frequencies
    if ordinals:
        yield _line(bucket, term, ordinals, frequencies)


def _key(line: bytes) -> bytes:
    # The key ends at the first '",[' – unless a quote inside the term was escaped.
    if b"\\" in line[:600]:
        return key_in(line, 2)
    return line[: line.index(b'",[') + 2]


def _line(bucket: str, term: str, ordinals: list[int], frequencies: list[int]) -> bytes:
    # The sum is a copy of the right size: what orjson returns holds on to a kilobyte.
    return orjson.dumps([bucket, term, ordinals, frequencies]) + b"\n"


def header(tokenizer: str, buckets: Mapping[str, tuple[int, int]]) -> bytes:
    """Return the first line for ``buckets``: name -> (documents, tokens)."""
    stats = {
        name: {"totalDocs": documents, "totalTokens": tokens}
        for name, (documents, tokens) in sorted(buckets.items())
    }
    return orjson.dumps({"format": FORMAT, "tokenizer": tokenizer, "buckets": stats}) + b"\n"
