"""``session new``: make a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.source import check_argument, check_optional
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session new --channel telegram --chat 12345 --user 12345",
    "openclaw session new --from 5f3c9a1e:41",
    'openclaw session new --title "release 2.0" --tag work --json',
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    channel: Annotated[
        str | None, typer.Option("--channel", metavar="CHANNEL", help="Where it takes place.")
    ] = None,
    chat: Annotated[
        str | None, typer.Option("--chat", metavar="CHAT", help="The chat or group there.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="The user it is with.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TITLE", help="What to call it.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="The model that answers.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag (repeatable).")
    ] = None,
    session_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id, instead of a new one.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="ID[:NAME|:IDX]",
            help="Begin as this session, up to a branch or message.",
        ),
    ] = None,
) -> Result:
    """Make a session, always a new one.

    With a channel and a chat it is the one that these mean from now on: an active one of the same
    channel and chat becomes dormant. session ensure returns that one instead. --from copies the
    messages of another one, with its user and model where none are given.
    """
    from openclaw_cli.session.requests import NewRequest

    request = NewRequest(
        channel=check_optional(channel, "--channel"),
        chat=check_optional(chat, "--chat"),
        user=check_optional(user, "--user"),
        title=check_optional(title, "--title"),
        model=check_optional(model, "--model"),
        tags=tuple(check_argument(word, "--tag") for word in tag or ()),
        id=session_id,
    )
    service = current(ctx).sessions()
    return service.new(request) if source is None else service.fork(request, source)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say which id it has; only that when quiet."""
    yield data["sessionId"] if view.quiet else f"made session {data['sessionId']}"
