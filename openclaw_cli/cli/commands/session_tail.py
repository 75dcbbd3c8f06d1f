"""``session tail``: the last messages of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id, JsonLines, refuse_two_forms
from openclaw_cli.cli.render import Stream
from openclaw_cli.cli.view import View, local_time
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result, Warning

EXAMPLES = (
    "openclaw session tail 5f3c9a1e -n 5",
    "openclaw session tail 5f3c9a1e --follow",
    "openclaw session tail 5f3c9a1e -n 100 --jsonl | jq -r .content",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED, errors.EXIT_INTERRUPTED)
#: A long text goes through the pager on a terminal.
PAGED = True
#: Characters of one message that people are shown, unless they ask for more with --verbose.
_SHOWN = 4000


def command(
    ctx: typer.Context,
    session: Id,
    count: Annotated[
        int, typer.Option("-n", "--lines", metavar="N", min=0, help="How many messages.")
    ] = 20,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with those that others append.")
    ] = False,
    jsonl: JsonLines = False,
) -> Result | Stream:
    """Show the last messages of a session, the newest at the end.

    However long the history is, only its end is read. --follow goes on until Ctrl-C, or until the
    session is deleted.
    """
    invocation = current(ctx)
    refuse_two_forms(invocation, jsonl=jsonl)
    if follow and invocation.output.json:
        raise UsageError("--follow never ends, --json is one document", hint="use --jsonl")
    warnings: list[Warning] = []
    service = invocation.sessions()
    files, messages = service.tail(session, count, warnings)
    if invocation.output.json:
        items = list(messages)
        return Result("session.tail", {"sessionId": files.id, "items": items}, tuple(warnings))
    if follow:
        messages = service.follow(files, messages, lambda met: invocation.output.warnings([met]))
    return Stream(messages, warnings, None if jsonl else lines, live=follow)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show one message: who said it and when, then what; only the latter when quiet."""
    content = data.get("content")
    text = content if isinstance(content, str) else "" if content is None else str(content)
    more = len(text) - _SHOWN
    if more > 0 and not view.verbose:
        text = f"{text[:_SHOWN]}\n… {more} more characters (--verbose shows them)"
    if view.quiet:
        yield from view.block(text)
        return
    yield from view.words(list(_head(data)))
    if text:
        yield from view.block(text, 2)


def _head(message: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield f"#{message['idx']}", "dim"
    yield str(message.get("role")), "bold"
    sender = message.get("sender")
    if isinstance(sender, dict) and sender.get("userId"):
        yield str(sender["userId"]), "cyan"
    moment = local_time(message.get("ts"))
    if moment:
        yield moment, "dim"
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            yield f"calls {call.get('name')} ({call.get('id')})", "yellow"
    if message.get("toolCallId"):
        yield f"answers {message['toolCallId']}", "yellow"
