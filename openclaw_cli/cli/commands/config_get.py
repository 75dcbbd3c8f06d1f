"""``config get``: show configuration values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, clean_line
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw config get",
    "openclaw config get memory.retrieval",
    "openclaw config get memory.retrieval.topK",
)
EXITS = ()


def command(
    ctx: typer.Context,
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="A key or a section, as memory.retrieval.")
    ] = None,
) -> Result:
    """Show configuration values.

    One key is shown as its bare value, a section or everything as lines of key and value.
    """
    from openclaw_cli.config import suggest

    config = current(ctx).config
    found = {
        name: value
        for name, value in config.values.items()
        if key is None or name == key or name.startswith(f"{key}.")
    }
    if not found:
        near = suggest(key or "")
        raise UsageError(
            f"no such key: {key}",
            hint=f"did you mean {near}?" if near else "openclaw config schema lists the keys",
        )
    data: dict[str, Any] = {"values": found}
    if key in found:
        data = {"key": key, "value": found[key], **data}
    return Result("config.get", data)


def lines(data: dict[str, Any], _view: View) -> Iterator[str]:
    """Show the bare value of one key, else ``key = value`` lines."""
    if "key" in data:
        yield show(data["value"])
        return
    for name, value in data["values"].items():
        yield f"{name} = {show(value)}"


def show(value: object) -> str:
    """Return a configuration value as people write it in the file."""
    if isinstance(value, str):
        return clean_line(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{value:.15g}"
