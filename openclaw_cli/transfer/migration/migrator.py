"""``memory migrate`` on the store: older records become ones of this format, and back again.

Every original is kept before anything changes: records changed in place in ``records.bak/``, the
folders and the index of the older layout under their names with ``.bak``. Records are written
through the log like any other change, so that readers and the index see one state or the other.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from openclaw_cli.errors import StorageError
from openclaw_cli.index.file.base import open_base
from openclaw_cli.memory.documents import payload_of
from openclaw_cli.memory.indexing.checkpoint import checkpoint
from openclaw_cli.memory.indexing.checkpoint import index as run_index
from openclaw_cli.memory.requests import IndexRequest
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES, valid_name
from openclaw_cli.result import Progress, Result, Warning, no_progress
from openclaw_cli.store import files, fsio, wal
from openclaw_cli.store.migrations import s0001_records, s0002_folders
from openclaw_cli.store.migrations import s0003_index as s0003
from openclaw_cli.store.records import Record, encode_record, parse_record
from openclaw_cli.store.recovery import View
from openclaw_cli.store.repository import Change, Writer
from openclaw_cli.transfer.migration.upgrading import Outcome, Upgrader, same_but_recalls

BATCH = 256
#: How much longer than usual the log may get while many records are written.
BULK_LIMITS = 16
Key = tuple[str, str]


def migrate_store(
    service: MemoryService, *, dry_run: bool = False, progress: Progress = no_progress
) -> Result:
    """Bring the store to the current format; what is of it already stays untouched.

    It may be stopped anywhere and run again. A record that cannot be read, or is of a newer
    format, is listed as failed and kept.
    """
    service.store.require()
    return _Migration(store_to_migrate(service), progress, dry_run=dry_run).run()


def store_to_migrate(service: MemoryService) -> Store:
    """Return the store of a service as one that may be written to in its older layout."""
    store = Store(service.store.env, service.store.agent)
    store.repository = store.repository._replace(migrating=True)
    return store


class _Migration:
    def __init__(self, store: Store, progress: Progress, *, dry_run: bool) -> None:
        self.store = store
        self.dry_run = dry_run
        self.paths = store.paths
        self.progress = progress
        self.outcome = Outcome()
        self.upgrader = Upgrader(store.catalog, store.agent)
        self.vectorised = _vectorised(store)

    def run(self) -> Result:
        view = self.store.repository.view()
        keys = view.identifiers()
        odd = [
            path for _scope, path in s0002_folders.files(self.paths) if not valid_name(path.stem)
        ]
        for path in odd:
            self.outcome.fail(path.stem, f"{path.name} is not named after an id", path)
        self._check_room()
        old_index = s0003.is_there(self.paths)
        if self.dry_run:
            self._batch(view, keys, None)
            self._tell_layout(old_index)
        else:
            if old_index:
                with self.store.repository.writing():
                    s0003.retire(self.paths)
            self._batches(keys)
            self._finish(old_index)
        return self.outcome.result(backup_of(self.store), dry_run=self.dry_run)

    def _batches(self, keys: list[Key]) -> None:
        log: wal.Wal | None = None
        for start in range(0, len(keys), BATCH):
            batch = keys[start : start + BATCH]
            with self.store.repository.writing(log) as writer:
                self._batch(View(self.paths, writer.log, {}), batch, writer)
                self.outcome.warnings += writer.warnings
            log = writer.log
            self.outcome.warnings += checkpoint(self.store, log, times=BULK_LIMITS)
            self.progress("migrate", start + len(batch), len(keys))

    def _check_room(self) -> None:
        """Refuse before anything is done what could not be finished."""
        taken = [
            self.paths.older_backup(scope)
            for scope in s0002_folders.scopes(self.paths)
            if os.path.lexists(self.paths.older_backup(scope))
        ]
        if s0003.is_there(self.paths) and os.path.lexists(self.paths.index_backup):
            taken.append(self.paths.index_backup)
        if taken:
            raise StorageError(
                f"{taken[0]} is there already, from an earlier migration",
                path=str(taken[0]),
                hint="move it out of the state directory, then run the command again",
            )

    def _batch(self, view: View, batch: Sequence[Key], writer: Writer | None) -> None:
        """Decide about some records and, with a ``writer``, keep the originals and commit."""
        changes: list[Change] = []
        kept: list[Path] = []
        for key in batch:
            try:
                record = view.record(*key)
                if record is not None:
                    change = self._change(key, record)
            except (OSError, ValueError) as error:
                self._failed(key, f"damaged: {error}", take=writer is not None)
                continue
            if record is None or change is None:
                self.outcome.unchanged += record is not None
                continue
            if writer is not None and os.path.lexists(self.paths.record(*key)):
                kept.append(self._keep(key, writer))
            changes.append(change)
            self.outcome.changed += 1
        if writer is not None and changes:
            fsio.sync_files(kept)
            if kept:
                fsio.sync_folder(self.paths.records_backup(SCOPES[0]).parent)
                fsio.sync_folder(self.paths.root)
            writer.commit(changes)

    def _change(self, key: Key, record: Record) -> Change | None:
        older = s0002_folders.older_file(self.paths, *key)
        is_older_place = os.path.lexists(older) and not os.path.islink(older.parent)
        in_place = os.path.lexists(self.paths.record(*key))
        if is_older_place and in_place:
            self._compare(key, record, older)
        if s0001_records.is_newer(record.document):
            raise ValueError(f"format version {record.document['version']} is newer than 2.x")
        if not s0001_records.applies(record.document) and (in_place or not is_older_place):
            return None
        document, analysis = self.upgrader.upgraded(record.document, key[0])
        if key[1] in self.vectorised:
            document["embeddingPending"] = False
        if self.dry_run:
            self.outcome.tell(key[1], record.document, document)
        return Change(*key, document, payload_of(analysis, None))

    def _compare(self, key: Key, record: Record, older: Path) -> None:
        """List an older file whose record is another in ``records/``: that one stands."""
        try:
            found = parse_record(files.read_file(older), *key)
            expected, _analysis = self.upgrader.upgraded(found.document, key[0])
            current, _analysis = self.upgrader.upgraded(record.document, key[0])
        except ValueError as error:
            if files.read_file(older) != files.read_file(self.paths.record(*key)):
                self.outcome.fail(key[1], f"damaged: {error}; there is another one", older)
            return
        if not same_but_recalls(expected, current):
            self.outcome.fail(key[1], "records/ has another record of this id, which stays", older)

    def _failed(self, key: Key, reason: str, *, take: bool) -> None:
        """List a record that cannot be migrated; one of the older layout is taken over as it is,
        so that it stays where records are looked for and can be mended."""
        path, older = self.paths.record(*key), s0002_folders.older_file(self.paths, *key)
        if os.path.lexists(path) or not os.path.lexists(older):
            self.outcome.fail(key[1], reason, path)
            return
        self.outcome.fail(key[1], reason, older)
        if take:
            try:
                fsio.write_file(path, files.read_file(older))
            except (OSError, ValueError):
                return  # no regular file: it stays in the folder that is kept

    def _keep(self, key: Key, writer: Writer) -> Path:
        """Keep the bytes of a record file; they are synced before the record changes.

        Of a rollback that was stopped the true original may be kept still: it stays.
        """
        data = files.read_file(self.paths.record(*key))
        folder = self.paths.records_backup(key[0])
        fsio.make_folder(folder)
        path = folder / f"{key[1]}.json"
        if os.path.lexists(path):
            if _is_original(path, data, key):
                return path
            if not is_cut_off(path, data):
                aside = fsio.move_aside(path, "older", writer.stamp())
                told = f"another original of {key[1]}, of an earlier migration, is now {aside.name}"
                self.outcome.warnings.append(Warning("set-aside", told, str(aside)))
        fsio.write_file(path, data, durable=False)
        return path

    def _tell_layout(self, old_index: bool) -> None:
        if old_index:
            self.outcome.note(self.paths.index, f"kept as {self.paths.index_backup.name}, rebuilt")
        for scope in s0002_folders.scopes(self.paths):
            name = self.paths.older_backup(scope).name
            self.outcome.note(
                self.paths.older_records(scope), f"taken into records/, kept as {name}"
            )

    def _finish(self, old_index: bool) -> None:
        """Put the older folders away, and make an index of what there is now."""
        if s0002_folders.scopes(self.paths):
            with self.store.repository.writing():
                s0002_folders.retire(self.paths)
        elif not self.outcome.changed and not old_index:
            return
        report = run_index(self.store, IndexRequest(embed=False), self.progress)
        self.outcome.warnings += report.warnings


def _is_original(kept: Path, data: bytes, key: Key) -> bool:
    """Tell whether a file holds what ``data`` is, or what the program has made of it in writing it
    again: equal but for its layout and for recalls."""
    try:
        original = files.read_file(kept)
        if original == data:
            return True
        before, now = parse_record(original, *key).document, parse_record(data, *key).document
    except ValueError:
        return False
    # What a power cut tears off may be the last line end only.
    return data.strip() == encode_record(now).strip() and same_but_recalls(before, now)


def is_cut_off(kept: Path, data: bytes) -> bool:
    """Tell whether a file is what a power cut has left of a copy of ``data``: it adds nothing."""
    try:
        return data.startswith(files.read_file(kept).rstrip(b"\0"))
    except ValueError:
        return False


def backup_of(store: Store) -> str | None:
    """Return the folder that holds what is kept, None when nothing is."""
    return str(store.paths.root) if any(f.is_dir() for f in store.paths.backups) else None


def _vectorised(store: Store) -> frozenset[str]:
    """Return the ids of the records of which the index has a vector, to be used again."""
    base, _problem = open_base(store.paths)
    if base is None:
        return frozenset()
    spaces = base.metadata.coded("space")
    return frozenset(n for i, n in enumerate(base.metadata.plain("id")) if spaces[i] is not None)
