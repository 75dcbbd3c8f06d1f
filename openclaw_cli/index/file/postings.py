"""``bm25.idx``: which documents hold a term, and how often.

Line 1 is ``{"format":2,"tokenizer":…,"buckets":{"zh":{"totalDocs":n,"totalTokens":n},…}}``; then
one line per bucket and term, ``["zh","部署",[doc,…],[tf,…]]``, documents by ordinal, ascending.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import orjson

from openclaw_cli.index.file.lines import SortedLines, key_in, key_of

FORMAT = 2


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
    """Gathers the terms of new documents: a flat list [ordinal, frequency, …] for each term."""

    def __init__(self) -> None:
        self._terms: dict[str, dict[str, list[int]]] = {}
        self.lengths: dict[str, array[int]] = {}

    def add(self, ordinal: int, terms: Mapping[str, Mapping[str, int]]) -> None:
        """Take the terms of document ``ordinal``; ordinals must rise."""
        for bucket, frequencies in terms.items():
            known = self._terms.setdefault(bucket, {})
            for term, frequency in frequencies.items():
                if term in known:
                    known[term] += (ordinal, frequency)
                else:
                    known[term] = [ordinal, frequency]
            self._length(bucket, ordinal, sum(frequencies.values()))

    def _length(self, bucket: str, ordinal: int, length: int) -> None:
        lengths = self.lengths.setdefault(bucket, array("I"))
        lengths.frombytes(bytes(lengths.itemsize * (ordinal - len(lengths))))
        lengths.append(length)

    def sorted_items(self) -> list[tuple[bytes, str, str]]:
        """Return (key, bucket, term) of every term gathered, in the order of the file."""
        return sorted(
            (key_of(bucket, term), bucket, term)
            for bucket, terms in self._terms.items()
            for term in terms
        )

    def take(self, bucket: str, term: str) -> tuple[list[int], list[int]]:
        """Return (ordinals, frequencies) of one term."""
        postings = self._terms[bucket][term]
        return postings[0::2], postings[1::2]


def merged_lines(
    old: Iterable[bytes], remap: Sequence[int] | None, new: PostingsBuilder
) -> Iterator[bytes]:
    """Yield the posting lines of old and new documents together, with line ends.

    ``remap`` gives an old ordinal its new one, or -1 when the document is gone; None keeps all as
    they are, and then a line without new documents is copied byte for byte.
    """
    fresh = iter(new.sorted_items())
    pending = next(fresh, None)
    for line in old:
        key = _key(line)
        while pending is not None and pending[0] < key:
            yield _line(pending[1], pending[2], *new.take(pending[1], pending[2]))
            pending = next(fresh, None)
        same = pending if pending is not None and pending[0] == key else None
        if same is not None:
            pending = next(fresh, None)
        elif remap is None:
            yield line + b"\n"
            continue
        yield from _rewritten(line, remap, new if same else None)
    for _key_bytes, bucket, term in chain([pending] if pending else [], fresh):
        yield _line(bucket, term, *new.take(bucket, term))


def _rewritten(
    line: bytes, remap: Sequence[int] | None, new: PostingsBuilder | None
) -> Iterator[bytes]:
    bucket, term, ordinals, frequencies = orjson.loads(line)
    if remap is not None:
        moved = [remap[ordinal] for ordinal in ordinals]
        if min(moved, default=0) < 0:
            frequencies = [f for f, n in zip(frequencies, moved, strict=True) if n >= 0]
            moved = [n for n in moved if n >= 0]
        ordinals = moved
    if new is not None:
        more_ordinals, more_frequencies = new.take(bucket, term)
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
    return orjson.dumps([bucket, term, ordinals, frequencies]) + b"\n"


def header(tokenizer: str, buckets: Mapping[str, tuple[int, int]]) -> bytes:
    """Return the first line for ``buckets``: name -> (documents, tokens)."""
    stats = {
        name: {"totalDocs": documents, "totalTokens": tokens}
        for name, (documents, tokens) in sorted(buckets.items())
    }
    return orjson.dumps({"format": FORMAT, "tokenizer": tokenizer, "buckets": stats}) + b"\n"
