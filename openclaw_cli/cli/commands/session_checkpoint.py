"""``session checkpoint``: how far a run has come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session checkpoint 5f3c9a1e < checkpoint.json",
    "openclaw session checkpoint 5f3c9a1e --json < checkpoint.json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
) -> Result:
    """Store a checkpoint, given as JSON on standard input.

    checkpointId, state (ready_to_resume, completed or failed), sequence and historyCount have to be
    in it; kind is tool_batch. It is on disk when the command returns. One with a lower sequence
    than that of the stored one is refused. An example:

    {"checkpointId": "cp-1", "kind": "tool_batch", "state": "ready_to_resume", "sequence": 1,
    "historyCount": 2}
    """
    invocation = current(ctx)
    return invocation.sessions().checkpoint(session, invocation.stdin())


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say what is stored; nothing when quiet."""
    if not view.quiet:
        stored = data["checkpoint"]
        yield view.cut(
            f"checkpoint {stored['checkpointId']} of session {data['sessionId']}:"
            f" {stored['state']}, sequence {stored['sequence']},"
            f" {counted(stored['historyCount'], 'message')}"
        )
