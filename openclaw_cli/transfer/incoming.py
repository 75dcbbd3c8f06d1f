"""One incoming record – whole, or as little as a text – becomes a complete record document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import orjson

from openclaw_cli.clock import format_time, parse_foreign_time, to_millis
from openclaw_cli.ids import uuid7_text
from openclaw_cli.memory.categories import category_of, scope_for
from openclaw_cli.memory.drafts import Statement, record_document
from openclaw_cli.memory.store import Store
from openclaw_cli.paths import check_name
from openclaw_cli.store.records import Record, record_of
from openclaw_cli.text.normalize import check_storable
from openclaw_cli.transfer.reading import check_version

#: What a line with a ``text`` may say besides the fields of a record.
_SHORT_NAMES = ("text", "user", "l1", "l2")


class Defaults(NamedTuple):
    """What is taken where a line says nothing."""

    category: str | None = None
    user: str | None = None
    scope: str | None = None


@dataclass(slots=True)
class Reader:
    """Turns incoming values into record documents and counts what it had to assume."""

    store: Store
    defaults: Defaults
    moment: datetime
    zoneless: int = 0
    _seen: dict[bytes, int] = field(default_factory=dict)
    _timeless: bytes = b""

    def record(self, value: object) -> Record:
        """Return the complete record of an incoming value.

        Raises ``ValueError`` (or one of our errors) with the reason when it cannot be one.
        """
        if not isinstance(value, dict):
            raise ValueError("not a JSON object")
        given = _expanded(value)
        check_version(given.get("version"), "the record")
        category = category_of(_label(given, "category") or self.defaults.category or "event")
        given["category"] = category.name
        given["scope"] = scope_for(category, _label(given, "scope") or self.defaults.scope)
        given["userId"] = given.get("userId") or self.defaults.user
        created = self._time(given, "createdAt") or self.moment
        updated = self._time(given, "updatedAt") or created
        given["createdAt"] = _written(given.get("createdAt"), created)
        given["updatedAt"] = _written(given.get("updatedAt"), updated)
        if given.get("id") is None:
            given["id"] = self._id(value, created)
        check_name("record", given["id"] if isinstance(given["id"], str) else "")
        record = record_of(self._completed(given, created))
        for level in dict.fromkeys((record.l0, record.l1, record.l2)):
            if level:
                check_storable(level)
        return record

    def _completed(self, given: dict[str, Any], created: datetime) -> dict[str, Any]:
        content = given.get("content")
        if isinstance(content, str):
            content = {"l0": content, "l2": content}
        if not isinstance(content, dict):
            raise ValueError("neither a text nor a content")
        text = content.get("l2") or content.get("l0")
        if not isinstance(text, str):
            raise ValueError("the text is missing or not a text")
        statement = Statement(
            text=text,
            category=given["category"],
            scope=given["scope"],
            user=_label(given, "userId"),
            key=_label(given, "key"),
            tags=tuple(_tags(given)),
            kind="import",
        )
        statement.checked()
        template = record_document(
            statement,
            agent=self.store.agent,
            record_id=given["id"],
            moment=created,
            config=self.store.env.config,
        )
        known = {name: item for name, item in given.items() if item is not None}
        # In the order of our own records: whose it is comes before what it says, so that a write
        # torn anywhere can be told whose it was.
        completed = {**template, **given, **template, **known, "agentId": self.store.agent}
        completed["content"] = {**template["content"], **_present(content)}
        completed["fsrs"] = {**template["fsrs"], **_present(given.get("fsrs") or {})}
        return completed

    def _time(self, given: dict[str, Any], name: str) -> datetime | None:
        value = given.get(name)
        if value is None:
            return None
        try:
            moment, assumed = parse_foreign_time(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} {str(value)[:40]!r} is not an ISO-8601 time") from error
        self.zoneless += assumed
        return moment

    def _id(self, value: dict[str, Any], created: datetime) -> str:
        """Return an id for a record that has none: the same whenever the same file is imported.

        So an import that was interrupted can be run again, and one of a file that has grown adds
        what is new. A line that tells its own time is known by it, whatever file it is in; the n-th
        of equal lines is told from the others. One without a time is known by itself and by those
        of its kind before it: the same words in another file are another event.
        """
        key = _digest(value)
        if value.get("createdAt") is None:
            self._timeless = sha256(self._timeless + key).digest()
            return f"mem-{uuid7_text(0, self._timeless[:10])}"
        return self._numbered(key, created)

    def copy_id(self, value: dict[str, Any], created: datetime) -> str:
        """Return the id of the copy of a record whose own id is taken (``duplicate``)."""
        return self._numbered(sha256(b"copy" + _digest(value)).digest(), created)

    def _numbered(self, key: bytes, created: datetime) -> str:
        count = self._seen[key] = self._seen.get(key, 0) + 1
        chance = sha256(key + count.to_bytes(4, "big")).digest()[:10]
        return f"mem-{uuid7_text(to_millis(created), chance)}"


def _digest(value: dict[str, Any]) -> bytes:
    return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()


def _written(given: object, moment: datetime) -> str:
    """Return a time as it was given where that is UTC already, to its last digit."""
    return given if isinstance(given, str) and given.endswith("Z") else format_time(moment)


def _expanded(value: dict[str, Any]) -> dict[str, Any]:
    """Return the value with the short names of a text line in their places."""
    if "content" in value or "text" not in value:
        return dict(value)
    text = value["text"]
    if not isinstance(text, str):
        raise ValueError("text is not a text")
    given = {name: item for name, item in value.items() if name not in _SHORT_NAMES}
    given["content"] = {"l1": value.get("l1"), "l2": value.get("l2") or text}
    if value.get("l2"):
        given["content"]["l0"] = text
    if "user" in value and given.get("userId") is None:
        given["userId"] = value["user"]
    return given


def _present(holder: object) -> dict[str, Any]:
    if not isinstance(holder, dict):
        raise ValueError("content or fsrs is not an object")
    return {name: item for name, item in holder.items() if item is not None}


def _label(given: dict[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is not a text")
    return value


def _tags(given: dict[str, Any]) -> list[str]:
    tags = given.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise ValueError("tags is not a list of texts")
    return tags
