"""``config validate``: check the configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result, Warning

if TYPE_CHECKING:
    from openclaw_cli.config import Problem

EXAMPLES = ("openclaw config validate", "openclaw config validate --json")
EXITS = ()


def command(ctx: typer.Context) -> Result:
    """Check the configuration file and the environment.

    Every problem is listed with its line and key. Keys of other programs are no problem; what has
    no effect in the sections memory and session, or stands there twice, is a warning.
    """
    config = current(ctx).config
    path = config.path
    warnings = [
        Warning(
            doubt.code,
            f"{_place(doubt)}{doubt.key} {doubt.message}",
            str(path),
        )
        for doubt in config.doubts()
    ]
    data = {"path": str(path), "exists": path is not None and path.is_file(), "problems": []}
    return Result("config.validate", data, tuple(warnings))


def _place(doubt: Problem) -> str:
    return f"line {doubt.line}: " if doubt.line else ""


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say that all is well; problems end as an error before this."""
    if not view.quiet:
        said = "valid" if data["exists"] else "no such file, defaults apply"
        yield from view.block(f"{data['path']}: {said}")
