"""Which record files there are, told apart by size, time and inode like git's index does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from openclaw_cli.paths import SCOPES, MemoryPaths, valid_name

_SUFFIX = ".json"
#: A file changed within this time before a scan may change again without a new mtime, so its stat
#: proves nothing (git's racy rule): the tick of the kernel's clock, or, where a file system keeps
#: whole seconds, those.
_TICK_NS = 50_000_000
_COARSE_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


class Found(NamedTuple):
    """A record file as a scan saw it; ``stat`` is (size, mtime in ns, inode)."""

    scope: str
    record_id: str
    stat: tuple[int, int, int]


class Stranger(NamedTuple):
    """Something in a records folder that cannot be a record file, and why."""

    path: str
    reason: str


def scan(paths: MemoryPaths) -> Iterator[Found | Stranger]:
    """Yield every file of the record folders, hidden ones (editors, temp files) left out."""
    for scope in SCOPES:
        try:
            entries = os.scandir(paths.records(scope))
        except FileNotFoundError:
            continue
        with entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.endswith(_SUFFIX):
                    continue
                seen = _look(scope, entry)
                if seen is not None:
                    yield seen


def _look(scope: str, entry: os.DirEntry[str]) -> Found | Stranger | None:
    record_id = entry.name[: -len(_SUFFIX)]
    if entry.is_symlink() or not entry.is_file(follow_symlinks=False):
        return Stranger(entry.path, "not a regular file")
    if not valid_name(record_id):
        return Stranger(entry.path, "the file name is not a valid record id")
    try:
        stat = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None  # removed between the listing and this look
    return Found(scope, record_id, (stat.st_size, stat.st_mtime_ns, stat.st_ino))


def names(paths: MemoryPaths, ending: str = "") -> Iterator[tuple[str, str]]:
    """Yield scope and id of every record file whose id has that ending, by their names alone."""
    for scope in SCOPES:
        try:
            found = os.listdir(paths.records(scope))
        except FileNotFoundError:
            continue
        for name in found:
            record_id = name.removesuffix(_SUFFIX)
            if name.endswith(ending + _SUFFIX) and valid_name(record_id):
                yield scope, record_id


def proves(mtime: int, scanned: int) -> bool:
    """Tell whether an unchanged stat with ``mtime``, taken at ``scanned`` (ns), proves anything."""
    margin = _TICK_NS if mtime % _SECOND_NS else _COARSE_NS
    return mtime < scanned - margin


def count(paths: MemoryPaths) -> int:
    """Return how many record files there are, by their names alone."""
    total = 0
    for scope in SCOPES:
        try:
            names = os.listdir(paths.records(scope))
        except FileNotFoundError:
            continue
        total += sum(1 for name in names if name.endswith(_SUFFIX) and not name.startswith("."))
    return total
