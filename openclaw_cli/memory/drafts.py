"""A statement given by an operator or an import becomes the document of a new record."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from openclaw_cli.clock import format_time
from openclaw_cli.config import Config
from openclaw_cli.errors import InvalidTextError, UsageError
from openclaw_cli.memory.categories import CATEGORIES, Category, category_of, scope_for
from openclaw_cli.memory.fsrs import initial_state
from openclaw_cli.memory.levels import summary_of
from openclaw_cli.paths import check_name
from openclaw_cli.store.records import VERSION
from openclaw_cli.text.normalize import check_storable

_LABEL_LIMIT = 256


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody wants remembered, checked by `checked`.

    ``kind`` tells where it came from (cli, import).
    """

    text: str
    category: str = "event"
    scope: str | None = None
    user: str | None = None
    l1: str | None = None
    l2: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    id: str | None = None
    kind: str = "cli"

    def checked(self) -> Category:
        """Check every member and return the category; `UsageError` tells the first bad one."""
        category = category_of(self.category)
        scope_for(category, self.scope)
        check_storable(self.text)
        for level in (self.l1, self.l2):
            if level is not None:
                check_storable(level)
        if self.id is not None:
            check_name("record", self.id)
        for name, value in (("user", self.user), ("key", self.key)):
            if value is not None:
                check_label(name, value)
        for tag in self.tags:
            check_label("tag", tag)
        return category


def check_label(name: str, value: str) -> None:
    """Raise `UsageError` for a user, key or tag that is empty, too long, or holds controls."""
    if not value.strip() or len(value) > _LABEL_LIMIT:
        raise UsageError(
            f"a {name} has 1 to {_LABEL_LIMIT} characters", hint="shorten it, or leave it out"
        )
    if any(map(_is_control, value)):
        raise InvalidTextError(
            f"the {name} {value[:40]!r} holds a control or format character",
            hint="write it without invisible characters",
        )


def _is_control(character: str) -> bool:
    # The joiners belong to words of Arabic and Indic scripts, and to emoji.
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs") or (kind == "Cf" and character not in "\u200c\u200d")


def initial_stability(config: Config, category: str) -> float:
    """Return the initial stability in days: the configured one, else the category's own."""
    if category == "insight":
        return CATEGORIES[category].stability  # later from its evidence, never from configuration
    return config.number(f"memory.fsrs.initialStability.{category}")


def record_document(
    statement: Statement,
    *,
    agent: str,
    record_id: str,
    moment: datetime,
    config: Config,
) -> dict[str, Any]:
    """Return the document of a new record made at ``moment``; the statement has been checked.

    What only the analysis of the text can tell (language, content hash) is left to the caller.
    """
    category = category_of(statement.category)
    text = statement.text.strip()
    stamp = format_time(moment)
    return {
        "version": VERSION,
        "id": record_id,
        "agentId": agent,
        "userId": statement.user,
        "scope": scope_for(category, statement.scope),
        "category": category.name,
        "mergeStrategy": category.strategy,
        "key": statement.key,
        "content": {
            "l0": summary_of(text),
            "l1": statement.l1 or "",
            "l2": statement.text if statement.l2 is None else statement.l2,
        },
        "language": None,
        "tags": list(dict.fromkeys(statement.tags)),
        "contentHash": None,
        "fsrs": initial_state(initial_stability(config, category.name), moment),
        "createdAt": stamp,
        "updatedAt": stamp,
        "source": {"kind": statement.kind, "sessionId": None, "messages": None},
        "embeddingPending": False,
        "reflectedAt": None,
        "evidence": [],
        "confidence": None,
        "history": [],
    }
