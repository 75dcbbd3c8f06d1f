"""A trash: folders moved out of the way whole, under their name and the time of their removal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.clock import format_stamp, parse_stamp
from openclaw_cli.store import fsio

#: No name of ours may hold a tilde, so that the name and the time cannot be mistaken.
_ENTRY = re.compile(r"([^~]+)~(\d{5,8}T\d{6}Z)(\.\d+)?", re.ASCII)


class Entry(NamedTuple):
    """Something in the trash: its name, when it was put there, and where it is."""

    name: str
    deleted: datetime
    path: Path


def put(trash: Path, folder: Path, now: datetime) -> Path:
    """Move ``folder`` into the trash in one durable step; return where it is."""
    fsio.make_folder(trash)
    stem = f"{folder.name}~{format_stamp(now)}"
    target, number = trash / stem, 1
    while os.path.lexists(target):
        target = trash / f"{stem}.{number}"
        number += 1
    fsio.move(folder, target)
    return target


def entries(trash: Path) -> list[Entry]:
    """Return what is in the trash, the newest first; what is not ours is left out."""
    return sorted(_found(trash), key=lambda entry: (entry.deleted, entry.path.name), reverse=True)


def _found(trash: Path) -> Iterator[Entry]:
    try:
        names = os.listdir(trash)
    except FileNotFoundError:
        return
    for name in names:
        match = _ENTRY.fullmatch(name)
        if match is None or (trash / name).is_symlink() or not (trash / name).is_dir():
            continue
        try:
            deleted = parse_stamp(match[2])
        except ValueError:
            continue
        yield Entry(match[1], deleted, trash / name)


def discard(entry: Entry) -> None:
    """Remove an entry for good: in one step for everybody else, its files after that."""
    doomed = fsio.temp_name(entry.path)
    fsio.move(entry.path, doomed)
    fsio.remove_tree(doomed)
