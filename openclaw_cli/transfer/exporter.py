"""``memory export``: every record as it is, in one document or one a line, in constant memory.

The same records give the same bytes: they are sorted by scope and id, their fields by name, and
``exportedAt`` is the time of the newest change among them, not that of the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.clock import format_time, from_millis
from openclaw_cli.index.protocol import Where
from openclaw_cli.memory.analysis import language_of
from openclaw_cli.memory.filters import Filters
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Progress, Result, Warning, no_progress
from openclaw_cli.store import recovery
from openclaw_cli.store.migrations import older_warning, s0001_records
from openclaw_cli.store.records import VERSION, Record
from openclaw_cli.transfer.writing import GZIP, save

FORMATS = ("json", "jsonl")
_TICK = 256


class ExportRequest(NamedTuple):
    """What to export and where to: ``output`` None is standard output.

    ``format`` None is told by the file's name: JSON Lines for ``.jsonl``, else one document.
    """

    output: Path | None = None
    format: str | None = None
    filters: Filters = Filters()
    force: bool = False


@dataclass(slots=True)
class Export:
    """One export: looked over first, then written in pieces."""

    service: MemoryService
    request: ExportRequest
    progress: Progress = no_progress
    failed: list[dict[str, str]] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    count: int = 0
    _chosen: list[tuple[str, str]] = field(default_factory=list)
    _newest: int | None = None
    _older: int = 0

    def check(self) -> None:
        """Raise what can be told before anything is written: no such agent, unknown category."""
        self.service.store.require()
        self.request.filters.where()

    def pieces(self) -> Iterator[bytes]:
        """Yield the document piece by piece; counts and failures are complete after the last."""
        store = self.service.store
        view = store.repository.view()
        self.warnings += recovery.damage_warnings(store.paths, view.log)
        self._look_over(view)
        lines = self.format == "jsonl"
        head = self._head()
        yield head + b"\n" if lines else head[:-1] + b',"records":['
        for done, key in enumerate(self._chosen, 1):
            record = self._read(view, key)
            if record is None:
                continue
            raw = orjson.dumps(self._current(record), option=orjson.OPT_SORT_KEYS)
            before = b"" if lines else b",\n" if self.count else b"\n"
            yield before + raw + (b"\n" if lines else b"")
            self.count += 1
            if done % _TICK == 0:
                self.progress("export", done, len(self._chosen))
        if not lines:
            yield b"\n]}\n"
        if self._older:
            self.warnings.append(older_warning(store.paths))

    @property
    def format(self) -> str:
        """The chosen format, or what the file's name says."""
        if self.request.format is not None:
            return self.request.format
        name = "" if self.request.output is None else self.request.output.name.lower()
        is_lines = name.removesuffix(GZIP).endswith((".jsonl", ".ndjson"))
        return "jsonl" if is_lines else "json"

    @property
    def scope(self) -> str:
        """Which scopes are asked for: "user", "agent" or "all"."""
        scopes = set(self.request.filters.scope)
        return scopes.pop() if len(scopes) == 1 else "all"

    def result(self) -> Result:
        """Return counts, failures and warnings."""
        data: dict[str, Any] = {
            "records": self.count,
            "format": self.format,
            "scope": self.scope,
            "failed": self.failed,
        }
        return Result("memory.export", data, tuple(dict.fromkeys(self.warnings)))

    def _head(self) -> bytes:
        newest = None if self._newest is None else format_time(from_millis(self._newest))
        head = {
            "version": VERSION,
            "agent": self.service.store.agent,
            "scope": self.scope,
            "exportedAt": newest,
        }
        return orjson.dumps(head)

    def _look_over(self, view: recovery.View) -> None:
        """Read every record once, to know what will be written; only the ids are kept."""
        where = self.request.filters.where()
        scopes = where.scopes or SCOPES
        keys = [key for key in view.identifiers() if key[0] in scopes]
        unfiltered = where._replace(scopes=()) == Where()
        for done, key in enumerate(keys, 1):
            record = self._read(view, key)
            if record is not None and (unfiltered or _is_wanted(record, where)):
                self._chosen.append(key)
                self._newest = max(self._newest or 0, record.updated)
            if done % _TICK == 0:
                self.progress("read", done, len(keys))

    def _read(self, view: recovery.View, key: tuple[str, str]) -> Record | None:
        try:
            return view.readable(*key, self.warnings)
        except (OSError, ValueError) as error:
            path = self.service.store.paths.record(*key)
            self.failed.append({"id": key[1], "path": str(path), "reason": f"damaged: {error}"})
            return None

    def _current(self, record: Record) -> dict[str, Any]:
        """Return the document of a record in the format that the export says it has."""
        if not s0001_records.applies(record.document):
            return record.document
        self._older += 1
        return s0001_records.upgrade(record.document, record.scope, self.service.store.agent)


def export_memories(
    service: MemoryService, request: ExportRequest, progress: Progress = no_progress
) -> Result:
    """Export into the file that the request names; it appears whole, or not at all.

    Raises `UsageError` where something stands under that name and may not be replaced.
    """
    return save(Export(service, request, progress), request.output, force=request.force)


def _is_wanted(record: Record, where: Where) -> bool:
    """Tell whether a record passes a filter; its language is what the index takes it for."""
    told = record._replace(language=language_of(record)) if where.languages else record
    return where.allows(told)
