"""``session sweep``: apply the lifecycle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.agents import lines_for_each, sessions_of_each
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session sweep --dry-run",
    "openclaw session sweep --all-agents --quiet",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)
ALL_AGENTS = True


def command(
    ctx: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, change nothing.")
    ] = False,
) -> Result:
    """Make idle sessions dormant and archive old ones.

    A session is dormant after session.idleTimeout [30m] without a message, and archived after
    session.archiveAfter [7d] more: its history is compressed. Any new message makes it active.
    """
    return sessions_of_each(current(ctx), lambda service: service.sweep(dry_run=dry_run))


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """List what has changed; nothing when quiet."""
    if not view.quiet:
        yield from lines_for_each(data, view, _lines, "sessions")


def _lines(data: dict[str, Any], view: View) -> Iterator[str]:
    prefix = "would become" if data["dryRun"] else "became"
    for change in data["changed"]:
        said = f"{change['from']} {prefix} {change['to']}"
        yield from view.words([(short_id(change["sessionId"]), "bold"), (said, "")])
    if not data["changed"]:
        yield "nothing is due"
