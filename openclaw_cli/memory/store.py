"""One agent's memory opened for a command: where it lies, its records, its index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from openclaw_cli import ids
from openclaw_cli.config_keys import NO_OPENAI
from openclaw_cli.environment import Environment
from openclaw_cli.errors import DamagedError, NotFoundError, UnavailableError
from openclaw_cli.index.file.base import Base, open_base
from openclaw_cli.index.file.snapshot import Snapshot
from openclaw_cli.index.protocol import Document, Where
from openclaw_cli.memory.doctor import older
from openclaw_cli.memory.documents import carried_document, document_of_entry
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.result import MOST_WARNINGS, Warning, counted
from openclaw_cli.store import generations, recovery, scan, wal
from openclaw_cli.store.migrations import OLDER, older_warning, s0001_records
from openclaw_cli.store.records import Record, record_of
from openclaw_cli.store.repository import Repository
from openclaw_cli.text.version import ANALYZER_VERSION

if TYPE_CHECKING:
    from openclaw_cli.embed.catalog import Catalog
    from openclaw_cli.memory.embedding import Embedding

INDEX_HINT = "run: openclaw memory index"


class Opened(NamedTuple):
    """A consistent state to read from: records, index, and what is wrong with them."""

    view: recovery.View
    snapshot: Snapshot
    warnings: tuple[Warning, ...]

    def documents(self, where: Where) -> Iterator[Document]:
        """Yield what the index knows of the live records that pass a filter, oldest first."""
        mask = self.snapshot.select(where)
        for ordinal in range(self.snapshot.count):
            if mask is None or mask[ordinal]:
                yield self.snapshot.document(ordinal)


class Store:
    """The memory of one agent."""

    def __init__(self, env: Environment, agent: str) -> None:
        self.env = env
        self.agent = agent
        self.paths: MemoryPaths = env.state.memory(agent)
        self.repository = Repository(
            self.paths, env.clock, env.lock_timeout, env.holder, self.indexed
        )

    @cached_property
    def catalog(self) -> Catalog:
        """The embedding models there are."""
        from openclaw_cli.embed.catalog import Catalog

        return Catalog(
            self.env.state.models, self.env.config.optional_text("memory.embedding.localModel")
        )

    @cached_property
    def embedding(self) -> Embedding:
        """The embedders of this command.

        Raises `UnavailableError` when the configuration names a provider or a model that is not
        there.
        """
        from openclaw_cli.memory.embedding import Embedding

        config = self.env.config
        if config.text("memory.embedding.provider") == "openai":
            raise UnavailableError(
                NO_OPENAI,
                hint="set memory.embedding.provider to local, or use --no-embed, --mode lexical",
            )
        model = config.optional_text("memory.embedding.localModel")
        if model is not None:
            self.catalog.get(model)
        return Embedding(self.catalog, ids.processors())

    def require(self) -> None:
        """Raise `NotFoundError` naming the nearest agent when this one has no memory."""
        if self.paths.exists():
            return
        raise NotFoundError(
            f"there is no agent {self.agent!r} with memories in {self.env.state.root}",
            path=str(self.paths.root),
            hint=self.env.nearest_agent(self.agent, "memory add TEXT"),
        )

    def indexed(self) -> recovery.Indexed:
        """Return what the current index tells of log and record files."""
        base, _problem = open_base(self.paths)
        if base is None:
            return recovery.Indexed()
        base.folder.close()

        def checksums() -> dict[str, int] | None:
            from openclaw_cli.index.file.statcache import read_stats

            try:
                known = read_stats(base)[0].checksums
                return dict(zip(base.metadata.take("id"), known, strict=True))
            except (DamagedError, ValueError, KeyError, TypeError):
                return None

        return recovery.Indexed(base.config.seq, checksums)

    def open(self, *, whole: bool = True) -> Opened:
        """Open for reading; takes no lock and writes nothing.

        The log is read before the index link is followed: the index then holds at least what was
        cut from that log. Where there is no index to use, every record is read instead, unless
        ``whole`` is False.
        """
        self.require()
        view = self.repository.view()
        base, problem = open_base(self.paths)
        warnings = recovery.damage_warnings(self.paths, view.log)
        snapshot, more = self.snapshot(base, view.log)
        if older.is_older(self.paths, view, indexed=base is not None):
            indexed = snapshot.base is not None
            snapshot.advance(older.documents(self.paths, view, self.catalog, indexed=indexed))
            return Opened(view, snapshot, (*warnings, older_warning(self.paths)))
        if problem is not None:
            warnings.append(_stale(self.paths, f"the index cannot be used: {problem}"))
        if snapshot.base is None and whole:
            snapshot.advance(older.documents(self.paths, view, self.catalog, indexed=False))
        return Opened(view, snapshot, (*warnings, *more))

    def snapshot(self, base: Base | None, log: wal.Wal) -> tuple[Snapshot, list[Warning]]:
        """Return the index as of ``log``, and warnings about what of it cannot be used."""
        changes, warnings = self.changes(log, 0 if base is None else base.config.seq)
        if base is None:
            return Snapshot(None, changes), warnings
        if base.config.tokenizer != ANALYZER_VERSION:
            warnings.append(_stale(self.paths, "the index was made by another tokenizer version"))
        if log.base > base.config.seq:
            warnings.append(_stale(self.paths, "the index is older than the write-ahead log"))
        try:
            _ = base.metadata  # asked for now, while there is a way to go on without
            return Snapshot(base, changes), warnings
        except DamagedError as error:
            warnings.append(_stale(self.paths, error.message))
            return Snapshot(None, changes), warnings

    def without_base(self, opened: Opened) -> Opened:
        """Return ``opened`` as the log and the record files have it, for when the index proves
        damaged."""
        changes, _warnings = self.changes(opened.view.log, 0)
        snapshot = Snapshot(None, changes)
        snapshot.advance(older.documents(self.paths, opened.view, self.catalog, indexed=False))
        return Opened(opened.view, snapshot, opened.warnings)

    def changes(self, log: wal.Wal, after: int) -> tuple[dict[str, Document | None], list[Warning]]:
        """Return the newest document of each record in the log after sequence ``after``."""
        newest: dict[str, wal.Entry] = {}
        for entry in reversed(log.entries):
            if entry.seq <= after:
                break
            newest.setdefault(entry.record_id, entry)
        found: dict[str, Document | None] = {}
        problems: list[str] = []
        for record_id, logged in reversed(newest.items()):
            entry = logged.unpacked()
            if entry.record is None:
                found[record_id] = None
                continue
            try:
                record = record_of(entry.record, entry.scope)
                # The catalog of models is read only when a payload is outdated.
                found[record_id] = carried_document(record, entry.payload) or document_of_entry(
                    record, entry.payload, self.catalog
                )
            except (ValueError, KeyError, TypeError) as error:
                problems.append(f"log entry {entry.seq}: {error}")
        more = len(problems) - MOST_WARNINGS
        if more > 0:
            problems[MOST_WARNINGS:] = [
                f"and {counted(more, 'more log entry', 'more log entries')}"
            ]
        return found, [Warning(recovery.DAMAGED, problem) for problem in problems]

    def model_warnings(self) -> list[Warning]:
        """Return a warning for each folder of models that holds none that can be used."""
        return [
            Warning("model-unusable", problem.message, problem.path)
            for problem in self.catalog.problems
        ]

    def count_warning(self, opened: Opened) -> Iterable[Warning]:
        """Yield a warning when there are more or fewer record files than the index accounts for."""
        if any(warning.code == OLDER for warning in opened.warnings):
            return
        live = opened.snapshot.live
        base = opened.snapshot.base
        damaged = 0 if base is None else base.config.unindexed
        now = self.env.clock.wall_ns()
        if base is not None and scan.unchanged(self.paths, base.config.scanned, now):
            files = base.count + damaged
        else:
            files = scan.count(self.paths)
        if damaged and files == live + damaged:
            yield Warning(
                "records-damaged",
                f"{damaged} damaged record files are not indexed; memory index names them",
                str(self.paths.root / "records"),
            )
        elif files != live and not (opened.view.better or self.has_moved_on(opened)):
            yield Warning(
                "index-differs",
                f"{files} record files, {live} in index and log; {INDEX_HINT}",
                str(self.paths.index),
            )

    def has_moved_on(self, opened: Opened) -> bool:
        """Tell whether somebody has written since: what differs then is no fault."""
        log = wal.read(self.paths.wal)
        known = opened.view.log
        return (log.last_seq, log.base) != (known.last_seq, known.base)

    def shown(
        self, opened: Opened, scope: str, record_id: str, warnings: MutableSequence[Warning]
    ) -> Record | None:
        """Return a record that the index knows; where there is none to show, warn of it unless it
        was deleted just now."""
        path = self.paths.record_name(scope, record_id)
        try:
            record = opened.view.readable(scope, record_id, warnings)
        except (OSError, ValueError) as error:
            message = f"{record_id}: {error}; {INDEX_HINT}"
            warnings.append(Warning("record-damaged", message, path))
            return None
        if record is not None:
            note_older(self, record, warnings)
        elif not self.has_moved_on(opened):
            message = f"{record_id} is gone; {INDEX_HINT}"
            warnings.append(Warning("record-missing", message, path))
        return record


def note_older(store: Store, record: Record, warnings: MutableSequence[Warning]) -> None:
    """Warn, once, when a record that is shown is of an older format."""
    if s0001_records.applies(record.document) and all(w.code != OLDER for w in warnings):
        warnings.append(older_warning(store.paths))


class Following:
    """A state of the store that is carried along from lock to lock, so that bulk work does not
    read the log whole for every batch.

    ``opened`` is what was read before the lock under which this is made: it serves on unless the
    index is another one by now.
    """

    def __init__(self, store: Store, opened: Opened | None = None) -> None:
        self._store = store
        self._seq = -1
        self._snapshot = Snapshot(None, {})
        self.log: wal.Wal | None = None
        base = None if opened is None else opened.snapshot.base
        if opened is not None and base is not None:
            self._snapshot = opened.snapshot
            if base.folder.number == generations.current_number(store.paths):
                self._seq = max(opened.view.log.last_seq, base.config.seq)

    def catch_up(self, log: wal.Wal) -> recovery.View:
        """Go on to ``log``, as read under the writer lock or written by the caller."""
        self.log = log
        return recovery.View.under_lock(self._store.paths, log)

    @property
    def snapshot(self) -> Snapshot:
        """The index as of the log; made when it is asked for, which most of an import never does.

        The caller holds the writer lock under which the log was read.
        """
        log = self.log
        if log is not None and self._seq != log.last_seq:
            if log.base <= self._seq < log.last_seq:
                changes, _warnings = self._store.changes(log, self._seq)
                self._snapshot.advance(changes)
            else:
                base, _problem = open_base(self._store.paths)
                self._snapshot, _warnings = self._store.snapshot(base, log)
            self._seq = log.last_seq
        return self._snapshot


def _stale(paths: MemoryPaths, reason: str) -> Warning:
    return Warning("index-stale", f"{reason}; {INDEX_HINT}", str(paths.index))
