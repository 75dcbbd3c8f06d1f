"""``memory list``: list memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import build_filters
from openclaw_cli.cli.listed import Limit, limit_of, listed, more
from openclaw_cli.cli.options import (
    Category,
    JsonLines,
    Language,
    Scope,
    Since,
    Tag,
    Until,
    User,
    refuse_two_forms,
)
from openclaw_cli.cli.render import Stream
from openclaw_cli.cli.view import View, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory list --category preference --user 123456789",
    "openclaw memory list --since 7d --sort retrievability --limit 20",
    "openclaw memory list --jsonl | jq -r .l0",
)
EXITS = (errors.EXIT_NOT_FOUND,)


def command(
    ctx: typer.Context,
    category: Category = None,
    scope: Scope = None,
    user: User = None,
    tag: Tag = None,
    language: Language = None,
    since: Since = None,
    until: Until = None,
    pending: Annotated[
        bool, typer.Option("--pending", help="Only those that wait for a vector.")
    ] = False,
    sort: Annotated[
        Literal["created", "updated", "retrievability"],
        typer.Option("--sort", help="Newest, latest changed, or best remembered first."),
    ] = "created",
    limit: Limit = None,
    jsonl: JsonLines = False,
) -> Result | Stream:
    """List memories, newest first.

    No model and no vector is loaded. Ids are shown by their last 8 characters, which every
    command accepts.
    """
    from openclaw_cli.memory.requests import ListRequest

    invocation = current(ctx)
    refuse_two_forms(invocation, jsonl=jsonl)
    filters = build_filters(
        invocation,
        category=category,
        scope=scope,
        user=user,
        tag=tag,
        language=language,
        period=(since, until),
        pending=pending,
    )
    most = limit_of(limit, jsonl=jsonl)
    request = ListRequest(filters=filters, sort=sort, limit=most)
    return listed(invocation.memory(), request, most, jsonl=jsonl)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table; only ids when quiet."""
    items = data["items"]
    if view.quiet:
        yield from (item["id"] for item in items)
        return
    if not items:
        yield "none of them can be read" if data["total"] else "no memories"
        return
    rows = [
        (
            short_id(item["id"]),
            view.when(item["createdAt"]),
            item["category"],
            item.get("userId") or item["scope"],
            item["l0"],
        )
        for item in items
    ]
    yield from view.table(("ID", "CREATED", "CATEGORY", "OWNER", "TEXT"), rows)
    yield from more(data, view)
