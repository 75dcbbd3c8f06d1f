"""Which record files there are, told apart by size, time and inode like git's index does."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.paths import SCOPES, MemoryPaths, valid_name

_SUFFIX = ".json"
_HIDDEN = re.compile(rb"(?<=/)\.[^/]*\.json(?=/)")
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


def is_record(name: str) -> bool:
    """Tell whether a name in a folder of records is that of a record file, not a hidden one."""
    return name.endswith(_SUFFIX) and not name.startswith(".")


def scan(paths: MemoryPaths) -> Iterator[Found | Stranger]:
    """Yield every file of the record folders, hidden ones (editors, temp files) left out."""
    for scope in SCOPES:
        folder = paths.records(scope)
        try:
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            # By a descriptor the kernel need not walk the whole path for each of 100,000 files.
            with os.scandir(fd) as entries:
                yield from _look(scope, folder, entries)
        finally:
            os.close(fd)


def _look(
    scope: str, folder: Path, entries: Iterable[os.DirEntry[str]]
) -> Iterator[Found | Stranger]:
    for entry in entries:
        name = entry.name
        if not is_record(name):
            continue
        record_id = name[: -len(_SUFFIX)]
        if not entry.is_file(follow_symlinks=False):
            yield Stranger(str(folder / name), "not a regular file")
        elif not valid_name(record_id):
            yield Stranger(str(folder / name), "the file name is not a valid record id")
        else:
            try:
                stat = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # removed between the listing and this look
            yield Found(scope, record_id, (stat.st_size, stat.st_mtime_ns, stat.st_ino))


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
            names = os.listdir(os.fsencode(paths.records(scope)))
        except FileNotFoundError:
            continue
        # In one text, for there may be a hundred thousand; one that begins with a dot is hidden.
        text = b"/".join([b"", *names, b""])
        hidden = len(_HIDDEN.findall(text)) if b"/." in text else 0
        total += text.count(b".json/") - hidden
    return total


def unchanged(paths: MemoryPaths, scanned: int, now: int) -> bool:
    """Tell whether the record folders surely hold the same names as when ``scanned`` (ns).

    ``now`` is the wall clock, which tells nothing when it has been set back since.
    """
    try:
        states = [os.stat(paths.records(scope)) for scope in SCOPES]
    except FileNotFoundError:
        return False
    times = [moment for state in states for moment in (state.st_mtime_ns, state.st_ctime_ns)]
    return scanned <= now and all(proves(moment, scanned) for moment in times)
