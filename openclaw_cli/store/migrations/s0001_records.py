"""Step 1: a record before 2.0 (no version, ``content`` perhaps a plain string) becomes one of 2.0.

What the text alone can tell (language, hash) is left to the caller. The table of categories is the
one of that time: a later change of it must not change what this step makes of a record.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from openclaw_cli.clock import format_time, parse_foreign_time
from openclaw_cli.paths import SCOPES

MAJOR = 2
VERSION = "2.0"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: category -> scope, merge strategy, initial stability in days.
_CATEGORIES = {
    "profile": ("user", "overwrite", 180.0),
    "preference": ("user", "latest-wins", 60.0),
    "event": ("user", "no-merge", 14.0),
    "lesson": ("agent", "append", 60.0),
    "pattern": ("agent", "latest-wins", 60.0),
    "case": ("agent", "no-merge", 30.0),
    "insight": ("user", "latest-wins", 180.0),
}
_UNKNOWN = ("user", "no-merge", 14.0)
_DIFFICULTY = 0.3


def major_of(version: object) -> int | None:
    """Return the major number of a format version, 1 when there is none, None for nonsense."""
    if version is None:
        return 1
    major = str(version).partition(".")[0]
    return int(major) if major.isascii() and major.isdigit() and len(major) <= 9 else None


def applies(document: object) -> bool:
    """Tell whether a record document is of a format before 2.0."""
    if not isinstance(document, dict):
        return False
    if document.get("version") == VERSION:
        return isinstance(document.get("content"), str)
    major = major_of(document.get("version"))
    return major is not None and (major < MAJOR or isinstance(document.get("content"), str))


def is_newer(document: dict[str, Any]) -> bool:
    """Tell whether a record document is of a format after 2.x."""
    major = major_of(document.get("version"))
    return major is not None and major > MAJOR


def upgrade(document: dict[str, Any], scope: str | None, agent: str) -> dict[str, Any]:
    """Return ``document`` as one of 2.0, with every field that it has and those that it lacks.

    ``scope`` is that of the folder it lies in, if any. Raises ``ValueError`` for what is no record.
    """
    category = document.get("category") or "event"
    own_scope, strategy, days = _CATEGORIES.get(str(category), _UNKNOWN)
    created, updated = _times(document)
    found: dict[str, Any] = {
        "version": VERSION,
        "id": document.get("id"),
        "agentId": agent,
        "userId": None,
        "scope": scope or own_scope,
        "category": category,
        "mergeStrategy": strategy,
        "key": None,
        "content": None,
        "language": None,
        "tags": [],
        "contentHash": None,
        "fsrs": None,
        "createdAt": None,
        "updatedAt": None,
        "source": {"kind": "import", "sessionId": None, "messages": None},
        "embeddingPending": False,
        "reflectedAt": None,
        "evidence": [],
        "confidence": None,
        "history": [],
    }
    given = {name: value for name, value in document.items() if value is not None}
    complete = {**document, **found, **given}
    ordered = {name: complete[name] for name in (*found, *(n for n in document if n not in found))}
    return {
        **ordered,
        "version": VERSION,
        "scope": _scope(complete["scope"]),
        "content": _levels(document.get("content")),
        "fsrs": _fsrs(document.get("fsrs"), days, created),
        "createdAt": _text(document.get("createdAt"), created),
        "updatedAt": _text(document.get("updatedAt"), updated),
    }


def _scope(scope: object) -> str:
    if scope not in SCOPES:
        raise ValueError(f"scope {scope!r} is neither user nor agent")
    return str(scope)


def _levels(content: object) -> dict[str, Any]:
    if isinstance(content, str):
        return {"l0": content, "l1": "", "l2": content}
    if not isinstance(content, dict):
        raise ValueError("content is missing or not an object")
    given = {name: text for name, text in content.items() if text is not None}
    return {"l0": "", "l1": "", "l2": given.get("l0", ""), **given}


def _times(document: dict[str, Any]) -> tuple[datetime, datetime]:
    """Return creation and last change; one that is missing is taken from what else is known, and
    1970 – what readers have shown until now – where nothing is."""
    fsrs = document.get("fsrs")
    review = fsrs.get("lastReview") if isinstance(fsrs, dict) else None
    created = document.get("createdAt") or document.get("updatedAt") or review
    updated = document.get("updatedAt") or created
    return _moment(created), _moment(updated)


def _moment(value: object) -> datetime:
    if value is None:
        return _EPOCH
    try:
        return parse_foreign_time(str(value))[0]
    except ValueError as error:
        raise ValueError(f"{str(value)[:40]!r} is not an ISO-8601 time") from error


def _text(value: object, moment: datetime) -> str:
    """Return the time as it is written where that is UTC already, to the last digit."""
    return value if isinstance(value, str) and value.endswith("Z") else format_time(moment)


def _fsrs(state: object, days: float, created: datetime) -> dict[str, Any]:
    if state is not None and not isinstance(state, dict):
        raise ValueError("fsrs is not an object")
    given = {name: value for name, value in (state or {}).items() if value is not None}
    stability = given.get("stability", days)
    review = _moment(given.get("lastReview")) if "lastReview" in given else created
    found = {
        "stability": stability,
        "difficulty": _DIFFICULTY,
        "lastReview": format_time(review),
        "nextReview": format_time(_later(review, stability)),
        "reps": 0,
        "lapses": 0,
    }
    return {**found, **given}


def _later(moment: datetime, days: object) -> datetime:
    if isinstance(days, bool) or not isinstance(days, int | float):
        raise ValueError("fsrs.stability is not a number")
    try:
        return moment + timedelta(days=days)
    except (OverflowError, ValueError):
        return datetime.max.replace(tzinfo=UTC)
