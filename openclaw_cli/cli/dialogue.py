"""How commands show the messages of a context: as text, or as the JSON that a provider takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli.cli.render import dump
from openclaw_cli.cli.view import View

FormatName = Literal["json", "text", "openai", "anthropic"]
StrategyName = Literal["sliding-window", "summary", "importance"]

Format = Annotated[
    FormatName | None,
    typer.Option("--format", help="What the messages look like [default: text, json with --json]."),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget",
        metavar="TOKENS",
        min=1,
        help="How many tokens it may take [default: session.context.budget].",
    ),
]


def chosen_format(given: FormatName | None, *, json: bool) -> FormatName:
    """Return the format that is meant: people read text, programs JSON."""
    return given or ("json" if json else "text")


def messages(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show the messages as text, or as the JSON document that a provider takes."""
    if data["format"] == "text":
        yield from view.block(data["text"])
    elif data["format"] == "anthropic":
        body = {"system": data["system"]} if data["system"] else {}
        yield dump({**body, "messages": data["messages"]}, indent=True).decode()
    else:
        yield dump(data["messages"], indent=True).decode()
