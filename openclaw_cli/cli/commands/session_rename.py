"""``session rename``: give a session a title."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.source import check_argument
from openclaw_cli.cli.view import View, clean_line
from openclaw_cli.result import Result

EXAMPLES = (
    'openclaw session rename 5f3c9a1e "release 2.0"',
    'openclaw session rename 5f3c9a1e ""',
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
    title: Annotated[
        str, typer.Argument(metavar="TITLE", help="What to call it; an empty one takes it away.")
    ],
) -> Result:
    """Give a session a title."""
    wanted = check_argument(title, "TITLE").strip()
    return current(ctx).sessions().rename(session, wanted or None)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say what it is called now; nothing when quiet."""
    if not view.quiet:
        name = data["title"]
        said = f"session {data['sessionId']} " + (f"is called {name}" if name else "has no title")
        yield from view.block(clean_line(said))
