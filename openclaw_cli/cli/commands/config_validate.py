"""``config validate``: check the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = ("openclaw config validate", "openclaw config validate --json")
EXITS = ()


def command(ctx: typer.Context) -> Result:
    """Check the configuration file and the environment.

    Every problem is listed with its line and key. Keys of other programs are no problem.
    """
    path = current(ctx).config.path
    data = {"path": str(path), "exists": path is not None and path.is_file(), "problems": []}
    return Result("config.validate", data)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say that all is well; problems end as an error before this."""
    if not view.quiet:
        yield f"{data['path']}: {'valid' if data['exists'] else 'no such file, defaults apply'}"
