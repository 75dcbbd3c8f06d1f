"""``session restore``: bring sessions back from the trash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Ids
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session restore 9b1c2d3e",
    "openclaw session restore 9b1c2d3e --json",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED)


def command(
    ctx: typer.Context,
    sessions: Ids,
) -> Result:
    """Bring sessions back from the trash, as they were.

    Of several deleted under one id it is the one deleted last. One that would take the place of a
    session that exists stays in the trash.
    """
    return current(ctx).sessions().restore(sessions)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """List what is back; only ids when quiet."""
    for name in data["restored"]:
        yield name if view.quiet else f"restored: {name}"
