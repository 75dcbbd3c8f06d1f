"""What a record was before: the entries of its history, and how one of them stands again."""

from __future__ import annotations

from typing import Any

from openclaw_cli.errors import UsageError
from openclaw_cli.store.records import Record, record_of

#: The reason of an entry that never stood: an import brought it after what was newer.
LATE = "older statement"
UNDONE = "undone"

#: What two versions of a record share, or what a merge decides about.
_KNOWN = frozenset(
    ("version", "id", "agentId", "userId", "scope", "category", "mergeStrategy", "key", "content",
     "language", "tags", "contentHash", "fsrs", "createdAt", "updatedAt", "embeddingPending",
     "reflectedAt", "evidence", "confidence", "history")
)  # fmt: skip
#: Known fields that an entry keeps when the new version has another value.
_KEPT = (
    *("userId", "category", "mergeStrategy", "key", "createdAt", "evidence", "confidence"),
    "reflectedAt",
)


def further(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record document that go over whole from one version to the next."""
    return {name: value for name, value in document.items() if name not in _KNOWN}


def entry(
    kept: dict[str, Any],
    *,
    at: str,
    reason: str,
    by: str | None = None,
    after: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the history entry of the document ``kept``, replaced at the time ``at``.

    ``by`` is the id of the statement that replaced it; ``after`` the document in its place, when
    more than content, tags and further fields may differ.
    """
    fields = further(kept)
    if after is not None:
        fields |= {name: kept.get(name) for name in _KEPT if kept.get(name) != after.get(name)}
    return {
        "content": kept["content"],
        "updatedAt": kept.get("updatedAt"),
        "replacedAt": at,
        "reason": reason,
        "by": by,
        "tags": kept.get("tags") or [],
        "fields": fields,
    }


def with_past(
    current: dict[str, Any], newer: dict[str, Any], *, reason: str, by: str | None = None
) -> dict[str, Any]:
    """Return ``newer`` with the history of ``current``, and ``current`` itself as its last."""
    past = current.get("history") or []
    at = newer["updatedAt"]
    return {**newer, "history": [*past, entry(current, at=at, reason=reason, by=by, after=newer)]}


def entries(record: Record) -> list[dict[str, Any]]:
    """Return the history of a record as numbered entries, oldest first, counted from 1."""
    past = record.document.get("history") or []
    return [{"n": number, **held} for number, held in enumerate(past, 1)]


def restored(record: Record, number: int | None, moment: str) -> dict[str, Any]:
    """Return the document of ``record`` as it was in history entry ``number``, as of ``moment``.

    None takes the state before the last change. What stood until now joins the history, so that
    this can be undone as well. Raises `UsageError` when there is no such entry to stand again.
    """
    past = record.document.get("history") or []
    chosen = _chosen(record, past, number)
    held = past[chosen - 1]
    fields = held.get("fields")
    current = record.document
    if isinstance(fields, dict):
        bare = {name: value for name, value in current.items() if name not in further(current)}
        current = {**bare, **fields}
    newer = {
        **current,
        "content": _levels(held.get("content")),
        "tags": held.get("tags", record.document.get("tags") or []),
        "language": None,
        "updatedAt": moment,
    }
    try:
        return with_past(record.document, record_of(newer, record.scope).document, reason=UNDONE)
    except ValueError as error:
        raise UsageError(
            f"entry {chosen} of {record.id} cannot stand again: {error}",
            hint=f"openclaw memory history {record.id} shows what there is",
        ) from error


def _chosen(record: Record, past: list[dict[str, Any]], number: int | None) -> int:
    if number is None:
        stood = [n for n, held in enumerate(past, 1) if held.get("reason") != LATE]
        if stood:
            return stood[-1]
    elif 1 <= number <= len(past):
        return number
    there = f"entries 1 to {len(past)}" if past else "no earlier state"
    asked = "" if number is None else f", so not {number}"
    raise UsageError(
        f"{record.id} has {there}{asked}",
        hint=f"openclaw memory history {record.id} shows what there is",
    )


def _levels(content: object) -> object:
    if isinstance(content, str):
        return {"l0": content, "l1": "", "l2": content}
    return {"l0": "", "l1": "", "l2": "", **content} if isinstance(content, dict) else content
