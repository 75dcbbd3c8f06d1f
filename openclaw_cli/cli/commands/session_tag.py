"""``session tag``: add tags to a session, or remove them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.source import check_argument
from openclaw_cli.cli.view import View, clean_line
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session tag 5f3c9a1e --add work --add urgent",
    "openclaw session tag 5f3c9a1e --remove later --json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="TAG", help="Add it (repeatable).")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="TAG", help="Remove it (repeatable).")
    ] = None,
) -> Result:
    """Add tags to a session, or remove them."""
    added = [check_argument(word, "--add") for word in add or ()]
    removed = [check_argument(word, "--remove") for word in remove or ()]
    if not added and not removed:
        raise UsageError("no tag given", hint="give --add TAG or --remove TAG")
    both = sorted(set(added) & set(removed))
    if both:
        raise UsageError(f"both added and removed: {', '.join(both)}", hint="name each tag once")
    return current(ctx).sessions().tag(session, added, removed)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say which tags it has now; nothing when quiet."""
    if not view.quiet:
        said = f"tags: {', '.join(data['tags'])}" if data["tags"] else "no tags"
        yield from view.block(clean_line(f"session {data['sessionId']}: {said}"))
