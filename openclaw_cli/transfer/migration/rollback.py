"""``memory migrate --rollback`` on the store: the originals that a migration has kept come back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from openclaw_cli.errors import DamagedError, NotFoundError
from openclaw_cli.memory.documents import payload_of
from openclaw_cli.memory.indexing.checkpoint import checkpoint
from openclaw_cli.memory.indexing.checkpoint import index as run_index
from openclaw_cli.memory.requests import IndexRequest
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES, valid_name
from openclaw_cli.result import Result
from openclaw_cli.store import files, fsio, wal
from openclaw_cli.store.migrations import (
    has_older_layout,
    s0001_records,
    s0002_folders,
    s0003_index,
)
from openclaw_cli.store.records import Record, parse_record
from openclaw_cli.store.recovery import View
from openclaw_cli.store.repository import Change, Writer
from openclaw_cli.store.savedfile import restore
from openclaw_cli.transfer.migration.migrator import (
    BATCH,
    BULK_LIMITS,
    Key,
    backup_of,
    is_cut_off,
    store_to_migrate,
)
from openclaw_cli.transfer.migration.upgrading import Outcome, Upgrader, same_but_recalls


def rollback_store(service: MemoryService, *, dry_run: bool = False) -> Result:
    """Restore what `migrate_store` has kept, to the byte; a record changed since then stays.

    Raises `NotFoundError` when nothing has been kept.
    """
    service.store.require()
    return _Rollback(store_to_migrate(service)).run(dry_run=dry_run)


class _Original(NamedTuple):
    """A record as it was before: where its bytes are kept, and what they say (None: damaged)."""

    key: Key
    path: Path
    data: bytes
    document: dict[str, Any] | None


class _Rollback:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.paths = store.paths
        self.outcome = Outcome()
        self.log: wal.Wal | None = None
        self.upgrader = Upgrader(store.catalog, store.agent)

    def run(self, *, dry_run: bool) -> Result:
        kept = _kept(self.store)
        layout = [folder for folder in self.paths.backups[1:] if folder.is_dir()]
        if not kept and not layout and not has_older_layout(self.paths):
            raise NotFoundError(
                f"nothing is kept from a migration in {self.paths.root}",
                path=str(self.paths.root),
                hint="memory migrate keeps what it changes in records.bak, user.bak, agent.bak",
            )
        if dry_run:
            for scope, record_id in kept:
                self.outcome.note(self.paths.record(scope, record_id), "restored")
            for folder in layout:
                self.outcome.note(folder, f"gets the name {folder.name.removesuffix('.bak')} again")
            self.outcome.changed = len(kept) + sum(len(os.listdir(f)) for f in layout)
            return self.outcome.result(backup_of(self.store), dry_run=True)
        self._in_place(kept)
        self._layout()
        return self.outcome.result(backup_of(self.store), dry_run=False)

    def _in_place(self, kept: list[Key]) -> None:
        restored: list[Key] = []
        for batch in _batches(kept):
            with self._writing() as writer:
                view = View(self.paths, writer.log, {})
                changes = []
                for key in batch:
                    original = self._original(key, self.paths.records_backup(key[0]))
                    change = self._restoring(view, original)
                    if change is not None:
                        changes.append(change)
                    if change is not None or self._is_restored(view, original):
                        restored.append(key)
                writer.commit(changes)
                self.outcome.changed += len(changes)
            self._committed(writer)
        if not restored:
            return
        if not s0003_index.is_there(self.paths):
            # What the log holds would be written again, well formed but not to the byte.
            run_index(self.store, IndexRequest(embed=False, scan=False))
        for batch in _batches(restored):
            with self.store.repository.writing() as writer:
                self._exactly(View(self.paths, writer.log, {}), batch)
        self._remove_empty()
        if not s0003_index.is_there(self.paths):
            run_index(self.store, IndexRequest(embed=False))

    def _writing(self) -> AbstractContextManager[Writer]:
        return self.store.repository.writing(self.log)

    def _committed(self, writer: Writer) -> None:
        self.log = writer.log
        if not s0003_index.is_there(self.paths):
            self.outcome.warnings += checkpoint(self.store, self.log, times=BULK_LIMITS)

    def _original(self, key: Key, folder: Path) -> _Original:
        path = folder / f"{key[1]}.json"
        try:
            data = files.read_file(path)
        except ValueError as error:
            hint = "move it out of the state directory, then run the command again"
            raise DamagedError(f"{path} is {error}", path=str(path), hint=hint) from error
        try:
            return _Original(key, path, data, parse_record(data, *key).document)
        except ValueError:
            return _Original(key, path, data, None)

    def _is_restored(self, view: View, original: _Original) -> bool:
        record = self._current(view, original.key)
        if record is None or original.document is not None:
            return record is not None and record.document == original.document
        # The power may have failed before a migration began to change the record.
        path = self.paths.record(*original.key)
        unchanged = s0001_records.applies(record.document)
        return unchanged and is_cut_off(original.path, files.read_file(path))

    def _current(self, view: View, key: Key) -> Record | None:
        """Return the record in ``records/`` alone; None also for a damaged one."""
        if not os.path.lexists(self.paths.record(*key)):
            return None
        try:
            return view.record(*key)
        except (OSError, ValueError):
            return None

    def _restoring(self, view: View, original: _Original) -> Change | None:
        """Return the change that puts an original back, None when there is none to be made."""
        if self._is_restored(view, original):
            return None
        record = self._current(view, original.key)
        if record is None or original.document is None:
            reason = "deleted or damaged since it was migrated; its original stays where it is kept"
            self.outcome.fail(original.key[1], reason, original.path)
            return None
        expected, analysis = self.upgrader.upgraded(original.document, original.key[0])
        # Between a rollback that was stopped and this one it may have been recalled as it was.
        known = (expected, original.document)
        if not any(same_but_recalls(said, record.document) for said in known):
            reason = "changed since it was migrated: it stays, its original is kept"
            self.outcome.fail(original.key[1], reason, original.path)
            return None
        return Change(*original.key, original.document, payload_of(analysis, None))

    def _exactly(self, view: View, keys: Sequence[Key]) -> None:
        """Give the files their original bytes, then let go of what was kept."""
        kept = [self._original(key, self.paths.records_backup(key[0])) for key in keys]
        done = [original for original in kept if self._is_restored(view, original)]
        # Without this hint the next command sweeps what a kill leaves between link and rename.
        fsio.remove(self.paths.applied, durable=False)
        for original in done:
            path = self.paths.record(*original.key)
            if original.document is not None and files.read_file(path) != original.data:
                restore(original.path, path)
        for scope in {original.key[0] for original in done}:
            fsio.sync_folder(self.paths.records(scope))
        for original in done:
            fsio.remove(original.path, durable=False)
        for scope in {original.key[0] for original in done}:
            fsio.sync_folder(self.paths.records_backup(scope))

    def _remove_empty(self) -> None:
        top = self.paths.records_backup(SCOPES[0]).parent
        if top.is_dir() and not any(path.is_file() for path in top.rglob("*")):
            fsio.remove_tree(top)
            fsio.sync_folder(self.paths.root)

    def _layout(self) -> None:
        with self.store.repository.writing():
            s0002_folders.restore(self.paths)
        for batch in _batches(s0002_folders.identifiers(self.paths)):
            with self._writing() as writer:
                view = View(self.paths, writer.log, {})
                changes = [
                    change for key in batch if (change := self._leaving(view, key)) is not None
                ]
                writer.commit(changes)
                self.outcome.changed += len(changes)
            self._committed(writer)
        with self.store.repository.writing():
            s0003_index.restore(self.paths)

    def _leaving(self, view: View, key: Key) -> Change | None:
        """Return the change that removes from ``records/`` what stands in the older place again."""
        path = self.paths.record(*key)
        if not os.path.lexists(path):
            return None
        original = self._original(key, self.paths.older_records(key[0]))
        before = original.document
        if before is None or s0001_records.is_newer(before):
            if files.read_file(path) == original.data:
                fsio.remove(path)  # taken over as it was, without the log
                return None
        elif (record := self._current(view, key)) is not None:
            expected, _analysis = self.upgrader.upgraded(before, key[0])
            if same_but_recalls(expected, record.document):
                return Change(*key, None)
        self.outcome.fail(key[1], "changed since it was migrated: the newer one stays", path)
        return None


def _kept(store: Store) -> list[Key]:
    """Return scope and id of every record of which the original is kept in ``records.bak``."""
    found = []
    for scope in SCOPES:
        try:
            names = os.listdir(store.paths.records_backup(scope))
        except FileNotFoundError:
            continue
        ids = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        found += [(scope, name) for name in sorted(ids) if valid_name(name)]
    return found


def _batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    for start in range(0, len(keys), BATCH):
        yield keys[start : start + BATCH]
