"""``memory status``: what is stored, indexed and pending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.agents import for_each_agent, lines_for_each
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, size
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory status",
    "openclaw memory status --bytes",
    "openclaw memory status --all-agents --json",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND)
ALL_AGENTS = True

#: What the parts of a store are called; every other one is shown by its own name.
_CAUSES = {
    "index": "index (words, columns)",
    "staleGenerations": "generations left over",
    "wal": "write-ahead log",
    "partial": "unfinished index run",
    "setAside": "set aside (*.bad-*, *.torn-*)",
    "backups": "backups (*.bak)",
}
_APART = ("total", "history", "sessions", "logs")


def command(
    ctx: typer.Context,
    by_cause: Annotated[
        bool, typer.Option("--bytes", help="Show where the space went, file by file.")
    ] = False,
) -> Result:
    """Tell what is stored, what is indexed and what is pending.

    Reads only; a difference between records and index is a warning that names memory index.
    """
    return for_each_agent(current(ctx), lambda service: service.status(by_cause=by_cause))


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show one block an agent."""
    yield from lines_for_each(data, view, _lines)


def _lines(data: dict[str, Any], view: View) -> Iterator[str]:
    models = [
        f"{model['name']} ({model['dimensions']} dimensions): {model['vectors']} vectors"
        + (f", {model['pending']} pending" if model["pending"] else "")
        for model in data["models"]
    ]
    occupied = data["bytes"]
    is_whole = "total" in occupied
    disk = [f"{name} {size(count)}" for name, count in occupied.items()]
    yield from view.pairs(
        [
            ("records", str(data["records"])),
            ("scopes", _counts(data["byScope"])),
            ("categories", _counts(data["byCategory"])),
            ("languages", _counts(data["byLanguage"])),
            ("generation", "" if data["generation"] is None else str(data["generation"])),
            ("not yet folded", f"{data['walEntries']} WAL entries" if data["walEntries"] else ""),
            ("vectors", "; ".join(models)),
            ("disk", size(occupied["total"]) if is_whole else ", ".join(disk)),
            ("index", "stale" if data["stale"] else "up to date"),
        ]
    )
    if is_whole:
        yield ""
        yield from view.table(["BYTES", "", "USED FOR"], list(_spaces(occupied)))


def _spaces(occupied: dict[str, int]) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of the table: the parts that make up the total, then what lies elsewhere."""

    def row(name: str, label: str) -> tuple[str, str, str]:
        return f"{occupied[name]:,}", size(occupied[name]), label

    for name, count in occupied.items():
        if count and name not in _APART:
            yield row(name, _CAUSES.get(name, name))
            if name == "records" and occupied["history"]:
                yield row("history", "  of which history")
    yield row("total", "memory in all")
    yield row("sessions", "sessions")
    yield row("logs", "logs (of all agents)")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)
