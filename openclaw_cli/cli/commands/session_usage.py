"""``session usage``: what the turns have used."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.cells import display_width
from openclaw_cli.cli.context import Invocation, current
from openclaw_cli.cli.filters import moment
from openclaw_cli.cli.options import Since
from openclaw_cli.cli.render import Raw
from openclaw_cli.cli.view import View, short_id
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session usage --since 30d",
    "openclaw session usage --by model --json",
    "openclaw session usage --by session --csv > usage.csv",
    "openclaw session usage --record < turn.json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED)
_LIMIT = 1 << 20
_SUMS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_COLUMNS = ("turns", "estimatedTurns", *_SUMS, "cost", "unpricedTurns")
#: Of a bar chart where there is no terminal that says how wide it is.
_WIDTH = 80
_EIGHTHS = " ▏▎▍▌▋▊▉"


def command(
    ctx: typer.Context,
    by: Annotated[
        Literal["session", "model", "channel", "day"] | None,
        typer.Option("--by", help="What to sum up by [default: day]."),
    ] = None,
    since: Since = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a line of names.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Append one turn, JSON on standard input.")
    ] = False,
) -> Result | Raw:
    """Sum up the tokens that turns have used, or record one turn.

    Days are those of UTC, and have a bar each. Costs appear where session.prices in the
    configuration knows the model. --record takes SessionId, ModelId, InputTokens, OutputTokens,
    CacheReadTokens, CacheWriteTokens and more, and returns when the line is on disk.
    """
    from openclaw_cli.session.requests import UsageQuery

    invocation = current(ctx)
    service = invocation.sessions()
    if record:
        if by or since or as_csv:
            message = "--record goes with none of --by, --since and --csv"
            raise UsageError(message, hint="record first, and sum up in another command")
        return service.record_usage(_bounded(invocation))
    if as_csv and invocation.output.json:
        raise UsageError("--json and --csv exclude each other", hint="give one of the two")
    query = UsageQuery(by or "day", moment(invocation, since, "--since"))
    result = service.usage(query)
    if not as_csv:
        return result
    return Raw(_csv(result.data), lambda: result)


def _bounded(invocation: Invocation) -> bytes:
    data: bytes = invocation.stdin().read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise UsageError("a turn has at most 1 MiB", hint="give one JSON object")
    return data


def _csv(data: dict[str, Any]) -> Iterator[bytes]:
    for row in [(data["by"], *_COLUMNS), *(_cells(item) for item in data["items"])]:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(row)
        yield line.getvalue().encode("utf-8", "backslashreplace")


def _cells(item: dict[str, Any]) -> tuple[Any, ...]:
    cells = (item["key"], *(item[name] for name in _COLUMNS))
    return tuple("" if cell is None else _harmless(cell) for cell in cells)


def _harmless(cell: Any) -> Any:
    """A spreadsheet takes a text that begins so for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" else cell


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table and, of days, a bar each; nothing of a recorded turn when quiet."""
    if "recorded" in data:
        if not view.quiet:
            yield f"recorded a turn of session {data['recorded']['SessionId']}"
        return
    if not data["items"]:
        yield "no turns recorded"
        return
    rows = [_shown(data["by"], item) for item in data["items"]]
    if len(rows) > 1:
        rows.append(("all", *_shown(data["by"], {"key": "", **data["sum"]})[1:]))
    yield from view.table((data["by"].upper(), *_heads()), rows)
    if data["by"] == "day" and not view.quiet:
        yield ""
        yield from bars(data["items"], view)
    if data["sum"]["cost"] is not None and data["sum"]["unpricedTurns"]:
        count = data["sum"]["unpricedTurns"]
        yield view.style(f"costs leave out {count} turns of models without a price", "dim")


def _heads() -> tuple[str, ...]:
    return ("TURNS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST")


def _shown(by: str, item: dict[str, Any]) -> tuple[str, ...]:
    key = item["key"] if item["key"] is not None else "(none)"
    cost = "" if item["cost"] is None else f"{item['cost']:.4f}"
    name = short_id(key) if by == "session" else key
    return (name, str(item["turns"]), *(f"{item[field]:,}" for field in _SUMS), cost)


def bars(items: list[dict[str, Any]], view: View) -> Iterator[str]:
    """Yield a line a day, as long as its tokens are many, no wider than the terminal."""
    totals = [sum(item[name] for name in _SUMS) for item in items]
    most = max(totals)
    labels = [f"{total:,}" for total in totals]
    taken = max(map(display_width, (item["key"] for item in items))) + max(map(len, labels)) + 3
    room = max(8, (view.width or _WIDTH) - taken)
    for item, total, label in zip(items, totals, labels, strict=True):
        eighths = 0 if most == 0 else max(total > 0, round(total * room * 8 / most))
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        yield f"{item['key']}  {view.style(bar, 'cyan')}{' ' if bar else ''}{label}"
