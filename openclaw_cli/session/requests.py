"""What the commands ask of sessions: plain values, cheap to import."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple


class NewRequest(NamedTuple):
    """A session to make; with ``channel`` and ``chat`` it is the one that these two mean."""

    channel: str | None = None
    chat: str | None = None
    user: str | None = None
    title: str | None = None
    model: str | None = None
    tags: tuple[str, ...] = ()
    id: str | None = None

    def fields(self) -> dict[str, Any]:
        """Return what the request says, by the names that metadata use."""
        return {
            "channel": self.channel,
            "chatId": self.chat,
            "userId": self.user,
            "title": self.title,
            "model": self.model,
            "tags": list(dict.fromkeys(self.tags)),
        }


class SessionFilter(NamedTuple):
    """Which sessions to list. Of every field one of the values must fit; none means any.

    ``status`` is None for all; ``since`` and ``until`` bound the last activity.
    """

    status: tuple[str, ...] | None = ("active", "dormant")
    channel: tuple[str, ...] = ()
    chat: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


class SessionListRequest(NamedTuple):
    """Which sessions to list and in which order; ``limit`` None lists all."""

    filters: SessionFilter = SessionFilter()
    sort: str = "last-active"
    limit: int | None = 50


class ContextRequest(NamedTuple):
    """A context to build; None for budget (in tokens) and strategy means as configured."""

    budget: int | None = None
    strategy: str | None = None
    format: str = "json"
    explain: bool = False


class ResumeRequest(NamedTuple):
    """A session to resume: the operator's message, if any, and the format of the result."""

    message: str | None = None
    budget: int | None = None
    format: str = "json"


class SearchRequest(NamedTuple):
    """What to look for and where: in one session or in all; ``limit`` is at least 1."""

    query: str
    session: str | None = None
    roles: tuple[str, ...] = ()
    since: datetime | None = None
    limit: int = 20


class UsageQuery(NamedTuple):
    """Which turns of the ledger to sum up, and by what: session, model, channel or day.

    With ``charts`` there are the figures to draw as well.
    """

    by: str = "day"
    since: datetime | None = None
    charts: bool = False
