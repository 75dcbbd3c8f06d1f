"""``session show``: a session's metadata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.view import View, local_time, size
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session show 5f3c9a1e",
    "openclaw session show s-abc123 --json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)
#: A long text goes through the pager on a terminal.
PAGED = True


def command(
    ctx: typer.Context,
    session: Id,
) -> Result:
    """Show a session's metadata, where it lies and how large it is.

    Counters that are behind the messages are shown as the messages add up.
    """
    return current(ctx).sessions().show(session)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show what is known of the session; only its id when quiet."""
    yield data["sessionId"] if view.quiet else view.style(data["sessionId"], "bold")
    if view.quiet:
        return
    tokens = f"{data['totalInputTokens']} in, {data['totalOutputTokens']} out"
    yield from view.pairs(
        [
            ("title", data["title"] or ""),
            ("status", f"{data['status']}, {data['runState']}"),
            ("channel", data["channel"] or ""),
            ("chat", data["chatId"] or ""),
            ("user", data["userId"] or ""),
            ("model", data["model"] or ""),
            ("tags", ", ".join(data["tags"])),
            ("created", local_time(data["createdAt"])),
            ("last active", local_time(data["lastActiveAt"])),
            ("messages", str(data["messageCount"])),
            ("tokens", tokens),
            ("cost", f"{data['totalCost']:g}" if data["totalCost"] else ""),
            ("parent", data["parentSessionId"] or ""),
            ("path", data["path"]),
            ("size", size(data["bytes"])),
        ]
    )
