"""``session context``: the messages that a model is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.dialogue import Budget, Format, StrategyName, chosen_format, messages
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session context 5f3c9a1e --budget 8000",
    "openclaw session context 5f3c9a1e --format anthropic > request.json",
    "openclaw session context 5f3c9a1e --strategy importance --explain",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    session: Id,
    budget: Budget = None,
    strategy: Annotated[
        StrategyName | None,
        typer.Option(
            "--strategy",
            help="How a long history is shortened [default: session.context.pruneStrategy].",
        ),
    ] = None,
    form: Format = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell what each message takes, and its score.")
    ] = False,
) -> Result:
    """Build a context: messages that fit a budget of tokens.

    The system prompt and the last message of a user are always in it, and no tool result without
    its call. sliding-window takes the newest messages. summary puts a summary before them, which
    needs a model (session.context.model). importance takes those that score highest, for which it
    reads the whole history.
    """
    from openclaw_cli.session.requests import ContextRequest

    invocation = current(ctx)
    chosen = chosen_format(form, json=invocation.output.json)
    request = ContextRequest(budget, strategy, chosen, explain)
    return invocation.sessions().context(session, request)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show the messages, then on request what they take."""
    yield from messages(data, view)
    if "explain" not in data:
        return
    yield ""
    yield from _explained(data["explain"], view)
    mark = "~" if data["estimated"] else ""
    left_out = counted(data["dropped"], "message")
    yield f"{mark}{data['tokens']} of {counted(data['budget'], 'token')}, {left_out} left out"


def _explained(explained: dict[str, Any], view: View) -> Iterator[str]:
    weights = explained.get("weights")
    if weights:
        yield "weights: " + ", ".join(f"{name} {value:g}" for name, value in weights.items())
    rows = [*explained["messages"], *explained.get("leftOut", [])]
    if not rows:
        return
    names = [name for name in rows[-1] if name not in ("idx", "tokens", "estimated")]
    table = []
    for place, row in enumerate(rows):
        tokens = f"{'~' if row['estimated'] else ''}{row['tokens']}"
        kept = "yes" if place < len(explained["messages"]) else "no"
        scores = [f"{row[name]:g}" for name in names]
        table.append([str(row["idx"]), tokens, *scores, kept])
    yield from view.table(["idx", "tokens", *names, "kept"], table)
