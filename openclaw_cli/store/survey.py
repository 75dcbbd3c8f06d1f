"""What there is below a memory folder, file by file, and what each of it is for.

Nothing is opened, no symbolic link is followed, and what vanishes meanwhile is passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import scan
from openclaw_cli.store.disk import FILE_MODE, FOLDER_MODE
from openclaw_cli.store.fsio import is_temporary

#: What the files of a memory folder are for, in the order in which it is told.
CAUSES = (
    *("records", "index", "vectors", "staleGenerations", "wal", "tombstones", "insights"),
    *("partial", "setAside", "backups", "trash", "temporary", "other"),
)
_ASIDE = (".torn-", ".bad-")
_BACKUP = ".bak"
_TRASH = ("trash", ".trash")


class Item(NamedTuple):
    """A file, folder, link, or something else ("other") below a folder; ``mode`` without its kind.

    ``parts`` are the names that lead to it from there.
    """

    path: Path
    parts: tuple[str, ...]
    kind: str
    mode: int
    size: int
    owner: int

    @property
    def has_right_mode(self) -> bool:
        """Tell whether a file is 0600, and a folder 0700; a link has no mode of its own."""
        wanted = {"file": FILE_MODE, "folder": FOLDER_MODE}
        return self.mode == wanted.get(self.kind, self.mode)


def look(path: Path, parts: tuple[str, ...] = ()) -> Item | None:
    """Return what stands at ``path``; None when nothing does."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    kind = kinds.get(stat.S_IFMT(found.st_mode), "other")
    return Item(path, parts, kind, stat.S_IMODE(found.st_mode), found.st_size, found.st_uid)


def walk(folder: Path, parts: tuple[str, ...] = ()) -> Iterator[Item]:
    """Yield everything below ``folder`` in the order of names, each folder before what is in it.

    A folder that cannot be listed yields nothing.
    """
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        item = look(folder / name, (*parts, name))
        if item is not None:
            yield item
            if item.kind == "folder":
                yield from walk(item.path, item.parts)


def cause(paths: MemoryPaths, parts: tuple[str, ...], current: int | None) -> str:
    """Return what the file of a memory folder at ``parts`` is for: one of `CAUSES`.

    ``current`` is the number of the current index generation.
    """
    first, name = parts[0], parts[-1]
    # Whatever its id may look like, a record is a record.
    if first == "records" and len(parts) == 3 and scan.is_record(name):
        return "records"
    if is_temporary(name):
        return "temporary"
    if first in _TRASH:
        return "trash"
    if any(mark in name for mark in _ASIDE):
        return "setAside"
    if any(_BACKUP in part for part in parts):
        return "backups"
    if first == "generations" and len(parts) > 2:
        if parts[1] != str(current):
            return "staleGenerations"
        return "vectors" if name.startswith("vector") else "index"
    places = {paths.wal: "wal", paths.tombstones: "tombstones", paths.partial: "partial"}
    places[paths.insights] = "insights"
    return places.get(paths.root.joinpath(*parts), "other")
