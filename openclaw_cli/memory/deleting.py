"""``memory delete``: records go at once, their traces in the index with the next run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from openclaw_cli.errors import UsageError
from openclaw_cli.index.protocol import Document, Where
from openclaw_cli.memory.analysis import hash_of
from openclaw_cli.memory.documents import short_hash
from openclaw_cli.memory.filters import Filters
from openclaw_cli.memory.indexing.checkpoint import checkpoint, writing
from openclaw_cli.memory.levels import indexed_text
from openclaw_cli.memory.lookup import absence, locate, no_such
from openclaw_cli.memory.requests import DeleteRequest
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Result, Warning
from openclaw_cli.store import tombstones
from openclaw_cli.store.records import Record
from openclaw_cli.store.recovery import View
from openclaw_cli.store.repository import Change


class _Doomed(NamedTuple):
    """A record that is to go; ``record`` is None when its file is damaged."""

    scope: str
    id: str
    record: Record | None


def delete(store: Store, request: DeleteRequest) -> Result:
    """Delete records by id or by filter; a dry run tells which ones would go.

    From the return on no command finds them: where the other scope has a record of the same id,
    that one goes too, unless a filter spares it. An id that does not exist is listed as missing;
    when none exists `NotFoundError` is raised.
    """
    if [bool(request.ids), request.filters != Filters(), bool(request.places)].count(True) != 1:
        raise UsageError(
            "records to delete are named by ids or chosen by filters",
            hint="give one of both; openclaw memory list shows what a filter chooses",
        )
    where = request.filters.where()
    store.require()
    opened = store.open()
    warnings: list[Warning] = list(opened.warnings)
    missing: list[str] = []
    if request.ids:
        places, missing = _named(opened.view, request.ids)
    elif request.places:
        places, missing = _left_of(opened.view, request.places)
    else:
        warnings += store.count_warning(opened)
        found = [(document.scope, document.id) for document in opened.documents(where)]
        places = _in_all_scopes(opened.view, found)
    doomed = _there(opened.view, places, where)
    if not request.dry_run and doomed:
        damaged = {item.id for item in doomed if item.record is None}
        indexed = opened.documents(Where()) if damaged else ()
        left = {found.id: _left(found) for found in indexed if found.id in damaged}
        doomed, more = _remove(store, [(item.scope, item.id) for item in doomed], where, left)
        warnings += more
    data = {
        "deleted": [item.id for item in doomed],
        "missing": missing,
        "dryRun": request.dry_run,
        "items": [_row(item) for item in doomed],
        "failed": [{"id": given, "reason": absence(opened.view, given)} for given in missing],
    }
    return Result("memory.delete", data, tuple(warnings))


def _named(view: View, ids: Iterable[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the places of the records that are meant, and the ids that mean none."""
    places: dict[tuple[str, str], None] = {}
    missing: list[str] = []
    for given in ids:
        place = locate(view, given)
        if place is None:
            missing.append(given)
        else:
            places[place] = None
    if not places:
        raise no_such(view, missing[0], details={"missing": missing})
    return _in_all_scopes(view, places), missing


def _in_all_scopes(view: View, places: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the places, and with each that of the other scope where that has a file of the same
    id: a copied file, of which readers show one alone."""
    return [
        (scope, record_id)
        for known, record_id in places
        for scope in SCOPES
        if scope == known or view.may_hold(scope, record_id)
    ]


def _left_of(
    view: View, places: Sequence[tuple[str, str]]
) -> tuple[list[tuple[str, str]], list[str]]:
    """Return which of the places still hold a record, and the ids of the others."""
    held = [place for place in places if view.holds(*place)]
    missing = [place[1] for place in places if place not in held]
    if not held:
        raise no_such(view, missing[0], details={"missing": missing})
    return held, missing


def _there(view: View, places: Iterable[tuple[str, str]], where: Where) -> list[_Doomed]:
    """Return those of the records that are there and pass the filter by what their files say.

    The index may be older than an edit by hand. A damaged file passes no filter, but can be named.
    """
    # What language a text is in only the index knows.
    asked = where._replace(languages=())
    found: list[_Doomed] = []
    for scope, record_id in places:
        try:
            record = view.record(scope, record_id)
        except (OSError, ValueError):
            if where == Where():
                found.append(_Doomed(scope, record_id, None))
            continue
        if record is not None and asked.allows(record):
            found.append(_Doomed(scope, record_id, record))
    return found


def _remove(
    store: Store,
    places: Sequence[tuple[str, str]],
    where: Where,
    left: Mapping[str, dict[str, Any]],
) -> tuple[list[_Doomed], list[Warning]]:
    """Delete, in one commit, what of ``places`` is still there under the lock.

    ``left`` is what the deletion of a damaged record carries, by its id.
    """
    with writing(store) as writer:
        doomed = _there(View.under_lock(store.paths, writer.log), places, where)
        # Of two records of one id the tombstone of the later stays: of the one that was shown.
        writer.commit([_change(item, left) for item in reversed(doomed)])
    return doomed, [*writer.warnings, *checkpoint(store, writer.log)]


def _left(document: Document) -> dict[str, Any]:
    return tombstones.payload([document.content_hash], document.user)


def _change(item: _Doomed, left: Mapping[str, dict[str, Any]]) -> Change:
    record = item.record
    if record is None:
        return Change(item.scope, item.id, None, left.get(item.id, tombstones.payload([], None)))
    past = record.document.get("history") or []
    texts = [(record.l0, record.l2), *(_texts(held.get("content")) for held in past)]
    hashes = {short_hash(hash_of(indexed_text(l0, l2))) for l0, l2 in texts}
    return Change(item.scope, item.id, None, tombstones.payload(hashes, record.user))


def _texts(content: object) -> tuple[str, str]:
    levels = content if isinstance(content, dict) else {"l0": content}
    l0, l2 = levels.get("l0"), levels.get("l2")
    return l0 if isinstance(l0, str) else "", l2 if isinstance(l2, str) else ""


def _row(item: _Doomed) -> dict[str, Any]:
    if item.record is None:
        return {"id": item.id, "scope": item.scope, "damaged": True}
    return {
        "id": item.id,
        "category": item.record.category,
        "scope": item.scope,
        "userId": item.record.user,
        "l0": item.record.l0,
    }
