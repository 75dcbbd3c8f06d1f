"""``model list``: the embedding models on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli.cli.context import current
from openclaw_cli.cli.models import describe, open_catalog, problems, unavailable
from openclaw_cli.cli.view import View, size
from openclaw_cli.result import Result

EXAMPLES = ("openclaw model list", "openclaw model list --json")
EXITS = ()


def command(ctx: typer.Context) -> Result:
    """List the embedding models and the languages they read.

    Shipped ones come with the program; others lie in the models folder of the state directory.
    """
    invocation = current(ctx)
    catalog = open_catalog(invocation)
    items = [describe(model) for model in catalog.models]
    warnings = (*problems(catalog), *unavailable(invocation, catalog))
    return Result("model.list", {"models": items, "total": len(items)}, warnings)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table; only names when quiet."""
    if view.quiet:
        yield from (model["name"] for model in data["models"])
        return
    rows = [
        (
            model["name"],
            str(model["dimensions"]),
            ", ".join(model["languages"]),
            size(model["bytes"]),
            model["origin"],
            model["path"],
        )
        for model in data["models"]
    ]
    heads = ("NAME", "DIMENSIONS", "LANGUAGES", "SIZE", "ORIGIN", "FOLDER")
    yield from view.table(heads, rows)
