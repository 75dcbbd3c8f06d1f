"""``session list``: list sessions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import moment, words
from openclaw_cli.cli.listed import Limit, limit_of, listed, more
from openclaw_cli.cli.options import JsonLines, Since, Tag, Until, User, refuse_two_forms
from openclaw_cli.cli.render import Stream
from openclaw_cli.cli.view import View, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session list --channel telegram --since 7d",
    "openclaw session list --status all --sort messages --limit 10",
    "openclaw session list --status archived --jsonl | jq -r .sessionId",
)
EXITS = (errors.EXIT_NOT_FOUND,)


def command(
    ctx: typer.Context,
    status: Annotated[
        Literal["active", "dormant", "archived", "all"] | None,
        typer.Option("--status", help="Only of this status [default: not archived]."),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option("--channel", metavar="CHANNEL", help="Only of this channel (repeatable)."),
    ] = None,
    chat: Annotated[
        list[str] | None,
        typer.Option("--chat", metavar="CHAT", help="Only of this chat (repeatable)."),
    ] = None,
    user: User = None,
    tag: Tag = None,
    since: Since = None,
    until: Until = None,
    sort: Annotated[
        Literal["last-active", "created", "messages", "cost"],
        typer.Option("--sort", help="Latest, newest, longest or dearest first."),
    ] = "last-active",
    limit: Limit = None,
    jsonl: JsonLines = False,
) -> Result | Stream:
    """List sessions, those active last first.

    --since and --until go by the last activity. Ids are shown by their last 8 characters, which
    every command accepts.
    """
    from openclaw_cli.session.requests import SessionFilter, SessionListRequest

    invocation = current(ctx)
    refuse_two_forms(invocation, jsonl=jsonl)
    statuses = SessionFilter().status if status is None else (status,)
    filters = SessionFilter(
        status=None if status == "all" else statuses,
        channel=words(channel, "--channel"),
        chat=words(chat, "--chat"),
        user=words(user, "--user"),
        tag=words(tag, "--tag"),
        since=moment(invocation, since, "--since"),
        until=moment(invocation, until, "--until"),
    )
    most = limit_of(limit, jsonl=jsonl)
    request = SessionListRequest(filters, sort, most)
    return listed(invocation.sessions(), request, most, jsonl=jsonl)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table; only ids when quiet."""
    items = data["items"]
    if view.quiet:
        yield from (item["sessionId"] for item in items)
        return
    rows = [
        (
            short_id(item["sessionId"]),
            view.when(item["lastActiveAt"]),
            item["status"],
            item["channel"] or "",
            item["chatId"] or "",
            str(item["messageCount"]),
            item["title"] or "",
        )
        for item in items
    ]
    if rows:
        heads = ("ID", "LAST ACTIVE", "STATUS", "CHANNEL", "CHAT", "MESSAGES", "TITLE")
        yield from view.table(heads, rows)
    else:
        yield "no sessions"
    yield from more(data, view)
    foreign = data["foreign"]
    if foreign["count"]:
        names = ", ".join(foreign["names"][:3]) + (", ..." if foreign["count"] > 3 else "")
        said = f"also there, of other programs and left alone: {foreign['count']} ({names})"
        yield view.style(view.cut(said), "dim")
