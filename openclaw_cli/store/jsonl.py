"""JSON Lines as they are found after years: whole lines, damaged ones, a torn tail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import orjson


class Line(NamedTuple):
    """One line: its number from 1, byte offset, raw bytes, and the value or why there is none.

    ``torn`` marks a last line without its line end: a write that was cut off, not damage.
    """

    number: int
    offset: int
    raw: bytes
    value: Any = None
    problem: str | None = None
    torn: bool = False


def lines(data: bytes) -> Iterator[Line]:
    """Yield the non-empty lines of ``data``; never raises for any bytes."""
    offset = 0
    number = 0
    end = len(data)
    while offset < end:
        number += 1
        stop = data.find(b"\n", offset)
        if stop < 0:
            yield Line(number, offset, data[offset:], problem="no line end", torn=True)
            return
        raw = data[offset:stop]
        if raw.strip():
            value, problem = decode(raw)
            yield Line(number, offset, raw, value, problem)
        offset = stop + 1


def decode(raw: bytes) -> tuple[Any, str | None]:
    """Return the value of one JSON text, or None and the reason why it has none."""
    try:
        return orjson.loads(raw), None
    except orjson.JSONDecodeError as error:
        return None, str(error)
