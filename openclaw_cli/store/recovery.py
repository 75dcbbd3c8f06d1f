"""What the WAL knows and the record files lack: replaying, and reading as if it were replayed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableSequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from openclaw_cli import ids
from openclaw_cli.clock import Clock, format_stamp
from openclaw_cli.errors import StorageError
from openclaw_cli.paths import SCOPES, MemoryPaths
from openclaw_cli.result import Warning, counted
from openclaw_cli.store import files, fsio, scan, wal
from openclaw_cli.store.migrations import s0002_folders
from openclaw_cli.store.records import Record, encode_record, parse_record, record_of

#: The code of warnings about damaged lines of the log.
DAMAGED = "wal-damaged"


class Applied(NamedTuple):
    """Up to which entry the record files were written, and whether that still holds.

    A killed process loses nothing that it wrote, but a boot loses what was not synced: after one,
    ``trusted`` is False and every entry of the log is checked against its file.
    """

    seq: int
    trusted: bool


class Indexed(NamedTuple):
    """What the index in place tells: up to which log entry it goes, and of each record by its id
    the CRC-32 of the file that it was made of (None where that cannot be read)."""

    seq: int = 0
    checksums: Callable[[], Mapping[str, int] | None] = dict


def read_applied(path: Path) -> Applied:
    """Return the hint, or "nothing is known" when it is missing, torn, or from another boot."""
    try:
        value, _problem = wal.decode_line(files.read_file(path).removesuffix(b"\n"))
    except (OSError, ValueError):
        return Applied(0, trusted=False)
    boot = ids.boot_id()
    if value is None or not isinstance(value.get("seq"), int):
        return Applied(0, trusted=False)
    return Applied(value["seq"], trusted=bool(boot) and value.get("boot") == boot)


def note_applied(path: Path, seq: int) -> None:
    """Record that the files of every entry up to ``seq`` have been written in this boot.

    Where that cannot be written nothing is lost: the log is checked against the files then.
    """
    with suppress(StorageError):
        fsio.note(path, wal.encode_line({"boot": ids.boot_id(), "seq": seq}))


def final_states(entries: Iterable[wal.Entry]) -> dict[tuple[str, str], wal.Entry]:
    """Return the newest entry of each (scope, id)."""
    return {(entry.scope, entry.record_id): entry for entry in entries}


def outstanding(
    paths: MemoryPaths, log: wal.Wal, applied: Applied, indexed: Indexed
) -> list[wal.Entry]:
    """Return the entries whose record file does not yet say what they say.

    A file that is newer than its entry, or none of those that the log has replaced, was edited by
    hand and stays as it is. What a purge removes is outstanding until it is gone, whatever the hint
    says: `replay` leaves it to who finishes the purge. Where the log has what the index has, one of
    them may be a copy of another time: the files tell, not the hint, unless `_is_settled`.
    """
    states = final_states(log.entries)
    older = [entry for entry in states.values() if entry.seq <= indexed.seq]
    newest = [entry for entry in states.values() if entry.seq > indexed.seq]
    found: list[wal.Entry] = []
    if applied.trusted and applied.seq <= log.last_seq:
        purged = {purge.seq for purge in log.purges}
        found = [entry for entry in newest if entry.seq > applied.seq or entry.seq in purged]
        newest = []
    if older:
        known = indexed.checksums()
        newest += [entry for entry in older if not _is_settled(paths, entry, known)]
    if not newest:
        return found
    replaced = {(entry.record_id, entry.replaces) for entry in log.entries}
    replaced |= {
        (entry.record_id, crc32(encode_record(entry.record)))
        for entry in log.entries
        if entry.record is not None and states[entry.scope, entry.record_id] is not entry
    }
    return found + [entry for entry in newest if not _file_agrees(paths, entry, replaced)]


def _is_settled(paths: MemoryPaths, entry: wal.Entry, known: Mapping[str, int] | None) -> bool:
    """Tell whether an index that goes further than an entry proves it done, or overtaken."""
    if known is None:
        return False
    indexed = known.get(entry.record_id)
    if entry.op == "delete":
        return indexed is not None  # stored anew since
    # Deleted since, or the file is the one that was indexed.
    path = paths.record_name(entry.scope, entry.record_id)
    return indexed is None or indexed == checksum(path)


def checksum(path: str | Path) -> int | None:
    """Return the CRC-32 of a record file, None when there is none to read."""
    if not os.path.lexists(path):
        return None  # a look is cheaper than opening what is not there, as most new records are not
    try:
        return crc32(files.read_file(path))
    except (OSError, ValueError):
        return None


def _file_agrees(
    paths: MemoryPaths, entry: wal.Entry, replaced: set[tuple[str, int | None]]
) -> bool:
    path = paths.record_name(entry.scope, entry.record_id)
    if entry.op == "delete":
        stands = checksum(path)
        return stands is None or (entry.record_id, stands) not in replaced
    assert entry.record is not None
    try:
        data = files.read_file(path)
        found = parse_record(data, entry.scope, entry.record_id)
        is_old = (entry.record_id, crc32(data)) in replaced
        return found.updated >= record_of(entry.record).updated and not is_old
    except (FileNotFoundError, ValueError):
        return False


def write_record(paths: MemoryPaths, entry: wal.Entry) -> None:
    """Make the record file say what ``entry`` says; nothing is synced, the log has it."""
    path = paths.record_name(entry.scope, entry.record_id)
    if entry.op == "delete":
        fsio.remove(path, durable=False)
    else:
        assert entry.record is not None
        fsio.write_file(path, encode_record(entry.record), durable=False)


def stamp(clock: Clock) -> str:
    """Return the present as it stands in the names of files that are set aside."""
    return format_stamp(clock.now())


def repair_log(paths: MemoryPaths, log: wal.Wal, clock: Clock) -> list[Warning]:
    """Set a torn tail of the log aside and cut it off, so that the next append begins a line."""
    if not log.torn:
        return []
    torn = files.pieces(paths.wal, log.size)
    kept = fsio.set_aside(paths.wal, torn, "torn", stamp(clock))
    fsio.cut(paths.wal, log.size)
    return [
        Warning(
            "torn-tail",
            f"an unfinished write of {counted(log.torn, 'byte')} at the end of the"
            f" write-ahead log was set aside in {kept.name}",
            str(kept),
        )
    ]


def damage_warnings(paths: MemoryPaths, log: wal.Wal) -> list[Warning]:
    """Return a warning for each of the first damaged lines of the log, and one for the others."""
    return log.damaged.warnings(DAMAGED, "the write-ahead log", paths.wal)


def replay(paths: MemoryPaths, log: wal.Wal, indexed: Indexed) -> int:
    """Write every record file that the log knows better; return how many. Idempotent."""
    applied = read_applied(paths.applied)
    is_cut = not log.entries or log.entries[0].seq > indexed.seq
    if applied.trusted and applied.seq == log.last_seq and is_cut:
        return 0
    # Whoever left something to do may have been killed between a temporary file and its renaming.
    for scope in SCOPES:
        fsio.sweep(paths.records(scope))
    purged = {purge.seq for purge in log.purges if purge.seq > indexed.seq}
    found = outstanding(paths, log, applied, indexed)
    todo = [entry for entry in found if entry.seq not in purged]
    for entry in todo:
        write_record(paths, entry)
    if log.entries or applied.seq > log.last_seq:  # a hint that outlived its log is no proof
        note_applied(paths.applied, log.last_seq)
    return len(todo)


class View(NamedTuple):
    """Records as a reader sees them: the files, and what the log knows better, without writing."""

    paths: MemoryPaths
    log: wal.Wal
    better: dict[tuple[str, str], wal.Entry]

    @classmethod
    def open(cls, paths: MemoryPaths, indexed: Callable[[], Indexed]) -> View:
        """Read the log and find out which of its entries the files lack."""
        applied = read_applied(paths.applied)
        log = wal.read(paths.wal)
        newest = outstanding(paths, log, applied, indexed()) if log.entries else []
        return cls(paths, log, {(entry.scope, entry.record_id): entry for entry in newest})

    @classmethod
    def under_lock(cls, paths: MemoryPaths, log: wal.Wal) -> View:
        """Return the records for a caller that holds the writer lock: the files say what the log
        says, but for what an unfinished purge has yet to remove."""
        purged = {purge.seq for purge in log.purges if purge.seq > log.floor}
        better = {}
        if purged:
            better = {k: e for k, e in final_states(log.entries).items() if e.seq in purged}
        return cls(paths, log, better)

    def may_hold(self, scope: str, record_id: str) -> bool:
        """Tell cheaply whether `record` needs asking: there is something under that name."""
        known = (scope, record_id) in self.better
        return known or os.path.lexists(self.paths.record_name(scope, record_id))

    def holds(self, scope: str, record_id: str) -> bool:
        """Tell whether a record of that name is there, sound or damaged."""
        entry = self.better.get((scope, record_id))
        if entry is not None and entry.record is not None:
            return True
        places = [s0002_folders.older_file(self.paths, scope, record_id)]
        if entry is None:
            places.append(self.paths.record(scope, record_id))
        return any(os.path.lexists(place) for place in places)

    def record(self, scope: str, record_id: str) -> Record | None:
        """Return a record, None when there is none; raise ``ValueError`` when it is damaged."""
        entry = self.better.get((scope, record_id))
        if entry is not None:
            if entry.record is None:
                return self._older(scope, record_id)
            return record_of(entry.record, scope)
        try:
            data = files.read_file(self.paths.record_name(scope, record_id))
        except FileNotFoundError:
            return self._older(scope, record_id)
        return parse_record(data, scope, record_id)

    def readable(
        self, scope: str, record_id: str, warnings: MutableSequence[Warning]
    ) -> Record | None:
        """Return a record to one who only reads: what the log has of it, with a warning, where its
        file is damaged; raise as `record` does where the log has nothing.

        Who writes leaves it to the next index run, which keeps the damaged file beside.
        """
        try:
            return self.record(scope, record_id)
        except ValueError as error:
            logged = (e for e in reversed(self.log.entries) if e.record_id == record_id)
            document = next((entry.record for entry in logged if entry.scope == scope), None)
            if document is None:
                raise
            message = (
                f"{record_id}: the file is damaged ({error}), this is what the write-ahead log has;"
                " openclaw memory index writes it again"
            )
            path = self.paths.record_name(scope, record_id)
            warnings.append(Warning("record-damaged", message, path))
            return record_of(document, scope)

    def _older(self, scope: str, record_id: str) -> Record | None:
        """Return a record from where a format before 2.0 has it; `paths` has checked the id."""
        if os.path.islink(self.paths.older_records(scope)):
            return None
        try:
            data = files.read_file(s0002_folders.older_file(self.paths, scope, record_id))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return parse_record(data, scope, record_id)

    def identifiers(self, ending: str = "") -> list[tuple[str, str]]:
        """Return scope and id of everything under which `record` may find one, sorted.

        With ``ending`` only ids that have it; files with names that cannot be ids are left out.
        """
        found = {k for k in s0002_folders.identifiers(self.paths) if k[1].endswith(ending)}
        found.update(scan.names(self.paths, ending))
        for key, entry in self.better.items():
            if entry.record is not None and key[1].endswith(ending):
                found.add(key)
            elif not os.path.lexists(s0002_folders.older_file(self.paths, *key)):
                found.discard(key)
        return sorted(found, key=lambda key: (SCOPES.index(key[0]), key[1]))
