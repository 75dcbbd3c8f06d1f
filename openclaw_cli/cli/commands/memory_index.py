"""``memory index``: bring the search index up to date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.agents import for_each_agent, lines_for_each
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import NoEmbed
from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory index",
    "openclaw memory index --verify --all-agents",
    "openclaw memory index --reembed",
)
EXITS = (
    errors.EXIT_PARTIAL,
    errors.EXIT_NOT_FOUND,
    errors.EXIT_LOCKED,
    errors.EXIT_DAMAGED,
    errors.EXIT_UNAVAILABLE,
)
ALL_AGENTS = True


def command(
    ctx: typer.Context,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read and hash every file instead of trusting dates.")
    ] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Make the index anew from the records.")
    ] = False,
    reembed: Annotated[
        bool, typer.Option("--reembed", help="Make every vector anew (an interrupted run goes on).")
    ] = False,
    no_embed: NoEmbed = False,
) -> Result:
    """Bring the search index up to date with the records.

    Finds records that were changed with an editor, makes the vectors that are pending, and folds
    the write-ahead log into a new generation. Writers are not kept out while it works.
    """
    from openclaw_cli.memory.requests import IndexRequest

    if reembed and no_embed:
        raise errors.UsageError(
            "--reembed and --no-embed exclude each other",
            hint="leave out --no-embed to make every vector anew",
        )
    invocation = current(ctx)
    request = IndexRequest(verify=verify, rebuild=rebuild, reembed=reembed, embed=not no_embed)
    if request.embed:
        invocation.require_embedding()
    with invocation.progress() as progress:
        return for_each_agent(invocation, lambda service: service.index(request, progress))


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Sum up what was done in one line an agent; nothing when quiet."""
    if not view.quiet:
        yield from lines_for_each(data, view, _lines)


def _lines(data: dict[str, Any], _view: View) -> Iterator[str]:
    changes = [
        f"{data[name]} {name}"
        for name in ("added", "updated", "removed", "embedded", "reused", "pending")
        if data[name]
    ]
    detail = f": {', '.join(changes)}" if changes else ", nothing to do"
    yield f"{counted(data['records'], 'record')} in {data['seconds']:.1f} s{detail}"
