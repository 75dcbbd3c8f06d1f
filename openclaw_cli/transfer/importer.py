"""``memory import``: records in batches, each one WAL append and one fsync; the source stays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from openclaw_cli.clock import from_millis
from openclaw_cli.errors import OpenclawError, UsageError
from openclaw_cli.memory.adding import (
    Chooser,
    Decision,
    Prepared,
    analysed,
    embed,
)
from openclaw_cli.memory.categories import category_of
from openclaw_cli.memory.documents import short_hash, truncation_warning
from openclaw_cli.memory.indexing.checkpoint import checkpoint, writing
from openclaw_cli.memory.merging import said_before, says_the_same, superseding
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.memory.store import Following
from openclaw_cli.result import Progress, Result, Warning, no_progress
from openclaw_cli.store import migrations, scan
from openclaw_cli.store.records import Record, record_of, require_writable
from openclaw_cli.store.tombstones import Deleted
from openclaw_cli.transfer.document import Piece
from openclaw_cli.transfer.incoming import Defaults, Reader
from openclaw_cli.transfer.reading import STDIN, pieces

FORMATS = ("auto", "openclaw", "jsonl")
BATCH = 1024
_BULK_LIMITS = 16


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import and how; ``source`` names the file (None: standard input).

    ``category``, ``user`` and ``scope`` are for records that name none.
    """

    source: Path | None = None
    from_: str = "auto"
    on_conflict: str = "skip"
    category: str | None = None
    user: str | None = None
    scope: str | None = None
    dedup: bool = False
    embed: bool = True
    dry_run: bool = False


@dataclass(slots=True)
class Counts:
    """read = added + skipped + overwritten + failed; ``merged`` is part of overwritten."""

    read: int = 0
    added: int = 0
    skipped: int = 0
    overwritten: int = 0
    merged: int = 0
    truncated: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)
    warnings: dict[str, Warning] = field(default_factory=dict)

    def count(self, action: str) -> None:
        """Count one decision."""
        if action == "skipped":
            self.skipped += 1
        elif action == "added":
            self.added += 1
        else:
            self.overwritten += 1
            self.merged += action == "merged"

    def warn(self, warnings: Iterable[Warning]) -> None:
        """Keep each kind of warning once: thousands of batches may say the same."""
        for warning in warnings:
            self.warnings.setdefault(warning.code, warning)


class _Line(NamedTuple):
    """A line on its way into the store, with where it stood."""

    piece: Piece
    item: Prepared

    @property
    def is_statement(self) -> bool:
        """Tell a text, which may go into a slot, from a whole record."""
        return "content" not in self.piece.value

    @property
    def tells_time(self) -> bool:
        """Tell whether the line says when it was; one that does not is newer than nothing."""
        return not self.piece.value.keys().isdisjoint(("createdAt", "updatedAt"))

    @property
    def assumed(self) -> list[str]:
        """The fields that depend on when it is imported: the line does not tell them."""
        return [name for name in ("createdAt", "updatedAt", "fsrs") if name not in self.piece.value]


def import_memories(
    service: MemoryService,
    request: ImportRequest,
    stream: BinaryIO,
    progress: Progress = no_progress,
) -> Result:
    """Import every record of ``stream``; what becomes of an id that exists is ``on_conflict``.

    A line that cannot be a record is listed as failed and the rest goes on.
    """
    if request.from_ not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"--from {request.from_!r} is unknown", hint=f"formats are {known}")
    if request.category is not None:
        category_of(request.category)
    run = _Import(service, request)
    name = str(request.source) if request.source is not None else STDIN
    source = pieces(stream, name)
    while batch := list(islice(source, BATCH)):
        run.batch(batch)
        progress("import", run.counts.read, None)
    return run.result()


class _Import:
    def __init__(self, service: MemoryService, request: ImportRequest) -> None:
        self.store = service.store
        self.request = request
        self.moment = self.store.env.clock.now()
        self.reader = Reader(
            self.store, Defaults(request.category, request.user, request.scope), self.moment
        )
        self.following = Following(self.store)
        self.counts = Counts()
        self.dry_chooser: Chooser | None = None
        self.deleted = Deleted(self.store.paths.tombstones)

    def batch(self, batch: list[Piece]) -> None:
        """Decide about a batch and commit it."""
        self.counts.read += len(batch)
        lines = [line for piece in batch if (line := self._prepared(piece)) is not None]
        if self.request.dry_run:
            self._dry_run(lines)
            return
        if self.request.embed:
            lines = self._embedded(lines)
        with writing(self.store, self.following.log) as writer:
            view = self.following.catch_up(writer.log)
            self.deleted.catch_up(writer.log)
            chooser = Chooser(self.store, view, self.following)
            changes = [d.change for d in self._decided(chooser, lines) if d.change is not None]
            writer.commit(changes)
            self.following.catch_up(writer.log)
            self.counts.warn(writer.warnings)
        self.counts.warn(checkpoint(self.store, writer.log, times=_BULK_LIMITS))

    def _prepared(self, piece: Piece) -> _Line | None:
        try:
            if piece.problem is not None:
                raise ValueError(f"not JSON: {piece.problem}")
            require_writable(piece.value)
            record = self.reader.record(piece.value)
            return _Line(piece, analysed(self.store, record.document, named=True))
        except (ValueError, OpenclawError) as error:
            self._failed(piece, error)
            return None

    def _failed(self, piece: Piece, error: Exception) -> None:
        failure: dict[str, Any] = {"line": piece.number, "reason": str(error)}
        if isinstance(piece.value, dict) and isinstance(piece.value.get("id"), str):
            failure["id"] = piece.value["id"][:128]
        self.counts.failed.append(failure)

    def _embedded(self, lines: list[_Line]) -> list[_Line]:
        """Embed what will be stored: a record that will be skipped is spared that cost."""
        wanted = [n for n, line in enumerate(lines) if not self._will_be_skipped(line.item)]
        embedded, warnings = embed(self.store, [lines[n].item for n in wanted])
        self.counts.warn(warnings)
        self.counts.truncated += sum(item.truncated for item in embedded)
        for position, item in zip(wanted, embedded, strict=True):
            lines[position] = lines[position]._replace(item=item)
        return lines

    def _will_be_skipped(self, item: Prepared) -> bool:
        path = self.store.paths.record_name(item.document["scope"], item.document["id"])
        return self.request.on_conflict == "skip" and os.path.exists(path)

    def _decided(self, chooser: Chooser, lines: list[_Line]) -> Iterator[Decision]:
        for line in lines:
            try:
                decision = self._decide(chooser, line)
            except OpenclawError as error:
                self._failed(line.piece, error)
                continue
            self.counts.count(decision.action)
            if decision.change is not None:
                chooser.note(decision)
            yield decision

    def _decide(self, chooser: Chooser, line: _Line) -> Decision:
        item = line.item
        record_id = item.document["id"]
        taken = chooser.existing(record_id)
        if taken is not None:
            return self._conflict(chooser, line, taken)
        content_hash = short_hash(item.analysis.content_hash)
        if self.request.on_conflict != "overwrite" and self.deleted.holds(record_id, content_hash):
            return Decision("skipped", record_id, item.document)
        if line.is_statement or self.request.dedup:
            unnamed = item._replace(named=False)  # that its id is free has just been seen
            return chooser.decide(unnamed, allow_duplicate=not self.request.dedup)
        # A whole record stays the record that it is, whatever slot it stands in.
        return chooser.addition(item)

    def _conflict(self, chooser: Chooser, line: _Line, taken: Record) -> Decision:
        rule, item = self.request.on_conflict, line.item
        incoming = record_of(item.document)
        if rule == "duplicate":
            copy = self.reader.copy_id(line.piece.value, from_millis(incoming.created))
            done = chooser.existing(copy)
            if done is not None:
                return Decision("skipped", copy, done.document, duplicate_of=copy)
            return chooser.addition(item._replace(document={**item.document, "id": copy}))
        if rule != "skip" and incoming.scope != taken.scope:
            raise UsageError(f"id {taken.id} is taken in the scope {taken.scope}")
        if line.is_statement and taken.key is not None and said_before(taken, incoming):
            # It filled its slot once, and what came after it stands there now.
            return Decision("skipped", taken.id, taken.document, duplicate_of=taken.id)
        newer = rule == "newer" and line.tells_time and incoming.updated > taken.updated
        if (rule == "overwrite" or newer) and not says_the_same(taken, item.document, line.assumed):
            document = superseding(taken, item.document, f"import {rule}")
            decision = chooser.addition(item._replace(document=document))
            return decision._replace(action="overwritten")
        return Decision("skipped", taken.id, taken.document, duplicate_of=taken.id)

    def _dry_run(self, lines: list[_Line]) -> None:
        if self.dry_chooser is None:
            migrations.require_current(self.store.paths)
            view = self.store.repository.view()
            self.deleted.catch_up(view.log)
            exists = self.store.paths.exists()
            state = self.store.open() if exists else self.following
            self.dry_chooser = Chooser(self.store, view, state)
        for _decision in self._decided(self.dry_chooser, lines):
            pass

    def result(self) -> Result:
        """Return the counts, and how many records the store holds now."""
        counts = self.counts
        if self.following.log is not None:
            counts.warn(checkpoint(self.store, self.following.log))
        if counts.truncated:
            counts.warn([truncation_warning(counts.truncated)])
        if not counts.read:
            counts.warn([Warning("empty-source", "there is no record in it")])
        if self.reader.zoneless:
            counts.warn([_zoneless(self.reader.zoneless)])
        data = {
            "read": counts.read,
            "added": counts.added,
            "skipped": counts.skipped,
            "overwritten": counts.overwritten,
            "merged": counts.merged,
            "failed": counts.failed,
            "total": scan.count(self.store.paths),
            "dryRun": self.request.dry_run,
        }
        return Result("memory.import", data, tuple(counts.warnings.values()))


def _zoneless(count: int) -> Warning:
    return Warning("time-without-zone", f"{count} times had no zone and were taken as UTC")
