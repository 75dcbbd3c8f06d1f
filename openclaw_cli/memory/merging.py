"""What happens to a slot when a newer statement comes: one function for each merge strategy.

Nothing is lost by a merge: L2 grows by the new text under its time, and ``history`` keeps what was
replaced, newest last.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from openclaw_cli.clock import format_time
from openclaw_cli.memory.fsrs import restated
from openclaw_cli.memory.levels import joined, summary_of
from openclaw_cli.store.records import Record


def merged(current: Record, newer: dict[str, Any], moment: datetime) -> dict[str, Any] | None:
    """Return the document of ``current`` after ``newer`` was said at ``moment``.

    None when the strategy of the record's category lets every statement stand alone.
    """
    strategy = current.document.get("mergeStrategy")
    if strategy == "no-merge":
        return None
    content = _appended(current, newer, moment) if strategy == "append" else (
        _replaced(current, newer, moment)
    )  # fmt: skip
    document = current.document
    stability = current.stability or newer["fsrs"]["stability"]
    return {
        **document,
        "content": content,
        "tags": list(dict.fromkeys([*current.tags, *newer["tags"]])),
        "updatedAt": format_time(moment),
        "fsrs": restated(document.get("fsrs") or newer["fsrs"], stability, moment),
        "source": newer["source"],
        "history": [*(document.get("history") or []), _kept(current, str(strategy), moment)],
    }


def superseding(
    current: Record, newer: dict[str, Any], reason: str, moment: datetime
) -> dict[str, Any]:
    """Return ``newer`` in the place of ``current``, which goes on in its history."""
    kept = _kept(current, f"import {reason}", moment)
    return {**newer, "history": [*(newer.get("history") or []), kept]}


def _replaced(current: Record, newer: dict[str, Any], moment: datetime) -> dict[str, Any]:
    content = newer["content"]
    return {**content, "l2": joined(current.l2 or current.l0, content["l2"], moment)}


def _appended(current: Record, newer: dict[str, Any], moment: datetime) -> dict[str, Any]:
    full = joined(current.l2 or current.l0, newer["content"]["l2"], moment)
    overview = "\n\n".join(filter(None, (current.l1, newer["content"]["l1"])))
    # L0 is the beginning of L2, so that the whole experience is found by any of its parts.
    return {"l0": summary_of(full), "l1": overview, "l2": full}


def _kept(current: Record, reason: str, moment: datetime) -> dict[str, Any]:
    return {
        "content": current.document["content"],
        "updatedAt": current.document.get("updatedAt"),
        "replacedAt": format_time(moment),
        "reason": reason,
    }
