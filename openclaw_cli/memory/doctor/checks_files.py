"""Checks of the files of one agent: places, modes, links, locks, and what was left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from openclaw_cli.errors import OpenclawError
from openclaw_cli.memory.doctor.checks_state import modes
from openclaw_cli.memory.doctor.diagnosis import (
    DAMAGED,
    FIXABLE,
    OK,
    Check,
    Fault,
    Patient,
    judged,
    mebibytes,
)
from openclaw_cli.paths import SCOPES, MemoryPaths
from openclaw_cli.store import generations, locks, survey
from openclaw_cli.store.migrations import s0003_index

_OURS = ("memory", "sessions", "audit", "trash")
_OUR_SESSION_FILES = ("catalog.jsonl", "catalog.lock", "lookup.lock")
_DATABASES = (".sqlite", ".sqlite3", ".db")
_KEPT = {"setAside": "set aside (*.bad-*, *.torn-*)", "backups": "backups (*.bak*)"}


def check_places(patient: Patient) -> Iterator[Check]:
    """Yield whether folders and files stand where they belong, each of its own kind."""
    faults = misplaced(patient.paths)
    if patient.obstacle is not None and not faults:
        error = patient.obstacle
        faults = [Fault(error.path or str(patient.paths.root), error.message)]
        yield Check("places", DAMAGED, error.message, faults=tuple(faults), hint=error.hint)
        return
    sound = "folders and files are where they belong" if patient.has_memory else "no memory yet"
    yield judged("places", sound, faults, DAMAGED, "in the way")


def misplaced(paths: MemoryPaths) -> list[Fault]:
    """Return what stands in the place of a folder or a file of this program and is none."""
    folders = (paths.root / "records", *map(paths.records, SCOPES), paths.generations)
    single = (paths.wal, paths.applied, paths.tombstones, paths.partial)
    wanted = dict.fromkeys(folders, "folder")
    wanted |= dict.fromkeys((*single, paths.writer_lock, paths.indexer_lock), "file")
    if not s0003_index.is_there(paths):
        wanted[paths.index] = "link"
    found = []
    for place, kind in wanted.items():
        item = survey.look(place)
        # A link to a folder is as good as one, if it stays within the state directory.
        is_right = item is None or item.kind == kind or (kind == "folder" and place.is_dir())
        if item is not None and not is_right:
            found.append(Fault(str(place), f"is a {item.kind}, not a {kind}"))
    return found


def check_modes(patient: Patient) -> Iterator[Check]:
    """Yield whether others may read or change the memory."""
    yield modes("modes", mode_items(patient))


def mode_items(patient: Patient) -> list[survey.Item]:
    """Return the folders down to the memory, and everything in it that is this program's."""
    above = [survey.look(path) for path in (patient.paths.root.parent, patient.paths.root)]
    inside = [item for item in patient.items if not _is_foreign(item)]
    return [*(item for item in above if item is not None), *inside]


def _is_foreign(item: survey.Item) -> bool:
    return item.path.suffix in _DATABASES and item.parts[0] != "generations"


def check_links(patient: Patient) -> Iterator[Check]:
    """Yield whether a symbolic link leads out of the state directory."""
    state = os.path.realpath(patient.env.state.root)
    faults = []
    for item in patient.items:
        if item.kind == "link" and ".bad-" not in item.path.name:
            target = os.path.realpath(item.path)
            if target != state and not target.startswith(state + os.sep):
                faults.append(Fault(str(item.path), f"leads out of the state, to {target}"))
    hint = "replace the link by what it leads to; nothing is read or written through it"
    yield judged(
        "links",
        "none leads out of the state directory",
        faults,
        DAMAGED,
        "# that nobody follows",
        hint,
    )


def check_locks(patient: Patient) -> Iterator[Check]:
    """Yield who holds the locks; one that nobody holds is free, whatever its file says."""
    said, faults = [], []
    for path in (patient.paths.writer_lock, patient.paths.indexer_lock):
        try:
            seen = locks.look(path)
        except (OSError, ValueError, OpenclawError) as error:
            faults.append(Fault(str(path), str(error)))
            continue
        if seen is not None and seen.held:
            said.append(f"{path.name} is held by {seen.holder}, which is alive")
        elif seen is not None:
            said.append(f"{path.name} is free, last held by {seen.holder}")
    yield judged(
        "locks", "; ".join(said) or "never taken", faults, DAMAGED, "# that cannot be asked"
    )


def check_leftovers(patient: Patient) -> Iterator[Check]:
    """Yield what killed writers have left, and what is kept on purpose until the operator goes."""
    current = generations.current_number(patient.paths)
    kept: dict[str, list[int]] = {cause: [] for cause in _KEPT}
    faults = []
    for item in patient.items:
        if item.kind == "file":
            cause = survey.cause(patient.paths, item.parts, current)
            if cause in kept:
                kept[cause].append(item.size)
            elif cause == "temporary":
                faults.append(Fault(str(item.path), "a write that was not finished"))
        elif _is_old_generation(item, current):
            faults.append(Fault(str(item.path), "an index that is not in use"))
    if patient.is_busy:
        faults = []  # somebody is at work on them
    sound = "; ".join(
        f"{len(sizes)} {_KEPT[cause]}, {mebibytes(sum(sizes))}"
        for cause, sizes in kept.items()
        if sizes
    )
    yield judged("leftovers", f"kept: {sound}" if sound else "none", faults, FIXABLE, "# left over")


def _is_old_generation(item: survey.Item, current: int | None) -> bool:
    if item.kind != "folder" or len(item.parts) != 2 or item.parts[0] != "generations":
        return False
    return item.parts[1].isdigit() and item.parts[1] != str(current)


def check_other_programs(patient: Patient) -> Iterator[Check]:
    """Yield which files of other programs are there; they are left alone."""
    folder = patient.paths.root.parent
    names = [item.parts[0] for item in _top(folder) if item.parts[0] not in _OURS]
    names += [
        "/".join(("sessions", *item.parts))
        for item in _top(folder / "sessions")
        if item.kind == "file" and not item.parts[0].startswith(".")
        if item.parts[0] not in _OUR_SESSION_FILES
    ]
    if patient.has_memory:
        names += ["/".join(("memory", *item.parts)) for item in patient.items if _is_foreign(item)]
    if names:
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        yield Check("other programs", OK, f"left alone: {shown}")


def _top(folder: Path) -> list[survey.Item]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = (survey.look(folder / name, (name,)) for name in names)
    return [item for item in found if item is not None]
