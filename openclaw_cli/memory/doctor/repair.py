"""What ``doctor --fix`` does for a memory: the safe repairs, in an order that loses nothing.

Damage is set aside under another name before anything is written in its place; only what is derived
(generations, temporary files, vectors of an unfinished run) is ever removed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from openclaw_cli.errors import OpenclawError
from openclaw_cli.memory.doctor.checks_files import misplaced, mode_items
from openclaw_cli.memory.doctor.diagnosis import Check, Fault, Patient
from openclaw_cli.memory.doctor.examined import examine_records
from openclaw_cli.memory.indexing import checkpoint
from openclaw_cli.memory.requests import IndexRequest
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.result import Warning
from openclaw_cli.store import checksummed, files, fsio, generations, recovery, survey, wal
from openclaw_cli.store.repository import Writer

#: Checks whose faults only the operator can right: they are no reason to take a lock.
_OPERATORS = ("other programs", "links", "formats")


def repair_modes(items: Iterable[survey.Item]) -> list[Warning]:
    """Make files 0600 and folders 0700; what the system refuses is told."""
    said = []
    for item in items:
        if not item.has_right_mode:
            try:
                fsio.set_mode(item.path, folder=item.kind == "folder")
            except OpenclawError as error:
                said.append(Warning("not-fixed", error.message, error.path))
    return said


def repair_memory(patient: Patient, faulty: Sequence[Check]) -> list[Warning]:
    """Repair what is safe to repair in the memory of one agent, and tell what was set aside."""
    # A folder that could not be entered comes to light when those above it can.
    said = repair_modes(mode_items(patient))
    if not os.path.isdir(patient.paths.root):
        return said
    said += repair_modes(mode_items(Patient(patient.env, patient.agent)))
    stamp = recovery.stamp(patient.env.clock)
    for fault in misplaced(patient.paths):
        said.append(_kept(fault, fsio.move_aside(Path(fault.path), "bad", stamp)))
    patient.paths.exists()  # raises where a link leads out: nothing is written through it
    if all(check.name in ("modes", *_OPERATORS) for check in faulty):
        return said
    store = patient.store
    with store.repository.indexing(), store.repository.writing() as writer:
        _set_aside_records(writer, said)
        _mend_lines(writer, said)
        _mend_log(writer, said)
        _sweep(patient.paths)
        said += writer.warnings
    report = checkpoint.index(store, IndexRequest(verify=True, embed=False))
    return said + [warning for warning in report.warnings if warning not in said]


def _kept(fault: Fault, kept: Path) -> Warning:
    message = f"{os.path.basename(fault.path)}: {fault.reason}; kept as {kept}"
    return Warning("set-aside", message, str(kept))


def _set_aside_records(writer: Writer, said: list[Warning]) -> None:
    """Rename what nobody can read among the records; the log is asked first."""
    found = examine_records(writer.paths, recovery.View(writer.paths, writer.log, {}))
    for path, reason in (*found.damaged, *found.strangers):
        said.append(_kept(Fault(path, reason), fsio.move_aside(Path(path), "bad", writer.stamp())))


def _mend_lines(writer: Writer, said: list[Warning]) -> None:
    tombstones, partial = writer.paths.tombstones, writer.paths.partial
    found = checksummed.inspect(tombstones)
    if not found.is_whole:
        kept = checksummed.mend(tombstones, found, writer.stamp())
        said.append(_kept(Fault(str(tombstones), "had damaged lines"), kept))
    found = checksummed.inspect(partial)
    if not found.is_whole:
        fsio.write_file(partial, b"".join(line + b"\n" for line in found.sound))


def _mend_log(writer: Writer, said: list[Warning]) -> None:
    """Take damaged lines out of the log; begin it anew where it is older than the index."""
    path, indexed = writer.paths.wal, writer.log.floor
    there = wal.read(path)
    if there.last_seq < indexed:
        if there.size or there.damaged:
            kept = fsio.set_aside(path, files.pieces(path), "bad", writer.stamp())
            said.append(_kept(Fault(str(path), "was older than the index"), kept))
        wal.keep_after(path, writer.log._replace(base=indexed, entries=(), purges=()), indexed)
        writer.log = wal.read(path)
    elif writer.log.damaged:
        writer.cut(writer.log.base)


def _sweep(paths: MemoryPaths) -> None:
    """Remove generations not in use and what killed writers have left, under both locks."""
    generations.sweep(paths)
    folders = {item.path.parent for item in survey.walk(paths.root) if _is_temporary(item)}
    for folder in sorted(folders):
        fsio.sweep(folder)


def _is_temporary(item: survey.Item) -> bool:
    return item.kind in ("file", "link") and fsio.is_temporary(item.path.name)
