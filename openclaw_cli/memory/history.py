"""What a record was before: the entries of its history, and how one of them stands again."""

from __future__ import annotations

from typing import Any

from openclaw_cli.errors import UsageError
from openclaw_cli.memory.categories import CATEGORIES
from openclaw_cli.store.records import Record, record_of

#: The reason of an entry that never stood: an import brought it after what was newer.
LATE = "older statement"
UNDONE = "undone"

#: Fields that a history entry keeps in its own way, that belong to the record for all its life, or
#: that follow from the others.
_APART = frozenset(
    ("version", "id", "agentId", "scope", "content", "tags", "updatedAt", "history",
     "language", "contentHash", "fsrs", "embeddingPending")
)  # fmt: skip
#: Fields about which a merge decides; all others of a newer statement go over whole.
_DECIDED = _APART | {
    *("userId", "category", "mergeStrategy", "key", "createdAt", "evidence", "confidence"),
    "reflectedAt",
}


def further(document: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a record document that go over whole from one version to the next."""
    return {name: value for name, value in document.items() if name not in _DECIDED}


def entry(kept: dict[str, Any], *, at: str, reason: str, by: str | None = None) -> dict[str, Any]:
    """Return the history entry of the document ``kept``, replaced at the time ``at``.

    It holds all that is needed for this state to stand again. ``by`` is the id of the statement
    that replaced it.
    """
    return {
        "content": kept["content"],
        "updatedAt": kept.get("updatedAt"),
        "replacedAt": at,
        "reason": reason,
        "by": by,
        "tags": kept.get("tags") or [],
        "fields": {
            name: value
            for name, value in kept.items()
            if name not in _APART and value not in (None, [])
        },
    }


def with_past(
    current: dict[str, Any], newer: dict[str, Any], *, reason: str, by: str | None = None
) -> dict[str, Any]:
    """Return ``newer`` with the history of ``current``, and ``current`` itself as its last."""
    past = current.get("history") or []
    return {
        **newer,
        "history": [*past, entry(current, at=newer["updatedAt"], reason=reason, by=by)],
    }


def entries(record: Record) -> list[dict[str, Any]]:
    """Return the history of a record as numbered entries, oldest first, counted from 1."""
    past = record.document.get("history") or []
    return [{**held, "n": number} for number, held in enumerate(past, 1)]


def restored(record: Record, number: int | None, moment: str) -> dict[str, Any]:
    """Return the document of ``record`` as it was in history entry ``number``, as of ``moment``.

    None takes the state before the last change. What stood until now joins the history, so that
    this can be undone as well. Raises `UsageError` when there is no such entry to stand again.
    """
    past = record.document.get("history") or []
    chosen = _chosen(record, past, number)
    held = past[chosen - 1]
    newer = {
        **_fields(record.document, held.get("fields")),
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


def _fields(current: dict[str, Any], kept: object) -> dict[str, Any]:
    """Return ``current`` with the fields that an entry has kept; one that was written by hand may
    have kept none, or what no record may be given."""
    if not isinstance(kept, dict):
        return current
    own = {name: value for name, value in current.items() if name in _APART}
    known = {name: None for name in current if name in _DECIDED and name not in _APART}
    fields = {name: value for name, value in kept.items() if name not in _APART}
    category = CATEGORIES.get(str(fields.get("category")))
    if category is None or own["scope"] not in category.scopes:
        category = CATEGORIES.get(str(current.get("category")))
        fields |= {"category": current.get("category")}
    fields |= {"mergeStrategy": category.strategy if category else current.get("mergeStrategy")}
    evidence = fields.get("evidence")
    return {
        **own,
        **known,
        "createdAt": current.get("createdAt"),
        **fields,
        "evidence": evidence if isinstance(evidence, list) else [],
    }


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
