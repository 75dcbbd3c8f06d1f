"""``memory purge``: everything of one user is forgotten, down to the last byte.

The intent is acknowledged in the log first, without any text; from then on no reader sees the
records. Then files that were set aside, what other records quote, and the record files go, in this
order, because the texts to look for are in the record files. The index is compacted at once, and
cutting the log, the last step, ends the purge. Whoever finds an unfinished one begins again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.memory.indexing import build
from openclaw_cli.memory.requests import IndexRequest, PurgeRequest
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Progress, Warning, no_progress
from openclaw_cli.store import files, fsio, recovery, scan, tombstones, wal
from openclaw_cli.store.records import Record, parse_record, record_of
from openclaw_cli.store.repository import Change
from openclaw_cli.store.traces import Traces

_INSIGHT = "insight"
#: Parts of the names of files that were set aside, kept as backups, or left by killed writers.
_ASIDE = (".bad-", ".torn-", ".bak", fsio.TEMP_MARK)


@dataclass(slots=True)
class Purged:
    """What a purge removed (or would remove) from one agent; ``bytes`` of record files.

    ``ids`` and ``texts`` are what `Traces` can look for afterwards.
    """

    agent: str
    records: int = 0
    insights: int = 0
    trimmed: int = 0
    backups: int = 0
    bytes: int = 0
    ids: list[str] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    warnings: list[Warning] = field(default_factory=list)


class _Holding(NamedTuple):
    """A record that is there, and the size of its file."""

    record: Record
    size: int


def purge(store: Store, request: PurgeRequest, progress: Progress = no_progress) -> Purged:
    """Forget all that the memory of one agent holds of a user; a dry run only counts it."""
    if request.dry_run:
        view = store.repository.view()
        return _counted(store, _collected(store, view.log, view.better, request.user))
    with store.repository.indexing():
        warnings = complete(store, progress) if wal.holds_purge(store.paths.wal) else []
        with store.repository.writing(store.indexed_seq()) as writer:
            gone = _collected(store, writer.log, {}, request.user)
            report = _counted(store, gone)
            report.warnings += warnings
            places = [(holding.record.scope, holding.record.id) for holding in gone]
            writer.purge(request.user, places, {})
        _complete(store, report, progress)
    return report


def complete(store: Store, progress: Progress = no_progress) -> list[Warning]:
    """Finish the purges that the log holds, and say so; the caller holds the indexer's lock."""
    report = Purged(store.agent)
    users = _complete(store, report, progress)
    told = [
        Warning("purge-finished", f"a purge of user {user} that was interrupted has been finished")
        for user in users
    ]
    return [*told, *report.warnings]


def _complete(store: Store, report: Purged, progress: Progress) -> list[str]:
    """Remove what the purges in the log name, and all that quotes it; return their users."""
    with store.repository.writing(store.indexed_seq()) as writer:
        purges = writer.log.purges
        if writer.log.damaged:
            writer.cut(writer.log.base)  # sets the damaged lines aside, where they are cleaned
        for intent in purges:
            ids = [record_id for _scope, record_id, _replaced in intent.gone]
            report.texts |= set(_texts(store, writer.log, intent))
            traces = Traces(ids, report.texts, intent.user)
            report.backups += sum(1 for _path in _cleaned(store, traces))
            writer.commit(_trims(store, writer.log, intent, traces, report))
            for scope, record_id, _replaced in intent.gone:
                fsio.remove(store.paths.record(scope, record_id), durable=False)
            for scope in SCOPES:
                fsio.sync_folder(store.paths.records(scope))
            tombstones.forget(store.paths.tombstones, intent.user)
        report.warnings += writer.warnings
    report.warnings += build(store, IndexRequest(embed=False, scan=False), progress).warnings
    return [intent.user for intent in purges]


# -- what is the user's ----------------------------------------------------------------------------


def _collected(store: Store, log: wal.Wal, better: Any, user: str) -> list[_Holding]:
    """Return the records of a user, and the insights that have no other evidence."""
    insights: list[_Holding] = []
    gone: dict[str, _Holding] = {}
    for holding in _holdings(store, log, better):
        if holding.record.user == user:
            gone[holding.record.id] = holding
        elif _evidence(holding.record):
            insights.append(holding)
    found = True
    while found:  # an insight may be built on insights
        found = False
        for holding in insights:
            evidence = _evidence(holding.record)
            if holding.record.id not in gone and all(name in gone for name in evidence):
                gone[holding.record.id] = holding
                found = True
    return list(gone.values())


def _evidence(record: Record) -> list[str]:
    evidence = record.document.get("evidence")
    return (
        [name for name in evidence if isinstance(name, str)] if isinstance(evidence, list) else []
    )


def _holdings(store: Store, log: wal.Wal, better: Any) -> Iterator[_Holding]:
    """Yield every sound record, whether the index knows it or not."""
    view = recovery.View(store.paths, log, better)
    seen = set()
    for found in scan.scan(store.paths):
        if isinstance(found, scan.Stranger):
            continue
        seen.add((found.scope, found.record_id))
        try:
            record = view.record(found.scope, found.record_id)
        except (OSError, ValueError):
            continue  # a damaged file is looked through for traces
        if record is not None:
            yield _Holding(record, found.stat[0])
    for (scope, record_id), entry in view.better.items():
        if entry.record is not None and (scope, record_id) not in seen:
            yield _Holding(record_of(entry.record, scope), 0)


def _counted(store: Store, gone: Iterable[_Holding]) -> Purged:
    report = Purged(store.agent)
    for record, size in gone:
        report.insights += record.category == _INSIGHT
        report.records += record.category != _INSIGHT
        report.bytes += size
        report.ids.append(record.id)
        report.texts |= set(_said(record.document))
    return report


def _texts(store: Store, log: wal.Wal, intent: wal.Purge) -> Iterator[str]:
    """Yield every text of the records that go, as far as files and log still hold it."""
    names = {(scope, record_id) for scope, record_id, _replaced in intent.gone}
    for entry in log.entries:
        if entry.record is not None and (entry.scope, entry.record_id) in names:
            yield from _said(entry.record)
    for scope, record_id in names:
        try:
            data = files.read_file(store.paths.record(scope, record_id))
            yield from _said(parse_record(data, scope, record_id).document)
        except (OSError, ValueError):
            continue


def _said(document: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a record document and of its history."""
    from openclaw_cli.memory.levels import statements

    history = document.get("history")
    past = [held.get("content") for held in history] if isinstance(history, list) else []
    for content in (document.get("content"), *past):
        levels = content.values() if isinstance(content, dict) else [content]
        for text in levels:
            if isinstance(text, str):
                yield text
                yield from statements(text)


# -- what quotes it --------------------------------------------------------------------------------


def _cleaned(store: Store, traces: Traces) -> Iterator[Path]:
    """Clean what was set aside, kept as a backup or left over; yield the files that changed."""
    root = store.paths.root
    fsio.sweep(root)
    for scope in SCOPES:
        fsio.sweep(store.paths.records(scope))
    for path in sorted(root.rglob("*")):
        is_aside = any(mark in str(path.relative_to(root)) for mark in _ASIDE)
        is_beside = path.parent.parent == root / "records"
        if path.is_symlink() or not path.is_file() or not (is_aside or is_beside):
            continue
        if (is_aside or not _is_sound(path)) and _clean(path, traces):
            yield path
    if store.paths.insights.is_file() and _clean_insights(store.paths.insights, traces):
        yield store.paths.insights
    for path in sorted(store.env.state.logs.glob("*")):
        if path.is_file() and _clean(path, traces):
            yield path


def _is_sound(path: Path) -> bool:
    """Tell a record from what is damaged or an editor has left beside the records."""
    if path.suffix != ".json":
        return False
    try:
        parse_record(files.read_file(path), path.parent.name, path.stem)
    except (OSError, ValueError):
        return False
    return True


def _clean(path: Path, traces: Traces) -> bool:
    """Remove the lines of a log that hold traces, or the whole of any other file that does."""
    data = files.read_file(path)
    is_named = traces.count(path.name.encode(), user=False) > 0
    if not is_named and not traces.count(data):
        return False
    lines = data.split(b"\n") if ".jsonl." in path.name else []
    kept = [line for line in lines if not traces.count(line)]
    if is_named or not any(kept):
        fsio.remove(path)
    else:
        fsio.write_file(path, b"\n".join(kept))
    return True


def _clean_insights(path: Path, traces: Traces) -> bool:
    """Remove insights that hold traces from their file; a damaged file goes as a whole."""
    data = files.read_file(path)
    if not traces.count(data):
        return False
    try:
        value = orjson.loads(data)
    except ValueError:
        fsio.remove(path)
        return True
    held = value.get("insights") if isinstance(value, dict) else value
    if not isinstance(held, list):
        fsio.remove(path)
        return True
    kept = [item for item in (_without(item, traces) for item in held) if item is not None]
    whole = {**value, "insights": kept} if isinstance(value, dict) else kept
    fsio.write_file(path, orjson.dumps(whole, option=orjson.OPT_INDENT_2))
    return True


def _without(item: Any, traces: Traces) -> Any:
    """Return an insight without the evidence that is gone; None when nothing of it may stay."""
    if isinstance(item, dict) and isinstance(item.get("evidence"), list):
        evidence = [name for name in item["evidence"] if not traces.count(orjson.dumps(name))]
        item = {**item, "evidence": evidence} if evidence else None
    return None if item is None or traces.count(orjson.dumps(item)) else item


def _trims(
    store: Store, log: wal.Wal, intent: wal.Purge, traces: Traces, report: Purged
) -> list[Change]:
    """Return the other records that quote what goes, without evidence and history that does."""
    gone = {record_id for _scope, record_id, _replaced in intent.gone}
    changes: list[Change] = []
    for record, _size in _holdings(store, log, {}):
        if record.id in gone:
            continue
        document = _trimmed(record, intent.user, gone, traces)
        if document != record.document:
            changes.append(Change(record.scope, record.id, document))
    report.trimmed += len(changes)
    return sorted(changes, key=lambda change: change.record_id)


def _trimmed(record: Record, user: str, gone: set[str], traces: Traces) -> dict[str, Any]:
    document = dict(record.document)
    evidence = _evidence(record)
    if gone.intersection(evidence):
        document["evidence"] = [name for name in evidence if name not in gone]
    history = document.get("history")
    if history:
        kept = (held for held in history if not _quotes(record, held, user, traces))
        document["history"] = [
            {**held, "by": None} if held.get("by") in gone else held for held in kept
        ]
    return document


def _quotes(record: Record, held: dict[str, Any], user: str, traces: Traces) -> bool:
    """Tell whether a history entry was the user's, or repeats a text of theirs in nobody's record.

    What another user has said themselves is theirs, even in the same words.
    """
    fields = held.get("fields")
    if isinstance(fields, dict) and fields.get("userId") == user:
        return True
    return record.user is None and traces.count(orjson.dumps(held.get("content"))) > 0
