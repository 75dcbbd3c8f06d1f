"""``session ensure``: the session of a channel and chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.source import check_argument, check_optional
from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session ensure --channel telegram --chat 12345",
    "ID=$(openclaw session ensure --channel cron --chat nightly --quiet)",
)
EXITS = (errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    channel: Annotated[
        str, typer.Option("--channel", metavar="CHANNEL", help="Where it takes place.")
    ],
    chat: Annotated[str, typer.Option("--chat", metavar="CHAT", help="The chat or group there.")],
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="For a new one: the user.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="For a new one: its title.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="For a new one: the model.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="For a new one: a tag (repeatable)."),
    ] = None,
) -> Result:
    """Return the session of a channel and chat, made if there is none.

    Many processes may ask at once: all get the same id. Archived sessions do not count.
    """
    from openclaw_cli.session.requests import NewRequest

    request = NewRequest(
        channel=check_argument(channel, "--channel"),
        chat=check_argument(chat, "--chat"),
        user=check_optional(user, "--user"),
        title=check_optional(title, "--title"),
        model=check_optional(model, "--model"),
        tags=tuple(check_argument(word, "--tag") for word in tag or ()),
    )
    return current(ctx).sessions().ensure(request)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say which session it is; only its id when quiet."""
    if view.quiet:
        yield data["sessionId"]
    elif data["created"]:
        yield f"made session {data['sessionId']}"
    else:
        messages = counted(data["messageCount"], "message")
        yield f"session {data['sessionId']} ({data['status']}, {messages})"
