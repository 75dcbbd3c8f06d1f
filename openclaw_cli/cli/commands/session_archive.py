"""``session archive``: compress histories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Ids
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = ("openclaw session archive 5f3c9a1e", "openclaw session archive 5f3c9a1e 7d2e41bb")
EXITS = (
    errors.EXIT_PARTIAL,
    errors.EXIT_NOT_FOUND,
    errors.EXIT_LOCKED,
    errors.EXIT_DAMAGED,
)


def command(
    ctx: typer.Context,
    sessions: Ids,
) -> Result:
    """Archive sessions: compress their histories.

    The plain history goes only when the compressed one has been read back and is the same. All
    commands read archived sessions; a new message unpacks one and makes it active.
    """
    return current(ctx).sessions().archive(sessions)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """List what has been archived; nothing when quiet."""
    if view.quiet:
        return
    for change in data["changed"]:
        yield f"archived {change['sessionId']}"
    if not data["changed"] and not data.get("failed"):
        yield "archived already"
