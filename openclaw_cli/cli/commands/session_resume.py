"""``session resume``: the messages with which a run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.dialogue import Budget, Format, chosen_format, messages
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.source import check_optional
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session resume 5f3c9a1e --format openai",
    'openclaw session resume 5f3c9a1e --message "and mind the budget" --json',
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
    message: Annotated[
        str | None,
        typer.Option(
            "--message", "-m", metavar="TEXT", help="What the operator has to say, if anything."
        ),
    ] = None,
    budget: Budget = None,
    form: Format = None,
) -> Result:
    """Print the messages with which a session goes on.

    The session is active again. From a checkpoint that fits the history they end in its batch of
    tool calls, with the instruction not to run these again; nothing is appended to the history.
    Otherwise the reason is told, and the message is appended as what a user says. A message such as
    resume or continue says nothing.
    """
    from openclaw_cli.session.requests import ResumeRequest

    invocation = current(ctx)
    chosen = chosen_format(form, json=invocation.output.json)
    request = ResumeRequest(check_optional(message, "--message"), budget, chosen)
    return invocation.sessions().resume(session, request)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show the messages; how the session is resumed stands before them where people read them."""
    if data["format"] == "text" and not view.quiet:
        yield from view.block(f"{data['resumed']}: {data['explanation']}")
        yield ""
    yield from messages(data, view)
