"""The record that an operator means by an id, whole or its end."""

from __future__ import annotations

import os
from collections.abc import Iterator

from openclaw_cli.errors import AmbiguousIdError, DamagedError, NotFoundError
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES, check_name
from openclaw_cli.store.records import Record
from openclaw_cli.store.recovery import View

_SHORT_ID = 8


def find(store: Store, view: View, given: str) -> Record | None:
    """Return the record of an id, or of the only one that ends with it; None when there is none.

    Raises ``ValueError`` when its file is damaged and `AmbiguousIdError` when several fit.
    """
    place = locate(store, view, given)
    return None if place is None else view.record(*place)


def locate(store: Store, view: View, given: str) -> tuple[str, str] | None:
    """Return scope and id of the record that is meant, without reading what it holds."""
    check_name("record", given)
    for scope in SCOPES:
        if _is_there(view, scope, given):
            return scope, given
    if len(given) < _SHORT_ID:
        return None
    matches = sorted(set(_ending_with(store, view, given)))
    if len(matches) > 1:
        raise AmbiguousIdError(
            f"{given} fits {len(matches)} records: {', '.join(m[1] for m in matches[:5])}",
            hint="write more characters of the id",
        )
    return matches[0] if matches else None


def require(store: Store, view: View, given: str) -> Record:
    """Return the record that is meant; raises `NotFoundError` or `DamagedError`."""
    try:
        record = find(store, view, given)
    except (OSError, ValueError) as error:
        raise DamagedError(
            f"record {given}: {error}", hint="openclaw memory index names every damaged file"
        ) from error
    if record is None:
        raise NotFoundError(
            f"record {given}: no such record",
            hint="openclaw memory list shows the ids that exist",
        )
    return record


def _is_there(view: View, scope: str, record_id: str) -> bool:
    entry = view.better.get((scope, record_id))
    return entry.op == "put" if entry is not None else view.may_hold(scope, record_id)


def _ending_with(store: Store, view: View, ending: str) -> Iterator[tuple[str, str]]:
    for (scope, record_id), entry in view.better.items():
        if entry.op == "put" and record_id.endswith(ending):
            yield scope, record_id
    for scope in SCOPES:
        try:
            names = os.listdir(store.paths.records(scope))
        except FileNotFoundError:
            continue
        for name in names:
            record_id = name.removesuffix(".json")
            if name.endswith(f"{ending}.json") and _is_there(view, scope, record_id):
                yield scope, record_id
