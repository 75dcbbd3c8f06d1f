"""``session branch``: name a place in a history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session branch 5f3c9a1e before-refactoring",
    "openclaw session branch 5f3c9a1e first-draft --at 41",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to call the branch.")],
    at: Annotated[
        int | None,
        typer.Option("--at", metavar="IDX", min=0, help="The last message of it [default: now]."),
    ] = None,
) -> Result:
    """Name a place in a history, to begin from.

    session new --from makes a session that begins as this one does up to there. What lies before it
    is hashed, so that session branches can tell whether it is still the same.
    """
    return current(ctx).sessions().branch(session, name, at)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say where the branch is; nothing when quiet."""
    if not view.quiet:
        yield f"branch {data['name']} of session {data['sessionId']} after message {data['idx']}"
