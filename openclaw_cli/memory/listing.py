"""``memory get`` and ``memory list``: records by id, and records by filter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from heapq import nlargest
from typing import Any

from openclaw_cli.clock import format_time, from_millis, to_millis
from openclaw_cli.errors import DamagedError, OpenclawError, UsageError
from openclaw_cli.memory.fsrs import retrievability
from openclaw_cli.memory.lookup import absence, find, no_such
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.memory.store import Opened, Store, note_older
from openclaw_cli.result import Result, Warning
from openclaw_cli.store.records import Record, completed
from openclaw_cli.store.recovery import View

SORTS = ("created", "updated", "retrievability")
_DAMAGED = "damaged"
#: Up to this part of all, the first are picked out faster than all are sorted.
_FEW = 20


def get(store: Store, ids: Sequence[str]) -> Result:
    """Return whole records by id or by the end of one.

    Those that do not exist or are damaged are listed as failed; none found at all is an error.
    """
    store.require()
    view = store.repository.view()
    items: list[dict[str, Any]] = []
    failed: list[dict[str, str]] = []
    warnings: list[Warning] = []
    for given in ids:
        try:
            record = find(view, given, warnings)
        except (OSError, ValueError) as error:
            failed.append({"id": given, "reason": f"{_DAMAGED}: {error}"})
            continue
        if record is None:
            failed.append({"id": given, "reason": absence(view, given)})
        else:
            note_older(store, record, warnings)
            items.append(_current_document(store, record))
    if not items:
        raise _none_found(view, failed)
    data: dict[str, Any] = {"items": items}
    if failed:
        data["failed"] = failed
    return Result("memory.get", data, tuple(warnings))


def _none_found(view: View, failed: Sequence[dict[str, str]]) -> OpenclawError:
    """Return the error for when nothing was found: damaged, or not there at all."""
    first = next((item for item in failed if item["reason"].startswith(_DAMAGED)), failed[0])
    if first["reason"].startswith(_DAMAGED):
        message = f"record {first['id']}: {first['reason']}"
        return DamagedError(message, hint="openclaw memory index names every damaged file")
    return no_such(view, first["id"])


def _current_document(store: Store, record: Record) -> dict[str, Any]:
    """Return the record's document, saying whether its vector is missing *now*.

    The file says what was so when it was written; the index may have made the vector since.
    """
    if not record.pending:
        return completed(record)
    pending = store.open().snapshot.is_pending(record.id)
    return {**completed(record), "embeddingPending": pending}


def listing(store: Store, request: ListRequest) -> Result:
    """Return the first records of a filter and how many there are in all."""
    opened, ordinals, total, now = _selected(store, request)
    warnings = [*opened.warnings, *store.count_warning(opened)]
    items = [row for n in ordinals if (row := _row(store, opened, n, now, warnings)) is not None]
    data = {"items": items, "total": total}
    return Result("memory.list", data, tuple(warnings))


def stream(
    store: Store, request: ListRequest, warnings: MutableSequence[Warning]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a listing one by one, for output of any length in constant memory."""
    opened, ordinals, _total, now = _selected(store, request)
    warnings.extend([*opened.warnings, *store.count_warning(opened)])
    for ordinal in ordinals:
        row = _row(store, opened, ordinal, now, warnings)
        if row is not None:
            yield row


def _selected(store: Store, request: ListRequest) -> tuple[Opened, list[int], int, int]:
    """Return what was opened, the first ordinals of the filter, how many it has, and the time."""
    if request.sort not in SORTS:
        raise UsageError(f"--sort {request.sort!r} is unknown", hint="choose " + ", ".join(SORTS))
    opened = store.open()
    now = to_millis(store.env.clock.now())
    mask = opened.snapshot.select(request.filters.where())
    # From the newest down, which equal values keep.
    ordinals = [n for n in reversed(range(opened.snapshot.count)) if mask is None or mask[n]]
    key = _sort_key(opened, request.sort, now)
    if request.limit is not None and request.limit * _FEW < len(ordinals):
        return opened, nlargest(request.limit, ordinals, key), len(ordinals), now
    ordinals.sort(key=key, reverse=True)
    return opened, ordinals[: request.limit], len(ordinals), now


def _sort_key(opened: Opened, sort: str, now: int) -> Callable[[int], float]:
    if sort != "retrievability":
        return opened.snapshot.column(sort).__getitem__
    stability = opened.snapshot.column("stability")
    review = opened.snapshot.column("review")
    return lambda n: retrievability(stability[n], review[n], now)


def _row(
    store: Store, opened: Opened, ordinal: int, now: int, warnings: MutableSequence[Warning]
) -> dict[str, Any] | None:
    value = opened.snapshot.value
    record_id, scope = value("id", ordinal), value("scope", ordinal)
    record = store.shown(opened, scope, record_id, warnings)
    if record is None:
        return None
    retained = retrievability(value("stability", ordinal), value("review", ordinal), now)
    return {
        "id": record.id,
        "category": record.category,
        "scope": record.scope,
        "userId": record.user,
        "l0": record.l0,
        "language": value("language", ordinal),
        "createdAt": format_time(from_millis(record.created)),
        "updatedAt": format_time(from_millis(record.updated)),
        "tags": list(record.tags),
        "retrievability": retained,
    }
