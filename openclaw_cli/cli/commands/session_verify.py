"""``session verify``: check sessions line by line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.agents import lines_for_each, sessions_of_each
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, counted
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session verify",
    "openclaw session verify 5f3c9a1e --repair",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)
ALL_AGENTS = True


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Ids, or their last 8 characters [default: all]."),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Put right what can be; damage is set aside.")
    ] = False,
) -> Result:
    """Check sessions line by line, and repair them on demand.

    Looks at every line, the order of idx, the counters, tool calls and results, unfinished writes,
    checkpoint, branch points and summary, file modes, and compressed twins. --repair keeps every
    whole message and every byte of sound lines, copies damage to a file named .bad-<time>, carries
    branch points over, and corrects the counters.
    """
    invocation = current(ctx)
    if sessions and invocation.all_agents:
        raise UsageError(
            "an id and --all-agents exclude each other",
            hint="name the agent of the session with --agent ID",
        )
    with invocation.progress() as progress:
        return sessions_of_each(
            invocation,
            lambda service: service.verify(sessions or (), repair=repair, progress=progress),
        )


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Sum up in a few lines; nothing when quiet."""
    if not view.quiet:
        yield from lines_for_each(data, view, _lines, "sessions")


def _lines(data: dict[str, Any], view: View) -> Iterator[str]:
    sessions, messages = counted(data["checked"], "session"), counted(data["messages"], "message")
    yield f"{sessions}, {messages} checked"
    for problem in data["repaired"]:
        yield view.cut(f"repaired: {problem['sessionId']}: {problem['message']}")
    for path in data["kept"]:
        yield f"set aside: {path}"
    if not data["problems"] and not data.get("failed"):
        yield "no problems"
