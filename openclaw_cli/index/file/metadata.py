"""``metadata.json``: one JSON document, one column a line, so that a search loads what it needs.

Line 1 opens the object with ``count`` and the byte ranges of the columns, counted from line 2 on.
Texts that repeat are stored as ``{"values":[…],"codes":[…]}``.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import orjson

#: Columns of one plain value per document, in file order.
PLAIN = ("id", "hash", "created", "updated", "stability", "review", "pending")
#: Columns whose values repeat.
CODED = ("scope", "category", "user", "key", "language", "tags", "space")
_SLOT = ("scope", "user", "category", "key")
_LENGTH = "length."
_FEW = 8
_PIECE = 4096


def json_list(numbers: Sequence[int], less: int = 0) -> Iterator[bytes]:
    """Yield the JSON of a list of numbers, each one ``less`` than it is, in pieces."""
    yield b"["
    for begin in range(0, len(numbers), _PIECE):
        piece = numbers[begin : begin + _PIECE]
        part = orjson.dumps([number - less for number in piece])[1:-1]
        yield b"," + part if begin else part
    yield b"]"


def _separated(parts: Sequence[bytes]) -> Iterator[bytes]:
    for number, part in enumerate(parts):
        if number:
            yield b","
        yield part


def slot_of(scope: str, user: str | None, category: str, key: str) -> str:
    """Return the text under which a slot is looked up."""
    return "\0".join((scope, user or "", category, key))


class Coded:
    """A column of repeating values: ``values[codes[ordinal]]``."""

    __slots__ = ("codes", "values")

    def __init__(self, values: list[Any], codes: list[int]) -> None:
        self.values = values
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, ordinal: int) -> Any:
        return self.values[self.codes[ordinal]]

    def matching(self, wanted: Sequence[Any]) -> set[int]:
        """Return the codes of the values that are in ``wanted``."""
        return {code for code, value in enumerate(self.values) if value in wanted}


class MetadataFile:
    """A mapped ``metadata.json``; each column is parsed when it is first asked for."""

    def __init__(self, data: mmap.mmap | bytes) -> None:
        end = data.find(b"\n")
        head = orjson.loads(data[:end].rstrip(b",") + b"}")
        self._data = data
        self._start = end + 1
        self._ranges: dict[str, list[int]] = head["columns"]
        self._loaded: dict[str, Any] = {}
        self.count: int = head["count"]

    @property
    def buckets(self) -> list[str]:
        """The language buckets whose document lengths are kept."""
        return [name[len(_LENGTH) :] for name in self._ranges if name.startswith(_LENGTH)]

    def _load(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = self.take(name)
        return self._loaded[name]

    def take(self, name: str) -> Any:
        """Return a column as `plain` or `coded` does, without holding on to it."""
        if name in self._loaded:
            return self._loaded[name]
        value = orjson.loads(self._bytes(name))
        return Coded(value["values"], value["codes"]) if isinstance(value, dict) else value

    def part(self, name: str, kept: Sequence[int] | None) -> bytes:
        """Return a plain column, or the ordinals ``kept`` of it, as JSON without its brackets."""
        if kept is None:
            return self._bytes(name)[1:-1]
        column = self.take(name)
        return orjson.dumps([column[ordinal] for ordinal in kept])[1:-1]

    def _bytes(self, name: str) -> bytes:
        offset, length = self._ranges[name]
        begin = self._start + offset
        return self._data[begin : begin + length]

    def plain(self, name: str) -> list[Any]:
        """Return a column of `PLAIN`."""
        column: list[Any] = self._load(name)
        return column

    def coded(self, name: str) -> Coded:
        """Return a column of `CODED`."""
        column: Coded = self._load(name)
        return column

    def ordinals(self, ids: Collection[str]) -> list[int]:
        """Return the ordinals of those of these record ids that are here.

        A few are looked for in the bytes of the column, which need not be parsed for that: an id
        holds neither quotes nor commas.
        """
        if len(ids) > _FEW:
            return [ordinal for ordinal, name in enumerate(self.plain("id")) if name in ids]
        column = self._bytes("id")
        places = [column.find(orjson.dumps(record_id)) for record_id in ids]
        return [column.count(b",", 0, place) for place in places if place >= 0]

    def take_lengths(self, bucket: str) -> list[int]:
        """Return what `lengths` does, without holding on to it."""
        column: list[int] = self.take(_LENGTH + bucket)
        return column

    def lengths(self, bucket: str) -> list[int]:
        """Return the document lengths of a bucket, 0 for documents that are not in it."""
        return self.plain(_LENGTH + bucket)


class _Codes(dict[Any, int]):
    """Value to its code; a value that is new gets the next one."""

    def __missing__(self, value: Any) -> int:
        self[value] = code = len(self)
        return code


class Columns:
    """The columns of a generation while it is being built, as the bytes that they will be."""

    def __init__(self) -> None:
        self._plain: dict[str, list[bytes]] = {name: [] for name in PLAIN}
        self._values: dict[str, _Codes] = {name: _Codes() for name in CODED}
        self._codes: dict[str, array[int]] = {name: array("I") for name in CODED}

    def __len__(self) -> int:
        return len(self._codes["scope"])

    def extend(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append documents: for each one the values of `PLAIN` and then those of `CODED`."""
        columns = dict(zip((*PLAIN, *CODED), zip(*rows, strict=True), strict=False))
        for name, column in columns.items():
            if name in self._plain:
                self._plain[name].append(orjson.dumps(column)[1:-1])
            else:
                self._codes[name].extend(map(self._values[name].__getitem__, column))

    def copy(self, base: MetadataFile, kept: Sequence[int] | None) -> None:
        """Take over the documents of ``base``: all of them, or the ordinals ``kept``."""
        if base.count and (kept is None or kept):
            for name, parts in self._plain.items():
                parts.append(base.part(name, kept))
        for name in CODED:
            coded = base.take(name)
            known = self._values[name]
            chosen = coded.codes if kept is None else [coded.codes[n] for n in kept]
            codes: dict[int, int] = {}
            # Values that no kept document has do not go over: they may be what was to be forgotten.
            for code in dict.fromkeys(chosen):
                value = coded.values[code]
                value = tuple(value) if isinstance(value, list) else value
                codes[code] = known[value]
            self._codes[name].extend(map(codes.__getitem__, chosen))

    def pending(self) -> int:
        """Return how many documents are pending: each one is told by a 0 or a 1."""
        return sum(part.count(b"1") for part in self._plain["pending"])

    def lookups(self) -> Iterator[tuple[str, str, int]]:
        """Yield what a document is looked up by, its content hash and its slot, with its ordinal.

        The kinds are "hash" and "slot".
        """
        hashes = (orjson.loads(b"[%b]" % part) for part in self._plain["hash"])
        for ordinal, digest in enumerate(chain.from_iterable(hashes)):
            yield "hash", digest, ordinal
        scopes, users, categories, keys = (list(self._values[name]) for name in _SLOT)
        codes = zip(*(self._codes[name] for name in _SLOT), strict=True)
        for ordinal, (scope, user, category, key) in enumerate(codes):
            if keys[key] is not None:
                slot = slot_of(scopes[scope], users[user], categories[category], keys[key])
                yield "slot", slot, ordinal

    def encoded(self, lengths: Mapping[str, Sequence[int]]) -> Iterator[bytes]:
        """Yield the bytes of the file; ``lengths`` are the document lengths per bucket."""
        bodies: dict[str, list[bytes]] = {}
        for name, parts in self._plain.items():
            bodies[name] = [b"[", *_separated(parts), b"]"]
        for name, codes in self._codes.items():
            values = orjson.dumps(list(self._values[name]))
            bodies[name] = [b'{"values":', values, b',"codes":', *json_list(codes), b"}"]
        for bucket in sorted(lengths):
            bodies[_LENGTH + bucket] = list(json_list(lengths[bucket]))
        ranges: dict[str, list[int]] = {}
        offset = 0
        for name, body in bodies.items():
            label, length = len(orjson.dumps(name)) + 1, sum(map(len, body))
            ranges[name] = [offset + label, length]
            offset += label + length + 2
        head = orjson.dumps({"format": 2, "count": len(self), "columns": ranges})
        yield head[:-1] + b",\n"
        for name, body in bodies.items():
            yield orjson.dumps(name) + b":"
            yield from body
            yield b",\n"
        yield b'"end":0}\n'
