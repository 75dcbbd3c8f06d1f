"""``session search``: find messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import click
import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import moment
from openclaw_cli.cli.options import Since
from openclaw_cli.cli.source import check_argument
from openclaw_cli.cli.view import View, local_time, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session search 部署 --since 30d",
    'openclaw session search "release notes" --role assistant --limit 5',
    "openclaw session search timeout --session 5f3c9a1e --json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Only in this session.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role",
            click_type=click.Choice(("user", "assistant", "tool", "system")),
            help="Only what this role says (repeatable).",
        ),
    ] = None,
    since: Since = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 20,
) -> Result:
    """Find messages by their words, in all sessions or in one.

    A message is found when all words of the query occur in it, in any form of each; those with
    the whole phrase come first, then the newest. Archived sessions are searched too. No hit is no
    failure.
    """
    from openclaw_cli.session.requests import SearchRequest

    invocation = current(ctx)
    request = SearchRequest(
        query=check_argument(query, "QUERY"),
        session=session,
        roles=tuple(role or ()),
        since=moment(invocation, since, "--since"),
        limit=limit,
    )
    with invocation.progress() as progress:
        return invocation.sessions().search(request, progress)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show the hits; only session and idx when quiet."""
    results = data["results"]
    if view.quiet:
        yield from (f"{hit['sessionId']} {hit['idx']}" for hit in results)
        return
    if not results:
        yield "nothing found"
    for hit in results:
        yield from view.words(
            [
                (short_id(hit["sessionId"]), "cyan"),
                (f"#{hit['idx']}", "bold"),
                (str(hit["role"]), ""),
                (local_time(hit["ts"]), "dim"),
            ]
        )
        yield from view.block(hit["snippet"], 2)
