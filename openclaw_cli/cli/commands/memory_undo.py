"""``memory undo``: let an earlier state of a memory stand again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id, NoEmbed
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory undo 5f3c9a1e",
    "openclaw memory undo mem-001 --to 2 --json",
)
EXITS = (
    errors.EXIT_NOT_FOUND,
    errors.EXIT_LOCKED,
    errors.EXIT_DAMAGED,
    errors.EXIT_UNAVAILABLE,
)


def command(
    ctx: typer.Context,
    record_id: Id,
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            metavar="N",
            min=1,
            help="The entry of memory history [default: the last state].",
        ),
    ] = None,
    no_embed: NoEmbed = False,
) -> Result:
    """Let an earlier state of a memory stand again.

    Undoes the last edit, merge or overwriting import, or goes back to the entry N that memory
    history shows. It is a new state: what it replaces joins the history, so undo twice is back.
    """
    service = current(ctx).memory(embeds=not no_embed)
    return service.undo(record_id, to, embed=not no_embed)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show what the memory says now; only the id when quiet."""
    if view.quiet:
        yield data["id"]
        return
    yield f"{data['id']} says again:"
    yield from view.block(data["record"]["content"]["l0"], 2)
