"""Damaged lines of a file: however many there are, the first are named and the rest are counted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.result import MOST_WARNINGS, Warning, counted
from openclaw_cli.store import files, fsio


class Damage(NamedTuple):
    """The damaged lines of a file: how many, the first as (number, reason), and where all lie.

    ``spans`` are (begin, end) in bytes, neighbouring lines being one. It is false when there are
    none.
    """

    total: int = 0
    named: tuple[tuple[int, str], ...] = ()
    spans: tuple[tuple[int, int], ...] = ()

    def __bool__(self) -> bool:
        return self.total > 0

    @property
    def more(self) -> str | None:
        """How many there are beyond the first, in words."""
        more = self.total - len(self.named)
        return f"and {counted(more, 'more damaged line')}" if more else None

    def warnings(self, code: str, where: str, path: Path) -> list[Warning]:
        """Return a warning for each of the first lines, and one for the others.

        ``where`` says of what they are lines.
        """
        said = [f"line {number} of {where}: {reason}" for number, reason in self.named]
        if self.more is not None:
            said.append(f"{self.more} of {where}")
        return [Warning(code, message, str(path)) for message in said]

    def kept(self, path: Path, stamp: str, *, torn: int = 0) -> Path:
        """Keep the bytes of the damaged lines beside the file, with the last ``torn`` ones of it;
        return where."""
        size = os.stat(path).st_size
        spans = (*self.spans, (size - torn, size)) if torn else self.spans
        return fsio.set_aside(path, _bytes(path, spans), "bad", stamp)


def _bytes(path: Path, spans: Iterable[tuple[int, int]]) -> Iterator[bytes]:
    for begin, end in spans:
        yield from files.pieces(path, begin, end)


class Damages:
    """Gathers the damaged lines of a file in the order in which they stand there."""

    def __init__(self, known: Damage) -> None:
        self._count = known.total
        self._named = list(known.named)
        self._spans = list(known.spans)

    def add(self, number: int, reason: str, line: files.Line) -> None:
        """Add a line of the file."""
        self._count += 1
        if len(self._named) < MOST_WARNINGS:
            self._named.append((number, reason))
        if self._spans and self._spans[-1][1] == line.begin:
            self._spans[-1] = (self._spans[-1][0], line.end)
        else:
            self._spans.append((line.begin, line.end))

    def all(self) -> Damage:
        """Return what was gathered."""
        return Damage(self._count, tuple(self._named), tuple(self._spans))
