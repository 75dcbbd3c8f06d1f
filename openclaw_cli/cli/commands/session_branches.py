"""``session branches``: the named places in a history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.view import View, local_time
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session branches 5f3c9a1e",
    "openclaw session branches 5f3c9a1e --json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
) -> Result:
    """List the named places in a history.

    Of each it is told whether the history still begins as it did, for which that is read.
    """
    return current(ctx).sessions().branches(session)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table; only the names when quiet."""
    if view.quiet:
        yield from (item["name"] for item in data["items"])
        return
    if not data["items"]:
        yield "no branches"
        return
    rows = [
        [
            item["name"],
            str(item["idx"]),
            local_time(item.get("createdAt")),
            "yes" if item["matches"] else "no",
        ]
        for item in data["items"]
    ]
    yield from view.table(["NAME", "AFTER", "MADE", "FITS"], rows)
