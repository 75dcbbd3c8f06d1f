"""``memory purge``: everything of one user is forgotten, down to the last byte.

The intent is acknowledged in the log first, without any text; from then on no reader sees the
records. Then files that were set aside, what other records quote, and the record files go, in this
order, because the texts to look for are in the record files. The index is compacted at once, and
cutting the log, the last step, ends the purge. Whoever finds an unfinished one begins again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from openclaw_cli.index.protocol import Where
from openclaw_cli.memory.doctor import leftovers
from openclaw_cli.memory.indexing.build import build
from openclaw_cli.memory.levels import statements
from openclaw_cli.memory.requests import IndexRequest, PurgeRequest
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Progress, Warning, no_progress
from openclaw_cli.session.service import SessionService
from openclaw_cli.store import fsio, recovery, scan, tombstones, wal
from openclaw_cli.store.records import Record, record_of
from openclaw_cli.store.recovery import View
from openclaw_cli.store.repository import Change
from openclaw_cli.store.traces import Traces

_INSIGHT = "insight"


@dataclass(slots=True)
class Purged:
    """What a purge removed (or would remove) from one agent; ``bytes`` of record files.

    ``trimmed`` counts other records that lost a quotation, ``backups`` files that were cleaned,
    ``groups`` names sessions of others in which the user's messages were left, ``cleaned`` those
    from which they were removed; ``group_messages`` and ``group_messages_left`` count them.
    ``ids`` and ``texts`` are what `Traces` can look for afterwards.
    """

    agent: str
    records: int = 0
    insights: int = 0
    trimmed: int = 0
    backups: int = 0
    sessions: int = 0
    group_messages: int = 0
    group_messages_left: int = 0
    ledger_lines: int = 0
    bytes: int = 0
    groups: list[str] = field(default_factory=list)
    cleaned: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    warnings: list[Warning] = field(default_factory=list)


class _Gone(NamedTuple):
    """A record that goes; ``record`` is None when only the index knows whose it is."""

    scope: str
    id: str
    record: Record | None
    size: int = 0


def purge(store: Store, request: PurgeRequest, progress: Progress = no_progress) -> Purged:
    """Forget all that the memory of one agent holds of a user; a dry run only counts it."""
    if request.dry_run:
        view = store.repository.view()
        gone = _collected(store, view, request.user)
        report = _counted(store, gone)
        ids = {item.id for item in gone}
        trims, known = _trims(store, view, ids, request.user, report.texts)
        report.trimmed = len(trims)
        known |= {(item.scope, item.id) for item in gone}
        traces = Traces(ids, report.texts, request.user)
        left = leftovers.changes(store, traces, request.user, known)
        report.backups = sum(1 for _change in left)
        if request.sessions:
            _forget_sessions(store, request, report, progress)
        return report
    with store.repository.indexing():
        earlier = Purged(store.agent)
        if wal.holds_purge(store.paths.wal):
            earlier = _finished(store, progress)
        with store.repository.writing() as writer:
            gone = _collected(store, View.under_lock(store.paths, writer.log), request.user)
            report = _counted(store, gone)
            # Of the same user or of another: what a proof looks for must be found nowhere.
            report.ids += earlier.ids
            report.texts |= earlier.texts
            report.warnings += earlier.warnings
            options = {"sessions": request.sessions, "groupMessages": request.group_messages}
            writer.purge(request.user, [(item.scope, item.id) for item in gone], options)
        _complete(store, report, progress)
    return report


def complete(store: Store, progress: Progress = no_progress) -> list[Warning]:
    """Finish the purges that the log holds, and say so; the caller holds the indexer's lock."""
    return _finished(store, progress).warnings


def _finished(store: Store, progress: Progress) -> Purged:
    report = Purged(store.agent)
    users = _complete(store, report, progress)
    report.warnings[:0] = [
        Warning("purge-finished", f"a purge of user {user} that was interrupted has been finished")
        for user in users
    ]
    return report


def _complete(store: Store, report: Purged, progress: Progress) -> list[str]:
    """Remove what the purges in the log name, and all that quotes it; return their users."""
    with store.repository.writing() as writer:
        purges = writer.log.purges
        if writer.log.damaged:
            writer.cut(writer.log.base)  # sets the damaged lines aside, where they are cleaned
        # One that the index knows is done but for the cut of the log.
        todo = [intent for intent in purges if intent.seq > writer.log.floor]
        for intent in todo:
            newest = recovery.final_states(writer.log.entries)
            # What was stored under such an id since is another record.
            gone = [e for e in intent.deletions() if newest[e.scope, e.record_id].seq == e.seq]
            report.texts |= set(_texts(store, writer.log, gone))
            ids = {entry.record_id for entry in gone}
            report.ids += sorted(ids - set(report.ids))
            view = View.under_lock(store.paths, writer.log)
            trims, known = _trims(store, view, ids, intent.user, report.texts)
            report.trimmed += len(trims)
            known |= {(entry.scope, entry.record_id) for entry in gone}
            traces = Traces(ids, report.texts, intent.user)
            report.backups += leftovers.clean(store, traces, intent.user, known)
            writer.commit(trims)
            for entry in gone:
                fsio.remove(store.paths.record(entry.scope, entry.record_id), durable=False)
            for scope in SCOPES:
                fsio.sync_folder(store.paths.records(scope))
            tombstones.forget(store.paths.tombstones, intent.user)
        report.warnings += writer.warnings
    for intent in todo:
        if intent.options.get("sessions") is True:
            in_groups = intent.options.get("groupMessages") is True
            request = PurgeRequest(intent.user, sessions=True, group_messages=in_groups)
            _forget_sessions(store, request, report, progress)
    report.warnings += build(store, IndexRequest(embed=False, scan=False), progress).warnings
    return [intent.user for intent in purges]


def forget_sessions(
    store: Store, request: PurgeRequest, progress: Progress = no_progress
) -> Purged:
    """Forget the sessions of a user of an agent that has no memory.

    Raises `NotFoundError` when there is no such agent.
    """
    if store.agent not in store.env.state.agent_ids():
        store.require()
    report = Purged(store.agent)
    _forget_sessions(store, request, report, progress)
    return report


def _forget_sessions(
    store: Store, request: PurgeRequest, report: Purged, progress: Progress
) -> None:
    service = SessionService(store.env, store.agent)
    forgotten = service.forget_user(
        request.user,
        group_messages=request.group_messages,
        dry_run=request.dry_run,
        progress=progress,
    )
    report.sessions += forgotten.sessions
    report.ledger_lines += forgotten.ledger_lines
    report.bytes += forgotten.bytes
    report.groups += forgotten.groups
    report.cleaned += forgotten.trimmed
    if request.group_messages:
        report.group_messages += forgotten.group_messages
    else:
        report.group_messages_left += forgotten.group_messages
    report.ids += forgotten.ids
    report.texts |= forgotten.texts
    report.warnings += forgotten.warnings


# -- what is the user's ----------------------------------------------------------------------------


def _collected(store: Store, view: View, user: str) -> list[_Gone]:
    """Return the records of a user, and the insights that have no other evidence.

    A file that is missing or damaged is the user's when the index says so.
    """
    insights: list[_Gone] = []
    gone: dict[str, _Gone] = {}
    sound: set[str] = set()
    for item in _holdings(store, view):
        assert item.record is not None
        sound.add(item.id)
        if item.record.user == user:
            gone[item.id] = item
        elif evidence_of(item.record):
            insights.append(item)
    for known in store.open().documents(Where(users=(user,))):
        if known.id not in sound:
            gone[known.id] = _Gone(known.scope, known.id, None)
    theirs = tombstones.of_user(store.paths.tombstones, view.log, user)
    found = True
    while found:  # an insight may be built on insights
        found = False
        for item in insights:
            assert item.record is not None
            rest = [
                name
                for name in evidence_of(item.record)
                if name not in gone and tombstones.digest(name) not in theirs
            ]
            if item.id not in gone and not rest:
                gone[item.id] = item
                found = True
    return list(gone.values())


def evidence_of(record: Record) -> list[str]:
    """Return the ids of the records that an insight was built on."""
    evidence = record.document.get("evidence")
    if not isinstance(evidence, list):
        return []
    return [name for name in evidence if isinstance(name, str)]


def _holdings(store: Store, view: View) -> Iterator[_Gone]:
    """Yield every sound record, whether the index knows it or not."""
    seen = set()
    for found in scan.scan(store.paths):
        if isinstance(found, scan.Stranger):
            continue
        seen.add((found.scope, found.record_id))
        try:
            record = view.record(found.scope, found.record_id)
        except (OSError, ValueError):
            continue
        if record is not None:
            yield _Gone(found.scope, found.record_id, record, found.stat[0])
    for (scope, record_id), entry in view.better.items():
        if entry.record is not None and (scope, record_id) not in seen:
            yield _Gone(scope, record_id, record_of(entry.record, scope))


def _counted(store: Store, gone: Iterable[_Gone]) -> Purged:
    report = Purged(store.agent)
    for item in gone:
        is_insight = item.record is not None and item.record.category == _INSIGHT
        report.insights += is_insight
        report.records += not is_insight
        report.bytes += item.size
        report.ids.append(item.id)
        if item.record is not None:
            report.texts |= set(_said(item.record.document))
    return report


def _texts(store: Store, log: wal.Wal, gone: Iterable[wal.Entry]) -> Iterator[str]:
    """Yield every text of the records that go, as far as files and log still hold it."""
    seqs = {(entry.scope, entry.record_id): entry.seq for entry in gone}
    for entry in log.entries:
        if entry.record is not None and (entry.scope, entry.record_id) in seqs:
            yield from _said(entry.record)
    files_alone = View(store.paths, log, {})
    for scope, record_id in seqs:
        try:
            record = files_alone.record(scope, record_id)
        except (OSError, ValueError):
            continue
        if record is not None:
            yield from _said(record.document)


def _said(document: dict[str, Any]) -> Iterator[str]:
    """Yield the texts of a record document and of its history."""
    history = document.get("history")
    past = history if isinstance(history, list) else []
    for holder in (document, *past):
        content = holder.get("content") if isinstance(holder, dict) else None
        for text in content.values() if isinstance(content, dict) else [content]:
            if isinstance(text, str):
                yield from (said for said in (text, *statements(text)) if said.strip())


# -- what quotes it --------------------------------------------------------------------------------


def _trims(
    store: Store, view: View, gone: set[str], user: str, texts: set[str]
) -> tuple[list[Change], set[leftovers.Key]]:
    """Return the other records that quote what goes, without evidence and history that does, and
    scope and id of every sound record."""
    theirs = tombstones.of_user(store.paths.tombstones, view.log, user)
    changes: list[Change] = []
    known: set[leftovers.Key] = set()
    for item in _holdings(store, view):
        known.add((item.scope, item.id))
        record = item.record
        if record is None or item.id in gone or record.user == user:
            continue
        document = _trimmed(record, user, gone, theirs, texts)
        if document != record.document:
            changes.append(Change(item.scope, item.id, document))
    return sorted(changes, key=lambda change: change.record_id), known


def _trimmed(
    record: Record, user: str, gone: set[str], theirs: set[str], texts: set[str]
) -> dict[str, Any]:
    document = dict(record.document)
    evidence = evidence_of(record)
    kept = [name for name in evidence if name not in gone and tombstones.digest(name) not in theirs]
    if kept != evidence:
        document["evidence"] = kept
    if document.get("history"):
        document["history"] = [
            {**held, "by": None} if _names(held, gone) else held
            for held in document["history"]
            if not _quotes(record, held, user, texts)
        ]
    return document


def _names(held: dict[str, Any], gone: set[str]) -> bool:
    by = held.get("by")
    return isinstance(by, str) and by in gone


def _quotes(record: Record, held: dict[str, Any], user: str, texts: set[str]) -> bool:
    """Tell whether a history entry was the user's, or repeats a text of theirs in nobody's record.

    What another user has said themselves is theirs, even in the same words.
    """
    fields = held.get("fields")
    if isinstance(fields, dict) and fields.get("userId") == user:
        return True
    return record.user is None and not texts.isdisjoint(_said({"history": [held]}))
