"""Records and WAL as one: the only place where a change of memory is acknowledged and applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from openclaw_cli.clock import Clock
from openclaw_cli.errors import StorageError
from openclaw_cli.paths import SCOPES, MemoryPaths
from openclaw_cli.result import Warning
from openclaw_cli.store import fsio, locks, migrations, recovery, wal


class Change(NamedTuple):
    """A change that is to be made: the record document of a put, or None to delete."""

    scope: str
    record_id: str
    record: dict[str, Any] | None
    payload: dict[str, Any] | None = None


@dataclass(slots=True)
class Writer:
    """The store while this process holds its writer lock; recovery has been done."""

    paths: MemoryPaths
    clock: Clock
    log: wal.Wal
    warnings: list[Warning] = field(default_factory=list)
    behind: bool = False

    def commit(self, changes: Sequence[Change]) -> list[wal.Entry]:
        """Acknowledge ``changes`` with one fsync, then write their record files.

        After a failure before the fsync nothing has happened. After it the change is made, whatever
        becomes of the files: who were told that it failed would make it again. The log finishes the
        work with the next command, and a warning tells so.
        """
        if self.behind:
            recovery.replay(self.paths, self.log, recovery.Indexed(self.log.floor))
            self.behind = False
        first = self.log.last_seq + 1
        entries = [
            wal.Entry(
                seq, "delete" if change.record is None else "put", change.scope, change.record_id,
                change.record, change.payload,
                recovery.checksum(self.paths.record_name(change.scope, change.record_id)),
            )
            for seq, change in enumerate(changes, first)
        ]  # fmt: skip
        if not entries:
            return []
        held = [entry.packed(wal.encode_entry(entry)[:-1]) for entry in entries]
        wal.append(self.paths.wal, self.log, held)
        state = self.paths.wal.stat()
        self.log = self.log._replace(
            entries=(*self.log.entries, *held),
            size=state.st_size,
            inode=state.st_ino,
            lines=self.log.lines + len(entries) + (not self.log.size),
        )
        self._apply(entries)
        return entries

    def _apply(self, entries: Sequence[wal.Entry]) -> None:
        try:
            for entry in entries:
                recovery.write_record(self.paths, entry)
        except StorageError as error:
            self.behind = True
            message = f"{error.message}; the log has it, and the next command that writes goes on"
            self.warnings.append(Warning("record-behind", message, error.path))
        else:
            recovery.note_applied(self.paths.applied, entries[-1].seq)

    def purge(self, user: str, gone: Sequence[tuple[str, str]], options: dict[str, Any]) -> None:
        """Acknowledge that ``gone`` (scope, id) and all else of ``user`` is to be forgotten.

        From now on no reader sees those records; their files are left to who finishes the purge.
        """
        marked = tuple(
            (scope, record_id, recovery.checksum(self.paths.record(scope, record_id)))
            for scope, record_id in gone
        )
        intent = wal.Purge(self.log.last_seq + 1, user, marked, options)
        wal.append(self.paths.wal, self.log, [intent])
        self.log = wal.read(self.paths.wal, self.log)

    def stamp(self) -> str:
        """Return the present as it stands in the names of files that are set aside."""
        return recovery.stamp(self.clock)

    def cut(self, seq: int) -> None:
        """Remove the entries up to ``seq`` from the log; damaged lines are kept beside it."""
        if self.log.damaged:
            kept = self.log.damaged.kept(self.paths.wal, self.stamp())
            self.warnings.append(
                Warning("set-aside", f"damaged log lines were kept in {kept.name}", str(kept))
            )
        wal.keep_after(self.paths.wal, self.log, seq)
        self.log = wal.read(self.paths.wal)


class Repository(NamedTuple):
    """One memory store on disk, opened for the commands of one process.

    ``lock_timeout`` is in seconds; ``holder`` is told to those who wait for a lock; ``indexed``
    reads what the current index tells. Only with ``migrating`` a store of an older
    layout is written to.
    """

    paths: MemoryPaths
    clock: Clock
    lock_timeout: float
    holder: str
    indexed: Callable[[], recovery.Indexed] = recovery.Indexed
    migrating: bool = False

    def view(self) -> recovery.View:
        """Return the records as they are now, without a lock and without writing."""
        return recovery.View.open(self.paths, self.indexed)

    @contextmanager
    def writing(self, known: wal.Wal | None = None) -> Iterator[Writer]:
        """Hold the writer lock, with what a crash left behind repaired.

        Sequence numbers go on from the current index even when the log has been lost. ``known`` is
        an earlier reading of the log, so that bulk work does not read it whole for every batch.
        """
        if not self.migrating:
            migrations.require_current(self.paths)
        for scope in SCOPES:
            fsio.make_folder(self.paths.records(scope))
        with locks.hold(
            self.paths.writer_lock,
            clock=self.clock,
            timeout=self.lock_timeout,
            holder=self.holder,
        ):
            log = wal.read(self.paths.wal, known)
            is_another = known is None or known.inode != log.inode
            indexed = recovery.Indexed(log.floor)
            if is_another:
                indexed = self.indexed()
                log = log._replace(floor=indexed.seq)
            warnings = recovery.repair_log(self.paths, log, self.clock)
            warnings += recovery.damage_warnings(self.paths, log)
            recovery.replay(self.paths, log, indexed)
            if is_another:
                # A process killed before it synced the folder has left the log's name at risk.
                fsio.sync_folder(self.paths.root)
            yield Writer(self.paths, self.clock, log._replace(torn=0), warnings)

    @contextmanager
    def indexing(self) -> Iterator[None]:
        """Hold the lock that keeps other index runs out, but no writer."""
        fsio.make_folder(self.paths.root)
        with locks.hold(
            self.paths.indexer_lock,
            clock=self.clock,
            timeout=self.lock_timeout,
            holder=self.holder,
        ):
            yield
