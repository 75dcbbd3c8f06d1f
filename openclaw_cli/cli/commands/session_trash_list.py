"""``session trash list``: what can be restored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session trash list",
    "openclaw session trash list --json | jq -r '.data.items[].sessionId'",
)
EXITS = (errors.EXIT_NOT_FOUND,)


def command(ctx: typer.Context) -> Result:
    """List the sessions in the trash, the last deleted first."""
    return current(ctx).sessions().trash_list()


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table; only ids when quiet."""
    items = data["items"]
    if view.quiet:
        yield from (item["sessionId"] for item in items)
        return
    if not items:
        yield "the trash is empty"
        return
    rows = [
        (
            short_id(item["sessionId"]),
            view.when(item["deletedAt"]),
            item["channel"] or "",
            str(item["messageCount"]),
            item["title"] or "",
        )
        for item in items
    ]
    yield from view.table(("ID", "DELETED", "CHANNEL", "MESSAGES", "TITLE"), rows)
