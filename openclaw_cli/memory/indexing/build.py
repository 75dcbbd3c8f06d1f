"""``memory index``: the log and hand-edited records become the next generation.

Writers go on meanwhile: the writer lock is held to read the log at the start, for a moment when a
hand-edited record is acknowledged, and to put the finished generation in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

from openclaw_cli.clock import format_time
from openclaw_cli.errors import DamagedError, OpenclawError, StorageError
from openclaw_cli.index.file.base import Base, open_base
from openclaw_cli.index.file.builder import Builder, Plan
from openclaw_cli.memory.documents import (
    document_of,
    document_of_entry,
    finished,
    model_of_entry,
    payload_of,
    truncation_warning,
)
from openclaw_cli.memory.indexing.changes import Candidate, Changes, Loaded, Scanner, load
from openclaw_cli.memory.indexing.vectorising import Item, Vectors
from openclaw_cli.memory.requests import IndexRequest
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Progress, Warning, no_progress
from openclaw_cli.store import files, fsio, generations, recovery, tombstones, wal
from openclaw_cli.store.records import Record, encode_record, record_of
from openclaw_cli.store.repository import Change, Writer
from openclaw_cli.text.version import ANALYZER_VERSION

if TYPE_CHECKING:
    from openclaw_cli.memory.analysis import Analysis

_PROGRESS_EVERY = 32


@dataclass(slots=True)
class Report:
    """What an index run did; counts are relative to the generation before."""

    records: int = 0
    added: int = 0
    updated: int = 0
    removed: int = 0
    embedded: int = 0
    reused: int = 0
    pending: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    generation: int = 0
    warnings: list[Warning] = field(default_factory=list)


def build(
    store: Store,
    request: IndexRequest,
    progress: Progress = no_progress,
    known: wal.Wal | None = None,
) -> Report:
    """Build and publish the next generation; a no-op when nothing has changed.

    The caller holds the indexer's lock, and no purge is left unfinished. ``known`` is the log as
    the caller has read it under the writer lock.
    """
    return _Run(store, request, progress).run(known)


class _Run:
    """One index run, under the indexer's lock."""

    def __init__(self, store: Store, request: IndexRequest, progress: Progress) -> None:
        self.store = store
        self.request = request
        self.progress = progress
        self.report = Report()
        self.own_entries: set[int] = set()
        self.unsynced: list[tuple[wal.Entry, str]] = []

    def run(self, known: wal.Wal | None) -> Report:
        current, problem = open_base(self.store.paths)
        if problem is not None:
            self._rebuilt(problem)
        floor = 0 if current is None else current.config.seq
        with self.store.repository.writing(known) as writer:
            log = writer.log
            self.report.warnings += writer.warnings
        if self.request.embed:
            self.report.warnings += self.store.model_warnings()
        base = self._usable(current)
        changes = self._scan(base, log)
        stale = base is None or base.config.unindexed != changes.unindexed
        is_new = log.last_seq > floor or bool(log.damaged)
        if stale or changes.candidates or changes.dropped or is_new:
            self._build(base, current, log, changes)
            base, _problem = open_base(self.store.paths)
        elif base is not None:
            self.report.pending = sum(base.metadata.take("pending"))
            # Whoever published it, or meant to publish another one, may have been stopped.
            if log.lines > 1 or not generations.is_swept(self.store.paths):
                self._sync_records(log.entries)
                with self.store.repository.writing(log) as writer:
                    self._cut(writer, floor)
        return self._finished(base, changes)

    def _rebuilt(self, reason: str, path: str | None = None) -> None:
        self.report.warnings.append(Warning("index-rebuilt", f"rebuilt: {reason}", path))

    def _usable(self, current: Base | None) -> Base | None:
        """Return the generation if its terms and columns can go over to the next one."""
        if current is None or self.request.rebuild:
            return None
        if current.config.tokenizer != ANALYZER_VERSION:
            self._rebuilt("the index was made by another tokenizer version")
            return None
        bad = current.verify() if self.request.verify else []
        for path, reason in bad:
            self._rebuilt(reason, path)
        try:
            current.check()
        except DamagedError as error:
            self._rebuilt(error.message, error.path)
            return None
        return None if bad else current

    def _scan(self, base: Base | None, log: wal.Wal) -> Changes:
        self.progress("scan", 0, None)
        scanner = Scanner(
            self.store.paths,
            base,
            log,
            again=self._again(base),
            thorough=self.request.verify,
            now_ns=self.store.env.clock.wall_ns(),
        )
        return scanner.all_files() if self.request.scan or base is None else scanner.log_only()

    def _again(self, base: Base | None) -> frozenset[int]:
        """Return the base's documents that are built anew: those whose vector is to be made."""
        if base is None:
            return frozenset()
        if self.request.reembed:
            return frozenset(range(base.count))
        again = self._in_stale_spaces(base)
        if self.request.embed:
            pending = base.metadata.plain("pending")
            again.update(ordinal for ordinal, waiting in enumerate(pending) if waiting)
            again |= self._newly_covered(base)
        return frozenset(again)

    def _newly_covered(self, base: Base) -> set[int]:
        """Return the documents without a vector whose language some model reads by now."""
        languages, spaces = base.metadata.coded("language"), base.metadata.coded("space")
        covered = {
            code
            for code, language in enumerate(languages.values)
            if self.store.catalog.covering(language) is not None
        }
        none = spaces.matching([None])
        pairs = zip(languages.codes, spaces.codes, strict=True)
        return {n for n, (code, space) in enumerate(pairs) if code in covered and space in none}

    def _in_stale_spaces(self, base: Base) -> set[int]:
        """Return the documents whose vector was made by another version of its model.

        Vectors of two versions never stand in one space.
        """
        current = {model.name: model.digest for model in self.store.catalog.models}
        return {
            ordinal
            for name, space in base.config.spaces.items()
            if current.get(name, space.info.digest) != space.info.digest
            for ordinal in base.rows(name)
        }

    def _build(
        self, base: Base | None, current: Base | None, log: wal.Wal, changes: Changes
    ) -> None:
        paths = self.store.paths
        number, folder = generations.prepare(paths)
        try:
            threshold = self.store.env.config.integer("memory.index.hnswThreshold")
            dropped = frozenset(changes.dropped)
            plan = Plan(number, ANALYZER_VERSION, folder, base, dropped, threshold)
            source = None if self.request.reembed else current
            vectors = Vectors(self.store, source, embed=self.request.embed)
            with Builder(plan) as builder:
                self._fill(builder, vectors, changes)
                config = builder.finish(changes.stats, changes.scanned)
                self.report.pending = builder.pending
            lost = {candidate.record_id for candidate in changes.restorable}
            self._sync_records([e for e in log.entries if e.record_id not in lost])
            with self.store.repository.writing(log) as writer:
                self._restore(changes, writer)
                seq = self._settled(log.last_seq, writer.log)
                self._sync_records([e for e in writer.log.entries if log.last_seq < e.seq <= seq])
                builder.seal(config, seq, changes.unindexed)
                generations.publish(paths, number)
                self._cut(writer, seq)
        except BaseException:
            if generations.current_number(paths) != number:
                generations.discard(paths, number)
            self._write_unsynced()
            raise
        self.report.embedded = vectors.embedded
        self.report.reused = sum(s.info.vectors for s in config.spaces.values()) - vectors.embedded
        if vectors.truncated:
            self.report.warnings.append(truncation_warning(vectors.truncated))

    def _cut(self, writer: Writer, seq: int) -> None:
        """Remove what the published generation, which goes up to ``seq``, has made needless.

        Cutting the log comes last: a purge that it holds is finished only when nothing of what the
        older files held is left.
        """
        paths = self.store.paths
        generations.sweep(paths)
        fsio.remove(paths.partial)
        tombstones.fold(paths.tombstones, writer.log, seq)
        writer.cut(seq)
        self.report.warnings += writer.warnings

    def _fill(self, builder: Builder, vectors: Vectors, changes: Changes) -> None:
        total = len(changes.candidates)
        stats: dict[str, tuple[Candidate, Loaded]] = {}
        # Closed at once after Ctrl-C or an error, so that no thread goes on embedding.
        with closing(vectors.fill(self._items(changes, stats), total)) as documents:
            for done, document in enumerate(documents, 1):
                candidate, loaded = stats.pop(document.id)
                builder.add(document, loaded.stat)
                if not candidate.known:
                    self.report.added += 1
                elif not candidate.again:
                    self.report.updated += 1
                if done % _PROGRESS_EVERY == 0 or done == total:
                    self.progress("index", done, total)
        self.progress("write", 0, None)

    def _items(
        self, changes: Changes, stats: dict[str, tuple[Candidate, Loaded]]
    ) -> Iterator[Item]:
        # What reads text is loaded when there is any to read: most runs find nothing changed.
        from openclaw_cli.memory.analysis import analyse_record, tells_an_edit

        catalog = self.store.catalog
        for candidate, loaded in load(self.store.paths, changes):
            record, entry = loaded.record, candidate.entry
            if loaded.intact and entry is not None:
                model, text = model_of_entry(record, entry.payload, catalog)
                item = Item(document_of_entry(record, entry.payload, catalog), model, text)
            else:
                analysis = analyse_record(record, catalog)
                if tells_an_edit(record, analysis.content_hash):
                    record, loaded = self._acknowledge(record, loaded, analysis)
                document = document_of(record, analysis, None)
                item = Item(document, analysis.model, analysis.text)
            stats[record.id] = (candidate, loaded)
            yield item

    def _acknowledge(
        self, record: Record, loaded: Loaded, analysis: Analysis
    ) -> tuple[Record, Loaded]:
        """Give a record whose text was changed by hand its new hash and time, durably."""
        moment = format_time(self.store.env.clock.now())
        document = finished({**record.document, "updatedAt": moment}, analysis, None)
        path = self.store.paths.record(record.scope, record.id)
        with self.store.repository.writing() as writer:
            if crc32(files.read_file(path)) != loaded.stat[3]:
                return record, loaded  # changed once more meanwhile: the next run sees it
            change = Change(record.scope, record.id, document, payload_of(analysis, None))
            self.own_entries.update(entry.seq for entry in writer.commit([change]))
            state = path.stat()
        stat = (state.st_size, state.st_mtime_ns, state.st_ino, crc32(encode_record(document)))
        edited = record_of(document, record.scope)
        return edited, Loaded(edited, stat, intact=True)

    def _sync_records(self, entries: Sequence[wal.Entry]) -> None:
        """Make durable the record files that the log will no longer be able to write again."""
        newest = recovery.final_states(entries).values()
        named = self.store.paths.record_name
        puts = [
            (entry, named(entry.scope, entry.record_id)) for entry in newest if entry.op == "put"
        ]
        try:
            fsio.sync_files([path for _entry, path in puts])
        except StorageError:
            self.unsynced = puts
            raise
        for scope in {entry.scope for entry in newest if entry.op == "delete"}:
            fsio.sync_folder(self.store.paths.records(scope))
        # A process killed while it made the folders has left their names at risk.
        fsio.sync_folder(self.store.paths.records(SCOPES[0]).parent)

    def _write_unsynced(self) -> None:
        """Write the records anew whose sync has failed, unless they were changed meanwhile.

        The kernel tells once that it could not write a page and forgets that it should: the next
        sync of the same file would find nothing to do and be taken for a success.
        """
        if not self.unsynced:
            return
        with suppress(OpenclawError), self.store.repository.writing():
            for entry, path in self.unsynced:
                assert entry.record is not None
                if recovery.checksum(path) == crc32(encode_record(entry.record)):
                    recovery.write_record(self.store.paths, entry)

    def _restore(self, changes: Changes, writer: Writer) -> None:
        """Write the record again where the log knows it and its file is damaged."""
        for candidate in changes.restorable:
            assert candidate.entry is not None
            path = self.store.paths.record(candidate.scope, candidate.record_id)
            # Without this hint the next command writes the record, should this one get no further.
            fsio.remove(self.store.paths.applied, durable=False)
            kept = fsio.move_aside(path, "bad", writer.stamp())
            recovery.write_record(self.store.paths, candidate.entry)
            self._sync_records([candidate.entry])
            self.report.warnings.append(
                Warning(
                    "restored",
                    f"{path.name} was damaged: kept as {kept.name}, written again from the log",
                    str(path),
                )
            )

    def _settled(self, seq: int, log: wal.Wal) -> int:
        """Return up to which entry the new generation goes: our own ones are in it already."""
        for entry in log.entries:
            if entry.seq > seq:
                if entry.seq not in self.own_entries:
                    break
                seq = entry.seq
        return seq

    def _finished(self, base: Base | None, changes: Changes) -> Report:
        report = self.report
        report.damaged = changes.damaged
        report.removed = changes.removed
        if base is not None:
            report.records = base.count
            report.generation = base.config.generation
        return report
