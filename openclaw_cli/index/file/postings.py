"""``bm25.idx``: which documents hold a term, and how often.

Line 1 is ``{"format":2,"tokenizer":…,"buckets":{"zh":{"totalDocs":n,"totalTokens":n},…}}``; then
one line per bucket and term, ``["zh","部署",[doc,…],[tf,…]]``, documents by ordinal, ascending.
"""

from __future__ import annotations

import mmap
from array import array
from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat

import orjson

from openclaw_cli.index.file.lines import SortedLines, key_in, key_of
from openclaw_cli.index.file.runs import SortedRuns, after_place, grouped, line_of

FORMAT = 2
#: As many ordinals of new documents are held in memory: some 60 MB, those of 100,000 notes.
ORDINALS_HELD = 4_500_000
_BLOCK_LINES = 64

#: Bucket, term, the ordinals of its documents, and its frequency in each.
_Row = tuple[str, str, list[int], list[int]]
_Lists = defaultdict[str, list[int]]


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


class PostingsBuilder:
    """Gathers the terms of new documents: for each one its ordinals, and the frequencies above 1.

    What is done for every term of every document is a loop of the interpreter's own. Whenever
    ``limit`` ordinals are held they are put away in ``runs``, so that memory is bounded.
    """

    def __init__(self, runs: SortedRuns, limit: int = ORDINALS_HELD) -> None:
        self._runs = runs
        self._limit = limit
        self._held = 0
        self._ordinals: dict[str, _Lists] = {}
        # Ordinal and frequency in turns, for the few terms that a document holds more than once.
        self._repeated: dict[str, _Lists] = {}
        self.lengths: dict[str, array[int]] = {}

    def add(self, ordinal: int, terms: Mapping[str, Mapping[str, int]]) -> None:
        """Take the terms of document ``ordinal``; ordinals must rise."""
        if self._held >= self._limit:
            self._runs.spill(self._run())
            self._held = 0
        for bucket, frequencies in terms.items():
            if bucket not in self._ordinals:
                self._ordinals[bucket], self._repeated[bucket] = (
                    defaultdict(list),
                    defaultdict(list),
                )
            known = self._ordinals[bucket].__getitem__
            deque(map(list.append, map(known, frequencies), repeat(ordinal)), 0)
            length = sum(frequencies.values())
            if length > len(frequencies):
                repeated = self._repeated[bucket]
                for term, frequency in frequencies.items():
                    if frequency > 1:
                        repeated[term] += (ordinal, frequency)
            self._held += len(frequencies)
            self._length(bucket, ordinal, length)

    def _length(self, bucket: str, ordinal: int, length: int) -> None:
        lengths = self.lengths.setdefault(bucket, array("I"))
        lengths.frombytes(bytes(lengths.itemsize * (ordinal - len(lengths))))
        lengths.append(length)

    def take_blocks(self) -> Iterator[bytes]:
        """Yield the posting lines in order, many at a time, and give up what they were made of."""
        if not len(self._runs):
            rows = self._taken()
            while block := list(islice(rows, _BLOCK_LINES)):
                yield _lines(block)
            return
        self._runs.spill(self._run())
        for key, parts in grouped(self._runs.merged()):
            columns = [after_place(part).split(b"|") for part in parts]
            yield b"%b[%b],[%b]]\n" % (key, *map(b",".join, zip(*columns, strict=True)))

    def _run(self) -> Iterator[bytes]:
        """Yield what is held as lines for `SortedRuns`, and give it up."""
        for bucket, term, ordinals, frequencies in self._taken():
            rest = b"%b|%b" % (_numbers(ordinals), _numbers(frequencies))
            yield line_of(key_of(bucket, term), ordinals[0], rest)

    def _taken(self) -> Iterator[_Row]:
        """Take the terms out in the order of their lines."""
        for bucket in sorted(self._ordinals):
            repeated, terms = self._repeated.pop(bucket), self._ordinals.pop(bucket)
            for term in _in_order(terms):
                ordinals = terms.pop(term)
                frequencies = [1] * len(ordinals)
                if term in repeated:
                    pairs = repeated.pop(term)
                    above = dict(zip(pairs[::2], pairs[1::2], strict=True))
                    frequencies = list(map(above.get, ordinals, frequencies))
                yield bucket, term, ordinals, frequencies


def _in_order(terms: Collection[str]) -> list[str]:
    """Return the terms of one bucket in the order of their lines, which is that of their JSON."""
    together = orjson.dumps(list(terms))[2:-1].split(b',"')
    if len(together) != len(terms):  # a term holds what stands between two of them
        return sorted(terms, key=orjson.dumps)
    places = dict(zip(together, terms, strict=True))
    return [places[place] for place in sorted(places)]


def _lines(rows: Sequence[_Row]) -> bytes:
    """Return the lines of some terms, written at once: most of them are short."""
    together = orjson.dumps(rows)[1:-1].replace(b']],["', b']]\n["') + b"\n"
    if together.count(b"\n") != len(rows):  # a term holds what stands between two lines
        return b"".join([orjson.dumps(row) + b"\n" for row in rows])
    return together


def _numbers(numbers: list[int]) -> bytes:
    return orjson.dumps(numbers)[1:-1]


def merged_lines(
    old: Iterable[bytes], remap: Sequence[int] | None, new: Iterable[bytes]
) -> Iterator[bytes]:
    """Yield the posting lines of old and new documents together, with line ends.

    ``new`` are blocks of them, as `PostingsBuilder.take_blocks` yields.
    ``remap`` gives an old ordinal its new one, or -1 when the document is gone; None keeps all as
    they are, and then a line without new documents is copied byte for byte.
    """
    fresh = chain.from_iterable(block.splitlines(keepends=True) for block in new)
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
