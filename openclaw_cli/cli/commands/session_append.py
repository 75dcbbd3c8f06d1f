"""``session append``: append messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.source import check_argument, check_optional
from openclaw_cli.cli.view import View
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    'openclaw session append 5f3c9a1e --role user --content "What is the weather?"',
    "openclaw session append 5f3c9a1e < turn.jsonl",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
    role: Annotated[
        Literal["user", "assistant", "tool", "system"] | None,
        typer.Option("--role", help="Who says it."),
    ] = None,
    content: Annotated[
        str | None, typer.Option("--content", metavar="TEXT", help="What is said.")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="Which user says it.")
    ] = None,
    call: Annotated[
        str | None, typer.Option("--call", metavar="ID", help="The tool call that it answers.")
    ] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens", metavar="N", min=0, help="How many tokens it has.")
    ] = None,
) -> Result:
    """Append one message, or those of JSON Lines on standard input.

    They are on disk when the command returns: all of them, or none if one line is bad. Each gets
    the next idx, and the present as its ts if it has none; other fields are kept as they are.
    """
    invocation = current(ctx)
    service = invocation.sessions()
    if role is None and content is None:
        if user is not None or call is not None or tokens is not None:
            raise UsageError(
                "--user, --call and --tokens go with --role and --content",
                hint="messages of JSON Lines have their own sender, toolCallId and tokens",
            )
        return service.append(session, invocation.stdin())
    if role is None or content is None:
        raise UsageError(
            "--role and --content go together",
            hint="give both, or neither and JSON Lines on standard input",
        )
    message: dict[str, Any] = {"role": role, "content": check_argument(content, "--content")}
    if tokens is not None:
        message["tokens"] = tokens
    if call is not None:
        message["toolCallId"] = check_optional(call, "--call")
    if user is not None:
        message["sender"] = {"userId": check_optional(user, "--user")}
    return service.append_one(session, message)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say which messages they are now; nothing when quiet."""
    if view.quiet:
        return
    first, last = data["firstIdx"], data["lastIdx"]
    said = f"message {first}" if first == last else f"messages {first} to {last}"
    yield f"appended {said} to session {data['sessionId']}"
