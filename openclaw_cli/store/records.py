"""A memory record as a file: parsing, checking and writing, with unknown fields kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from openclaw_cli.clock import format_time, from_millis, parse_foreign_time, to_millis
from openclaw_cli.paths import SCOPES, valid_name

VERSION = "2.0"
_BOM = b"\xef\xbb\xbf"
# orjson reads deeper nesting than it writes.
_WRITABLE_DEPTH = 250
_OPTIONAL = ("category", "userId", "key", "language", "contentHash")
_LEVELS = ("l0", "l1", "l2")
_TEXT_OR_NOTHING = frozenset((str, type(None)))


class Record(NamedTuple):
    """One memory record.

    ``document`` is the whole JSON object with all unknown fields and is never changed in place;
    the other members are read from it. ``created``, ``updated`` and ``last_review`` are
    milliseconds since 1970 UTC, ``stability`` is in days (None: not recorded).
    """

    document: dict[str, Any]
    id: str
    scope: str
    category: str
    user: str | None
    key: str | None
    l0: str
    l1: str
    l2: str
    language: str | None
    tags: tuple[str, ...]
    content_hash: str | None
    created: int
    updated: int
    stability: float | None
    last_review: int
    pending: bool


def parse_record(data: bytes, scope: str, record_id: str) -> Record:
    """Return the record that a file holds; raise ``ValueError`` with the reason when it holds none.

    ``scope`` and ``record_id`` come from the file's folder and name and must agree with the text.
    """
    try:
        document = orjson.loads(data.removeprefix(_BOM))
    except orjson.JSONDecodeError as error:
        reason = "the file is empty" if not data.strip(b" \t\r\n\0") else f"not JSON: {error}"
        raise ValueError(reason) from error
    require_writable(document, data)
    record = record_of(document, scope)
    if record.id != record_id:
        raise ValueError(f"the file is named {record_id} but holds record {record.id!r}")
    return record


def record_of(document: object, scope: str | None = None) -> Record:
    """Return the record that a JSON value describes; raise ``ValueError`` with the reason if none.

    Missing fields take their defaults, so that records of older versions and records written by
    hand are readable; a field that is there must have its type.
    """
    if not isinstance(document, dict):
        raise ValueError("not a JSON object")
    record_id = _text(document, "id", required=True) or ""
    if not valid_name(record_id):
        raise ValueError(f"{record_id[:60]!r} is not a valid record id")
    named_scope = _text(document, "scope") or scope or "user"
    if named_scope not in SCOPES or (scope is not None and named_scope != scope):
        expected = scope or " or ".join(SCOPES)
        raise ValueError(f"scope {named_scope!r} does not fit (expected {expected})")
    l0, l1, l2 = _levels(document.get("content"))
    created = _time(document, "createdAt", 0)
    updated = _time(document, "updatedAt", created)
    fsrs = _object(document, "fsrs")
    _check_history(document.get("history"))
    category, user, key, language, content_hash = _texts(document, _OPTIONAL)
    return Record(
        document=document,
        id=record_id,
        scope=named_scope,
        category=category or "event",
        user=user,
        key=key,
        l0=l0,
        l1=l1,
        l2=l2,
        language=language,
        tags=_tags(document),
        content_hash=content_hash,
        created=created,
        updated=updated,
        stability=_stability(fsrs),
        last_review=_time(fsrs, "lastReview", created),
        pending=document.get("embeddingPending") is True,
    )


def encode_record(document: dict[str, Any]) -> bytes:
    """Return the bytes of a record file: indented, so that it can be read and edited by hand."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def require_writable(document: object, data: bytes | None = None) -> None:
    """Raise ``ValueError`` when a JSON value that was read (from ``data``) cannot be written again.

    What stands in the log lies a level deeper than in its file.
    """
    if data is not None and data.count(b"{") + data.count(b"[") < _WRITABLE_DEPTH:
        return
    try:
        orjson.dumps([[document]])
    except orjson.JSONEncodeError as error:
        raise ValueError("nested too deeply to be written again") from error


def _text(holder: dict[str, Any], name: str, *, required: bool = False) -> str | None:
    value = holder.get(name)
    if value is None and not required:
        return None
    if not isinstance(value, str) or (required and not value):
        raise ValueError(f"{name} is not a text" if name in holder else f"{name} is missing")
    return value


def _texts(holder: dict[str, Any], names: Sequence[str]) -> list[str | None]:
    """Return several optional texts: with one look at all of them where nothing is wrong."""
    values = list(map(holder.get, names))
    if not _TEXT_OR_NOTHING.issuperset(map(type, values)):
        return [_text(holder, name) for name in names]
    return values


def _object(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")
    return value


def _levels(content: object) -> tuple[str, str, str]:
    if isinstance(content, str):
        content = {"l0": content, "l2": content}
    if not isinstance(content, dict):
        raise ValueError("content is missing or not an object")
    l0, l1, l2 = _texts(content, _LEVELS)
    if l0 is None or not l0.strip():
        raise ValueError("content.l0 is empty")
    return l0, l1 or "", l2 or ""


def _check_history(history: object) -> None:
    if history is None:
        return
    if not isinstance(history, list) or not all(isinstance(entry, dict) for entry in history):
        raise ValueError("history is not a list of objects")


def completed(record: Record) -> dict[str, Any]:
    """Return the document of a record with every field that it lacks: what readers may rely on."""
    content = record.document.get("content")
    levels = {"l0": record.l0, "l1": record.l1, "l2": record.l2}
    defaults = {
        "version": VERSION,
        "userId": None,
        "scope": record.scope,
        "category": record.category,
        "key": None,
        "language": None,
        "createdAt": format_time(from_millis(record.created)),
        "updatedAt": format_time(from_millis(record.updated)),
    }
    given = {name: item for name, item in record.document.items() if item is not None}
    known = {**defaults, "tags": [], "history": [], **given}
    return {**known, "content": {**(content if isinstance(content, dict) else {}), **levels}}


def _tags(document: dict[str, Any]) -> tuple[str, ...]:
    tags = document.get("tags")
    if tags is None:
        return ()
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError("tags is not a list of texts")
    return tuple(tags)


def _time(holder: dict[str, Any], name: str, default: int) -> int:
    value = _text(holder, name)
    if value is None:
        return default
    try:
        return _millis(value)
    except ValueError as error:
        raise ValueError(f"{name} {value[:40]!r} is not an ISO-8601 time") from error


@lru_cache(maxsize=256)
def _millis(text: str) -> int:
    """Return a time in milliseconds; those of a record and its neighbours are often the same."""
    return to_millis(parse_foreign_time(text)[0])


def _stability(fsrs: dict[str, Any]) -> float | None:
    value = fsrs.get("stability")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("fsrs.stability is not a number")
    if not math.isfinite(value) or value <= 0:
        raise ValueError("fsrs.stability is not above 0")
    return float(value)
