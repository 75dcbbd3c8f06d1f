"""Which records a reading command is about."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from openclaw_cli.clock import to_millis
from openclaw_cli.index.protocol import Where
from openclaw_cli.memory.categories import category_of


class Filters(NamedTuple):
    """A filter as an operator gives it; an empty member allows everything.

    ``since`` and ``until`` bound the time of creation (until excluded).
    """

    category: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    language: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    pending: bool = False

    def where(self) -> Where:
        """Return the filter as the index understands it; an unknown category is a `UsageError`."""
        for name in self.category:
            category_of(name)
        return Where(
            categories=self.category,
            scopes=self.scope,
            users=self.user,
            tags=self.tag,
            languages=self.language,
            since=None if self.since is None else to_millis(self.since),
            until=None if self.until is None else to_millis(self.until),
            pending=self.pending,
        )
