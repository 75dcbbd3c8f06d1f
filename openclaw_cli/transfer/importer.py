"""``memory import``: records in batches, each one WAL append and one fsync; the source stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from openclaw_cli.errors import OpenclawError
from openclaw_cli.memory.adding import (
    Chooser,
    Decision,
    Prepared,
    analysed,
    embed,
    truncation_warning,
)
from openclaw_cli.memory.merging import superseding
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.memory.store import Following
from openclaw_cli.result import Progress, Result, Warning, no_progress
from openclaw_cli.store import scan
from openclaw_cli.store.records import record_of
from openclaw_cli.transfer.incoming import Defaults, Reader
from openclaw_cli.transfer.reading import Piece, pieces

BATCH = 256
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

    def warn(self, warnings: Iterable[Warning]) -> None:
        """Keep each kind of warning once: thousands of batches may say the same."""
        for warning in warnings:
            self.warnings.setdefault(warning.code, warning)


def import_memories(
    service: MemoryService,
    request: ImportRequest,
    stream: BinaryIO,
    progress: Progress = no_progress,
) -> Result:
    """Import every record of ``stream``; what becomes of an id that exists is ``on_conflict``.

    A line that cannot be a record is listed as failed and the rest goes on.
    """
    run = _Import(service, request)
    name = str(request.source) if request.source is not None else "standard input"
    source = pieces(stream, name)
    while batch := list(islice(source, BATCH)):
        run.batch(batch)
        progress("import", run.counts.read, None)
    return run.result()


class _Import:
    def __init__(self, service: MemoryService, request: ImportRequest) -> None:
        self.service = service
        self.store = service.store
        self.request = request
        self.moment = self.store.env.clock.now()
        self.reader = Reader(
            self.store, Defaults(request.category, request.user, request.scope), self.moment
        )
        self.following = Following(self.store)
        self.counts = Counts()
        self.dry_chooser: Chooser | None = None

    def batch(self, batch: list[Piece]) -> None:
        """Decide about a batch and commit it."""
        self.counts.read += len(batch)
        items = [item for piece in batch if (item := self._prepared(piece)) is not None]
        if self.request.dry_run:
            self._dry_run(items)
            return
        if self.request.embed:
            items = list(self._embedded(items))
        seq = self.store.indexed_seq() if self.following.log is None else 0
        with self.store.repository.writing(seq, self.following.log) as writer:
            view = self.following.catch_up(writer.log)
            chooser = Chooser(self.store, view, self.following.snapshot, self.moment)
            changes = [d.change for d in self._decided(chooser, items) if d.change is not None]
            writer.commit(changes)
            self.counts.warn(writer.warnings)
        self.counts.warn(self.service.checkpoint(times=_BULK_LIMITS))

    def _prepared(self, piece: Piece) -> Prepared | None:
        try:
            if piece.problem is not None:
                raise ValueError(f"not JSON: {piece.problem}")
            return analysed(self.store, self.reader.record(piece.value).document, named=True)
        except (ValueError, OpenclawError) as error:
            failure: dict[str, Any] = {"line": piece.number, "reason": str(error)}
            if isinstance(piece.value, dict) and isinstance(piece.value.get("id"), str):
                failure["id"] = piece.value["id"][:128]
            self.counts.failed.append(failure)
            return None

    def _embedded(self, items: list[Prepared]) -> Iterator[Prepared]:
        """Embed what will be stored: a record whose id exists is skipped without that cost."""
        new = [item for item in items if not self._exists(item)]
        embedded, warnings = embed(self.store, new)
        self.counts.warn(warnings)
        self.counts.truncated += sum(item.truncated for item in embedded)
        by_id = {item.document["id"]: item for item in embedded}
        return (by_id.get(item.document["id"], item) for item in items)

    def _exists(self, item: Prepared) -> bool:
        return self.store.paths.record(item.document["scope"], item.document["id"]).exists()

    def _decided(self, chooser: Chooser, items: list[Prepared]) -> Iterator[Decision]:
        for item in items:
            decision = self._decide(chooser, item)
            if decision.action == "skipped":
                self.counts.skipped += 1
            elif decision.action in ("merged", "overwritten"):
                self.counts.overwritten += 1
                self.counts.merged += decision.action == "merged"
            else:
                self.counts.added += 1
            if decision.change is not None:
                chooser.note(decision)
            yield decision

    def _decide(self, chooser: Chooser, item: Prepared) -> Decision:
        record_id = item.document["id"]
        taken = chooser.existing(record_id)
        if taken is None:
            return chooser.decide(item, allow_duplicate=not self.request.dedup)
        rule = self.request.on_conflict
        newer = rule == "newer" and record_of(item.document).updated > taken.updated
        if rule == "duplicate":
            copy = {**item.document, "id": self.store.env.ids.new("mem")}
            return chooser.addition(item._replace(document=copy))
        if (rule == "overwrite" or newer) and item.document["scope"] == taken.scope:
            document = superseding(taken, item.document, rule, self.moment)
            return chooser.addition(item._replace(document=document))._replace(action="overwritten")
        return Decision("skipped", record_id, taken.document, duplicate_of=record_id)

    def _dry_run(self, items: list[Prepared]) -> None:
        if self.dry_chooser is None:
            view = self.store.repository.view()
            if self.store.paths.exists():
                opened = self.store.open()
                self.following.snapshot = opened.snapshot
            self.dry_chooser = Chooser(self.store, view, self.following.snapshot, self.moment)
        for _decision in self._decided(self.dry_chooser, items):
            pass

    def result(self) -> Result:
        """Return the counts, and how many records the store holds now."""
        counts = self.counts
        if not self.request.dry_run:
            counts.warn(self.service.checkpoint())
        if counts.truncated:
            counts.warn([truncation_warning(counts.truncated)])
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
