"""``metadata.json``: one JSON document, one column a line, so that a search loads what it needs.

Line 1 opens the object with ``count`` and the byte ranges of the columns, counted from line 2 on.
Texts that repeat are stored as ``{"values":[…],"codes":[…]}``.
"""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import orjson

#: Columns of one plain value per document, in file order.
PLAIN = ("id", "hash", "created", "updated", "stability", "review", "pending")
#: Columns whose values repeat.
CODED = ("scope", "category", "user", "key", "language", "tags", "space")
_LENGTH = "length."
_FEW = 8


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
            value = orjson.loads(self._bytes(name))
            self._loaded[name] = (
                Coded(value["values"], value["codes"]) if isinstance(value, dict) else value
            )
        return self._loaded[name]

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

    def lengths(self, bucket: str) -> list[int]:
        """Return the document lengths of a bucket, 0 for documents that are not in it."""
        return self.plain(_LENGTH + bucket)


class _Codes(dict[Any, int]):
    """Value to its code; a value that is new gets the next one."""

    def __missing__(self, value: Any) -> int:
        self[value] = code = len(self)
        return code


class Columns:
    """The columns of a generation while it is being built."""

    def __init__(self) -> None:
        self.plain: dict[str, list[Any]] = {name: [] for name in PLAIN}
        self._values: dict[str, _Codes] = {name: _Codes() for name in CODED}
        self._codes: dict[str, list[int]] = {name: [] for name in CODED}

    def __len__(self) -> int:
        return len(self.plain["id"])

    def extend(self, rows: Sequence[Sequence[Any]]) -> None:
        """Append documents: for each one the values of `PLAIN` and then those of `CODED`."""
        columns = dict(zip((*PLAIN, *CODED), zip(*rows, strict=True), strict=False))
        for name, column in columns.items():
            if name in self.plain:
                self.plain[name] += column
            else:
                self._codes[name] += map(self._values[name].__getitem__, column)

    def texts(self, name: str) -> list[Any]:
        """Return a coded column with its values in place of codes."""
        values = list(self._values[name])
        return [values[code] for code in self._codes[name]]

    def copy(self, base: MetadataFile, kept: Sequence[int] | None) -> None:
        """Take over the documents of ``base``: all of them, or the ordinals ``kept``."""
        for name, column in self.plain.items():
            old = base.plain(name)
            column.extend(old if kept is None else [old[n] for n in kept])
        for name in CODED:
            coded = base.coded(name)
            known = self._values[name]
            chosen = coded.codes if kept is None else [coded.codes[n] for n in kept]
            codes: dict[int, int] = {}
            # Values that no kept document has do not go over: they may be what was to be forgotten.
            for code in dict.fromkeys(chosen):
                value = coded.values[code]
                value = tuple(value) if isinstance(value, list) else value
                codes[code] = known[value]
            self._codes[name].extend([codes[code] for code in chosen])

    def encoded(self, lengths: Mapping[str, Sequence[int]]) -> Iterator[bytes]:
        """Yield the bytes of the file; ``lengths`` are the document lengths per bucket."""
        bodies: dict[str, bytes] = {n: orjson.dumps(column) for n, column in self.plain.items()}
        for name, codes in self._codes.items():
            bodies[name] = orjson.dumps({"values": list(self._values[name]), "codes": codes})
        for bucket in sorted(lengths):
            bodies[_LENGTH + bucket] = orjson.dumps(list(lengths[bucket]))
        ranges: dict[str, list[int]] = {}
        offset = 0
        for name, body in bodies.items():
            label = len(orjson.dumps(name)) + 1
            ranges[name] = [offset + label, len(body)]
            offset += label + len(body) + 2
        head = orjson.dumps({"format": 2, "count": len(self), "columns": ranges})
        yield head[:-1] + b",\n"
        for name, body in bodies.items():
            yield orjson.dumps(name) + b":" + body + b",\n"
        yield b'"end":0}\n'
