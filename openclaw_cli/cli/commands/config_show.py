"""``config show``: the whole configuration in force."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli.cli.commands.config_get import show
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = ("openclaw config show --origin", "openclaw config show --json")
EXITS = ()


def command(
    ctx: typer.Context,
    origin: Annotated[
        bool, typer.Option("--origin", help="Show where each value comes from.")
    ] = False,
) -> Result:
    """Show every setting, its meaning and its origin.

    An origin is default, file, or the environment variable that overrides the file.
    """
    config = current(ctx).config
    items = [
        {"key": key.name, "value": value, "doc": key.doc} | ({"origin": where} if origin else {})
        for key, value, where in config.items()
    ]
    data = {"path": str(config.path), "items": items, "total": len(items)}
    return Result("config.show", data)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table of keys and values."""
    yield from (view.style(line, "dim") for line in view.block(f"# {data['path']}"))
    with_origin = any("origin" in item for item in data["items"])
    heads = ("KEY", "VALUE", "ORIGIN", "MEANING") if with_origin else ("KEY", "VALUE", "MEANING")
    rows = [
        (
            item["key"],
            show(item["value"]),
            *((item["origin"],) if with_origin else ()),
            item["doc"],
        )
        for item in data["items"]
    ]
    yield from view.table(heads, rows)
