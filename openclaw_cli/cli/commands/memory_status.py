"""``memory status``: what is stored, indexed and pending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.agents import for_each_agent, lines_for_each
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, size
from openclaw_cli.result import Result

EXAMPLES = ("openclaw memory status", "openclaw memory status --all-agents --json")
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND)
ALL_AGENTS = True


def command(ctx: typer.Context) -> Result:
    """Tell what is stored, what is indexed and what is pending.

    Reads only; a difference between records and index is a warning that names memory index.
    """
    return for_each_agent(current(ctx), lambda service: service.status())


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show one block an agent."""
    yield from lines_for_each(data, view, _lines)


def _lines(data: dict[str, Any], view: View) -> Iterator[str]:
    models = [
        f"{model['name']} ({model['dimensions']} dimensions): {model['vectors']} vectors"
        + (f", {model['pending']} pending" if model["pending"] else "")
        for model in data["models"]
    ]
    occupied = [f"{name} {size(count)}" for name, count in data["bytes"].items()]
    yield from view.pairs(
        [
            ("records", str(data["records"])),
            ("scopes", _counts(data["byScope"])),
            ("categories", _counts(data["byCategory"])),
            ("languages", _counts(data["byLanguage"])),
            ("generation", "" if data["generation"] is None else str(data["generation"])),
            ("not yet folded", f"{data['walEntries']} WAL entries" if data["walEntries"] else ""),
            ("vectors", "; ".join(models)),
            ("disk", ", ".join(occupied)),
            ("index", "stale" if data["stale"] else "up to date"),
        ]
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)
