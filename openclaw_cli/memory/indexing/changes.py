"""What the next generation must take in: log entries, and record files changed by hand.

The scan tells files apart by their stat; only what looks different is read. It writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from openclaw_cli.index.file.base import Base
from openclaw_cli.index.file.statcache import UNKNOWN, Stat, Stats, read_stats
from openclaw_cli.paths import SCOPES, MemoryPaths
from openclaw_cli.store import files, scan, wal
from openclaw_cli.store.records import Record, encode_record, parse_record, record_of


class Candidate(NamedTuple):
    """A record that goes into the next generation anew.

    ``entry`` is its log entry, if any; ``known`` tells that the base has it; ``again`` that it is
    only built anew, not changed.
    """

    scope: str
    record_id: str
    stat: tuple[int, int, int]
    entry: wal.Entry | None
    known: bool
    again: bool


class Candidates:
    """Many candidates in a few bytes each, in order."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._scopes = bytearray()
        self._stats = Stats()
        self._known = bytearray()
        self._again = bytearray()
        self._entries: dict[int, wal.Entry] = {}
        self._order: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    def append(self, candidate: Candidate) -> None:
        """Add one more."""
        if candidate.entry is not None:
            self._entries[len(self._ids)] = candidate.entry
        self._ids.append(candidate.record_id)
        self._scopes.append(SCOPES.index(candidate.scope))
        self._stats.append((*candidate.stat, 0))
        self._known.append(candidate.known)
        self._again.append(candidate.again)

    def sort(self) -> None:
        """Put them in the order of their ids: the same records make the same index, in
        whatever order a file system lists them."""
        self._order = sorted(range(len(self._ids)), key=self._ids.__getitem__)

    def __iter__(self) -> Iterator[Candidate]:
        for number in range(len(self._ids)) if self._order is None else self._order:
            entry = self._entries.get(number)
            yield Candidate(
                SCOPES[self._scopes[number]],
                self._ids[number],
                self._stats[number][:3],
                None if entry is None else entry.unpacked(),
                bool(self._known[number]),
                bool(self._again[number]),
            )


@dataclass(slots=True)
class Changes:
    """What a scan found against a generation (the base) and the log.

    ``stats`` is the stat cache of the base's documents, refreshed, ``scanned`` when (ns) the oldest
    of it was taken; ``dropped`` are the base's ordinals that do not go over as they are,
    ``damaged`` (path, reason), ``restorable`` the candidates whose file is damaged although the
    log can write it again.
    """

    candidates: Candidates = field(default_factory=Candidates)
    dropped: set[int] = field(default_factory=set)
    removed: int = 0
    stats: Stats = field(default_factory=Stats)
    scanned: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    restorable: list[Candidate] = field(default_factory=list)

    @property
    def unindexed(self) -> int:
        """How many files are damaged and cannot be written again from the log."""
        return len(self.damaged) - len(self.restorable)


class Loaded(NamedTuple):
    """A candidate's record as read, its file's stat, and whether that is as the log wrote it."""

    record: Record
    stat: Stat
    intact: bool


class Scanner:
    """Compares the record files with a generation and the log entries that it lacks.

    ``again`` lists the base's ordinals that are to be built anew whatever their files say;
    ``thorough`` reads every file instead of believing its stat; ``now_ns`` is the wall clock.
    """

    def __init__(
        self,
        paths: MemoryPaths,
        base: Base | None,
        log: wal.Wal,
        *,
        again: frozenset[int],
        thorough: bool,
        now_ns: int,
    ) -> None:
        self._paths = paths
        self._again = again
        self._thorough = thorough
        self._now = now_ns
        after = 0 if base is None else base.config.seq
        self._entries = {e.record_id: e for e in log.entries if e.seq > after}
        self._ordinals: dict[str, int] = {}
        self._base = base
        self._changes = Changes(scanned=now_ns)
        if base is not None:
            self._changes.stats, self._changes.scanned = read_stats(base)
        self._taken = self._changes.scanned

    def all_files(self) -> Changes:
        """Look at every record file; what is known and has no file any more was removed by hand."""
        seen: set[str] = set()
        self._locate()
        for found in scan.scan(self._paths):
            if isinstance(found, scan.Stranger):
                self._changes.damaged.append((found.path, found.reason))
            elif found.record_id not in seen:
                seen.add(found.record_id)
                self._look(found)
            else:
                path = str(self._paths.record(found.scope, found.record_id))
                self._changes.damaged.append((path, "the other scope has a record of this id too"))
        for record_id in self._ordinals.keys() - seen:
            self._drop(self._ordinals[record_id])
        self._changes.candidates.sort()
        self._changes.scanned = self._now
        return self._changes

    def log_only(self) -> Changes:
        """Take in the log entries alone, for a checkpoint that costs no scan."""
        self._locate(self._entries)
        for entry in self._entries.values():
            ordinal = self._ordinals.get(entry.record_id)
            if entry.op == "put":
                self._renew(scan.Found(entry.scope, entry.record_id, (0, 0, 0)), ordinal, entry)
            elif ordinal is not None:
                self._drop(ordinal)
        return self._changes

    def _locate(self, wanted: Container[str] | None = None) -> None:
        """Find out where the base has its documents, or those of the ids ``wanted``."""
        names = () if self._base is None else self._base.metadata.take("id")
        self._ordinals = {
            name: ordinal for ordinal, name in enumerate(names) if wanted is None or name in wanted
        }

    def _look(self, found: scan.Found) -> None:
        ordinal = self._ordinals.get(found.record_id)
        entry = self._entries.get(found.record_id)
        if entry is None and ordinal is not None and ordinal not in self._again:
            known = self._changes.stats[ordinal]
            alike = found.stat == known[:3] and not self._thorough
            if alike and scan.proves(known[1], self._taken):
                return
            if self._checksum(found) == known[3]:
                self._changes.stats[ordinal] = (*found.stat, known[3])
                return
        self._renew(found, ordinal, entry)

    def _checksum(self, found: scan.Found) -> int | None:
        try:
            return crc32(files.read_file(self._paths.record_name(found.scope, found.record_id)))
        except (OSError, ValueError):
            return None

    def _renew(self, found: scan.Found, ordinal: int | None, entry: wal.Entry | None) -> None:
        if ordinal is not None:
            self._changes.dropped.add(ordinal)
        put = entry if entry is not None and entry.op == "put" else None
        again = ordinal in self._again and entry is None
        self._changes.candidates.append(
            Candidate(found.scope, found.record_id, found.stat, put, ordinal is not None, again)
        )

    def _drop(self, ordinal: int) -> None:
        self._changes.dropped.add(ordinal)
        self._changes.removed += 1


def load(paths: MemoryPaths, changes: Changes) -> Iterator[tuple[Candidate, Loaded]]:
    """Read the candidates one by one; a damaged file goes to ``changes.damaged``.

    Where the log still has the record of a damaged file, the log's is taken. A file that has gone
    meanwhile is passed over: the log or the next run knows.
    """
    with ExitStack() as stack:
        folders: dict[str, int] = {}
        for candidate in changes.candidates:
            try:
                if candidate.scope not in folders:
                    folders[candidate.scope] = _opened(paths.records(candidate.scope), stack)
                # By its folder's descriptor, the path is not walked for each of 100,000 files.
                data = files.read_file(f"{candidate.record_id}.json", folders[candidate.scope])
                yield candidate, _loaded(candidate, data)
            except FileNotFoundError:
                changes.removed += candidate.known
            except (OSError, ValueError) as error:
                path = str(paths.record(candidate.scope, candidate.record_id))
                changes.damaged.append((path, str(error)))
                entry = candidate.entry
                if entry is None or entry.record is None:
                    changes.removed += candidate.known
                    continue
                changes.restorable.append(candidate)
                yield candidate, Loaded(record_of(entry.record), UNKNOWN, intact=True)


def _opened(folder: Path, stack: ExitStack) -> int:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    stack.callback(os.close, fd)
    return fd


def _loaded(candidate: Candidate, data: bytes) -> Loaded:
    stat: Stat = (*candidate.stat, crc32(data))
    entry = candidate.entry
    if entry is not None and entry.record is not None and encode_record(entry.record) == data:
        return Loaded(record_of(entry.record, entry.scope), stat, intact=True)
    return Loaded(parse_record(data, candidate.scope, candidate.record_id), stat, intact=False)
