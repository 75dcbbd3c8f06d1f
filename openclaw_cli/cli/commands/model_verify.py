"""``model verify``: check the files of the models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.models import check, open_catalog, problems
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = ("openclaw model verify", "openclaw model verify --json")
EXITS = (errors.EXIT_PARTIAL,)


def command(ctx: typer.Context) -> Result:
    """Check the files of the models against their recorded digests.

    Every byte is read. A model with a missing, short or different file is listed as failed.
    """
    catalog = open_catalog(current(ctx))
    items = [check(model) for model in catalog.models]
    failed = [
        {"id": item["name"], "path": item["path"], "reason": item["problem"]}
        for item in items
        if not item["ok"]
    ]
    data = {"models": items, "total": len(items), "failed": failed}
    return Result("model.verify", data, problems(catalog))


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say which models are sound; the others are told as failed items."""
    if not view.quiet:
        yield from (f"{item['name']}: sound" for item in data["models"] if item["ok"])
