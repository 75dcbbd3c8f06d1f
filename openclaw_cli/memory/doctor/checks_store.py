"""Checks of one agent's records and log, of its index, and of what the index is made with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from openclaw_cli.errors import DamagedError
from openclaw_cli.index.file.base import Base
from openclaw_cli.index.file.statcache import read_stats
from openclaw_cli.memory.doctor.diagnosis import DAMAGED, FIXABLE, Check, Fault, Patient, judged
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import counted
from openclaw_cli.store import checksummed, wal
from openclaw_cli.store.damage import Damage
from openclaw_cli.store.records import record_of
from openclaw_cli.text.version import ANALYZER_VERSION

_INDEX = "openclaw memory index"


def check_names(patient: Patient) -> Iterator[Check]:
    """Yield whether everything among the records is a record file by its name and kind."""
    faults = [Fault(*stranger) for stranger in patient.records.strangers]
    hint = "rename it to the id that is in it, with .json; nobody reads it as it is"
    yield judged(
        "names",
        "every record file is named after its id",
        faults,
        DAMAGED,
        "# that nobody reads",
        hint,
    )


def check_records(patient: Patient) -> Iterator[Check]:
    """Yield whether every record can be read, and says what its hash says."""
    seen = patient.records
    bad = [Fault(*found) for found in (*seen.damaged, *seen.unreadable, *seen.twice)]
    if bad:
        twice = "two records have one id: give one of them another (name and text), or remove it"
        what = f"# damaged, {seen.sound} sound"
        yield judged("records", "", bad, DAMAGED, what, twice if seen.twice else None)
        return
    mendable = [Fault(*found) for found in seen.restorable]
    mendable += [
        Fault(str(patient.paths.record(scope, name)), "the log has what the file lacks")
        for scope, name in patient.view.better
    ]
    mendable += [Fault(*found) for found in seen.edited]
    yield judged("records", f"{seen.sound} sound", mendable, FIXABLE, "# to be written again")


def check_formats(patient: Patient) -> Iterator[Check]:
    """Yield whether all records are of this program's format."""
    newer = [Fault(*found) for found in patient.records.newer]
    older = [Fault(*found) for found in patient.records.older]
    older += [
        Fault(str(path), "lies where older versions kept it")
        for scope in SCOPES
        for path in sorted((patient.paths.root / scope).glob("*.json"))
        if path.is_file()
    ]
    if newer:
        hint = "use the version of openclaw that has written them"
        yield judged("formats", "", newer, FIXABLE, "# of a newer format", hint)
        return
    hint = f"run: openclaw memory migrate --agent {patient.agent}"
    yield judged(
        "formats", "every record has the present format", older, FIXABLE, "# of an older one", hint
    )


def check_log(patient: Patient) -> Iterator[Check]:
    """Yield whether every line of the write-ahead log is sound, and the log is no older copy."""
    log = patient.view.log
    path = str(patient.paths.wal)
    damaged = _line_faults(path, log.damaged)
    for entry in log.entries:
        try:
            if entry.record is not None:
                record_of(entry.record, entry.scope)
        except ValueError as error:
            damaged.append(Fault(path, f"entry {entry.seq}: {error}"))
    if damaged:
        count = max(len(damaged), log.damaged.total)
        yield judged("log", "", damaged, DAMAGED, f"{count} damaged")
        return
    faults = []
    if log.torn and not patient.is_busy:
        faults.append(Fault(path, f"ends with an unfinished write of {counted(log.torn, 'byte')}"))
    if log.purges and not patient.is_busy:
        faults.append(Fault(path, "holds a purge that was not finished"))
    base, _problem = patient.opened
    if base is not None and log.last_seq < base.config.seq:
        what = "is older than the index" if patient.paths.wal.exists() else "is missing"
        faults.append(Fault(path, f"{what} (entry {log.last_seq}, not {base.config.seq})"))
    yield judged(
        "log",
        f"entries since the last checkpoint: {len(log.entries)}",
        faults,
        FIXABLE,
        "to be finished",
    )


def _line_faults(path: str, damaged: Damage) -> list[Fault]:
    """Return a fault for each of the first damaged lines of a file, and one for the others."""
    faults = [Fault(path, f"line {number}: {reason}") for number, reason in damaged.named]
    return faults if damaged.more is None else [*faults, Fault(path, damaged.more)]


def check_index(patient: Patient) -> Iterator[Check]:
    """Yield whether the index is what was written, and knows every record as it is now."""
    base, problem = patient.opened
    link = str(patient.paths.index)
    faults = [] if problem is None else [Fault(link, problem)]
    if base is None:
        if problem is None and patient.records.present - {*_logged(patient, 0)}:
            faults.append(Fault(link, "there is no index"))
        yield judged("index", "none yet: the log is searched", faults, FIXABLE, "to be rebuilt")
        return
    faults += _unsound(base)
    if base.config.tokenizer != ANALYZER_VERSION:
        faults.append(Fault(link, "made by another tokenizer version"))
    if patient.view.log.base > base.config.seq:
        faults.append(Fault(link, "older than the write-ahead log"))
    if not faults:
        faults += _differences(patient, base)
    held = f"generation {base.config.generation}, {counted(base.count, 'record')}"
    sound = f"{held}, every file as written"
    yield judged("index", sound, faults, FIXABLE, "to be brought up to date")


def _unsound(base: Base) -> list[Fault]:
    found = [Fault(*bad) for bad in base.verify()]
    if not found:
        try:
            base.check()
        except DamagedError as error:
            found.append(Fault(error.path or "", error.message))
    return found


def _logged(patient: Patient, after: int) -> dict[str, wal.Entry]:
    """Return the newest entry of each record in the log after a sequence number."""
    return {e.record_id: e for e in patient.view.log.entries if e.seq > after}


def _differences(patient: Patient, base: Base) -> list[Fault]:
    """Return how record files differ from what the index knows, the log taken into account."""
    seen = patient.records
    logged = _logged(patient, base.config.seq)
    stats, _scanned = read_stats(base)
    known = {name: stats[n][3] for n, name in enumerate(base.metadata.plain("id"))}
    names = seen.checksums.keys() - logged.keys()
    added = names - known.keys()
    # A checksum of 0 was not taken: the file was still to be written.
    changed = {n for n in names & known.keys() if known[n] not in (0, seen.checksums[n])}
    gone = known.keys() - seen.present - logged.keys()
    link = str(patient.paths.index)
    pairs = ((added, "not in it"), (changed, "changed since"), (gone, "gone since"))
    return [
        Fault(link, f"{len(ids)} record files {what} ({', '.join(sorted(ids)[:3])})")
        for ids, what in pairs
        if ids
    ]


def check_vectors(patient: Patient) -> Iterator[Check]:
    """Yield whether the vectors of each model fit the index, are finite, and of this model."""
    base, _problem = patient.opened
    if base is None:
        return
    faults, said = [], []
    models = {model.name: model for model in patient.store.catalog.models}
    for name, space in base.config.spaces.items():
        said.append(f"{name}: {space.info.vectors}")
        path = str(base.folder.path / f"vectors.{name}.f32")
        model = models.get(name)
        if model is None:
            faults.append(Fault(path, "no such model is installed, so nobody asks for them"))
        elif (model.digest, model.dimensions) != (space.info.digest, space.info.dimensions):
            faults.append(Fault(path, "made by another version of the model"))
        else:
            faults += _unusable_rows(base, name, path)
    pending = _pending(base)
    sound = ", ".join(said) or "none"
    if pending:
        sound += f"; {pending} pending ({_INDEX} makes them)"
    hint = "run: openclaw memory index --reembed"
    yield judged("vectors", sound, faults, FIXABLE, "# to be made anew", hint)


def _pending(base: Base) -> int:
    try:
        return sum(map(bool, base.metadata.plain("pending")))
    except (DamagedError, ValueError, KeyError, TypeError):
        return 0  # the check of the index tells


def _unusable_rows(base: Base, name: str, path: str) -> list[Fault]:
    """Return a fault when rows of a matrix are not finite, or not of length 1."""
    if not base.config.spaces[name].info.vectors:
        return []
    from openclaw_cli.index.file.vectors import unusable_rows

    try:
        count = unusable_rows(base.matrix(name))
    except DamagedError as error:
        return [Fault(error.path or path, error.message)]
    return [Fault(path, f"{counted(count, 'vector')} not of length 1")] if count else []


def check_tombstones(patient: Patient) -> Iterator[Check]:
    """Yield whether what tells deleted memories from new ones is sound."""
    yield _lines(patient, "tombstones", patient.paths.tombstones, DAMAGED)


def check_partial(patient: Patient) -> Iterator[Check]:
    """Yield whether the vectors that an unfinished index run has made are sound."""
    yield _lines(patient, "partial", patient.paths.partial, FIXABLE)


def _lines(patient: Patient, name: str, path: Path, state: str) -> Check:
    try:
        found = checksummed.inspect(path)
    except ValueError as error:
        return judged(name, "", [Fault(str(path), str(error))], DAMAGED, "cannot be read")
    faults = _line_faults(str(path), found.damaged)
    worst = state if faults else FIXABLE
    count = found.damaged.total + (found.torn > 0 and not patient.is_busy)
    if found.torn and not patient.is_busy:
        faults.append(Fault(str(path), "ends with an unfinished line"))
    kept = f"{len(found.sound)} kept" if found.sound else "none"
    return judged(name, kept, faults, worst, f"{count} damaged")
