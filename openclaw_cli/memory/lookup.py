"""The record that an operator means by an id, whole or its end."""

from __future__ import annotations

from collections.abc import Mapping, MutableSequence

from openclaw_cli.errors import AmbiguousIdError, DamagedError, NotFoundError
from openclaw_cli.paths import SCOPES, check_name
from openclaw_cli.result import Warning
from openclaw_cli.store.records import Record
from openclaw_cli.store.recovery import View
from openclaw_cli.store.tombstones import was_deleted

DELETED = "it was deleted"
_SHORT_ID = 8


def find(view: View, given: str, warnings: MutableSequence[Warning] | None = None) -> Record | None:
    """Return the record of an id, or of the only one that ends with it; None when there is none.

    Raises ``ValueError`` when its file is damaged – with ``warnings``, for one who only reads, when
    the log does not have it either – and `AmbiguousIdError` when several fit.
    """
    place = locate(view, given)
    if place is None:
        return None
    return view.record(*place) if warnings is None else view.readable(*place, warnings)


def locate(view: View, given: str) -> tuple[str, str] | None:
    """Return scope and id of the record that is meant, without reading what it holds."""
    check_name("record", given)
    for scope in SCOPES:
        if view.holds(scope, given):
            return scope, given
    if len(given) < _SHORT_ID:
        return None
    matches = view.identifiers(given)
    names = list(dict.fromkeys(match[1] for match in matches))
    if len(names) > 1:
        raise AmbiguousIdError(
            f"{given} fits {len(names)} records: {', '.join(names[:5])}",
            hint="write more characters of the id",
        )
    return matches[0] if matches else None


def require(view: View, given: str, warnings: MutableSequence[Warning] | None = None) -> Record:
    """Return the record that is meant, as `find` does; raises `NotFoundError` or `DamagedError`."""
    try:
        record = find(view, given, warnings)
    except (OSError, ValueError) as error:
        raise DamagedError(
            f"record {given}: {error}", hint="openclaw memory index names every damaged file"
        ) from error
    if record is None:
        raise no_such(view, given)
    return record


def absence(view: View, given: str) -> str:
    """Return in words why an id means no record: there never was one, or it was deleted."""
    return DELETED if was_deleted(view.paths.tombstones, view.log, given) else "no such record"


def no_such(
    view: View, given: str, *, details: Mapping[str, object] | None = None
) -> NotFoundError:
    """Return the error for an id that means no record."""
    reason = absence(view, given)
    hint = "openclaw memory list shows the ids that exist"
    if reason == DELETED:
        hint = "an export made before brings it back: memory import FILE --on-conflict overwrite"
    return NotFoundError(f"record {given}: {reason}", hint=hint, details=details)
