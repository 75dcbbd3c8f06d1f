"""``memory status``: what is stored, indexed and pending."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.agents import for_each_agent, lines_for_each
from openclaw_cli.cli.charts import Bar, Chart, over_time, plotted
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Plot, ReplacePicture, picture_file
from openclaw_cli.cli.view import View, counted, size
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory status",
    "openclaw memory status --bytes",
    "openclaw memory status --plot",
    "openclaw memory status --plot memories.svg",
    "openclaw memory status --all-agents --json",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_UNAVAILABLE)
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
    plot: Plot = None,
    force: ReplacePicture = False,
) -> Result:
    """Tell what is stored, what is indexed and what is pending.

    Reads only; a difference between records and index is a warning that names memory index. The
    charts of --plot show memories by category, by the month of their creation (UTC), and by
    retrievability; a long time is shown in quarters, years or more. A FILE needs the extra plot.
    """
    invocation = current(ctx)
    path = picture_file(plot, force=force)
    if path is not None and invocation.all_agents:
        message = "a picture is of one agent, not of --all-agents"
        raise UsageError(message, hint="name the agent with --agent ID, or give --plot alone")
    result = for_each_agent(
        invocation, lambda service: service.status(by_cause=by_cause, charts=plot is not None)
    )
    if path is None:
        return result
    from openclaw_cli.cli.pictures import add_picture

    about = f"{result.data['agent']}: {counted(result.data['records'], 'memory', 'memories')}"
    title = f"{about} on {invocation.clock.now():%Y-%m-%d}"
    return add_picture(result, path, title, _charts(result.data), force=force)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show one block an agent."""
    yield from lines_for_each(data, view, _lines)


def _lines(data: dict[str, Any], view: View) -> Iterator[str]:
    if not (view.quiet and "charts" in data):
        yield from _numbers(data, view)
    if "charts" in data:
        yield from plotted(data, _charts(data), view)


def _charts(data: dict[str, Any]) -> list[Chart]:
    def bars(name: str) -> list[Bar]:
        return [Bar(item["key"], (item["records"],)) for item in data["charts"][name]]

    period, months = over_time(bars("month"))
    scale = "retrievability (1: as if just learnt, 0: forgotten)"
    return [
        Chart("memories by category", "memories", bars("category")),
        Chart(f"memories by {period} of creation", "memories", months, scale=period),
        Chart("memories by retrievability", "memories", bars("retrievability"), scale=scale),
    ]


def _numbers(data: dict[str, Any], view: View) -> Iterator[str]:
    models = [
        f"{model['name']} ({model['dimensions']} dimensions): {counted(model['vectors'], 'vector')}"
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
