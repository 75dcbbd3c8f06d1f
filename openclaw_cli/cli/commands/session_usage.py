"""``session usage``: what the turns have used."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.charts import Bar, Chart, drawn_bars, largest, over_time, plotted
from openclaw_cli.cli.context import Invocation, current
from openclaw_cli.cli.filters import moment
from openclaw_cli.cli.options import Plot, ReplacePicture, Since, picture_file
from openclaw_cli.cli.render import Raw
from openclaw_cli.cli.view import View, counted, short_id
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session usage --since 30d",
    "openclaw session usage --by model --json",
    "openclaw session usage --by session --csv > usage.csv",
    "openclaw session usage --by model --plot",
    "openclaw session usage --since 30d --plot usage.png",
    "openclaw session usage --record < turn.json",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED, errors.EXIT_UNAVAILABLE)
_LIMIT = 1 << 20
_SUMS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_COLUMNS = ("turns", "estimatedTurns", *_SUMS, "cost", "unpricedTurns")
#: Signs in the wide form of East Asian fonts are taken for the others.
_FORMULA = re.compile(
    r"[\s\x00-\x1f\u200b-\u200f\u2060\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]"
)
_KINDS = ("input", "output", "cache read", "cache write")


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
    plot: Plot = None,
    force: ReplacePicture = False,
) -> Result | Raw:
    """Sum up the tokens that turns have used, or record one turn.

    Days are those of UTC, and have a bar each. Costs appear where session.prices in the
    configuration knows the model. The charts of --plot show tokens by their kind, and costs: those
    of days (of a long time weeks, months or more), or of what has used most. A FILE needs the extra
    plot.

    --record takes SessionId, ModelId, InputTokens, OutputTokens,
    CacheReadTokens, CacheWriteTokens and more, and returns when the line is on disk.
    """
    from openclaw_cli.session.requests import UsageQuery

    invocation = current(ctx)
    service = invocation.sessions()
    if record:
        if by or since or as_csv or plot:
            message = "--record goes with none of --by, --since, --csv and --plot"
            raise UsageError(message, hint="record first, and sum up in another command")
        return service.record_usage(_bounded(invocation))
    path = picture_file(plot, force=force)
    if as_csv and plot and path is None:
        raise UsageError("--csv and --plot exclude each other", hint="name the FILE of --plot")
    if as_csv and invocation.output.json:
        raise UsageError("--json and --csv exclude each other", hint="give one of the two")
    query = UsageQuery(by or "day", moment(invocation, since, "--since"), plot is not None)
    result = service.usage(query)
    if path is not None:
        from openclaw_cli.cli.pictures import add_picture

        title = f"{invocation.agent}: {counted(result.data['sum']['turns'], 'turn')}"
        title += "" if query.since is None else f" since {query.since:%Y-%m-%d}"
        result = add_picture(result, path, title, _charts(result.data), force=force)
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
        csv.writer(line).writerow(row)  # its own line end makes it quote either half of one
        text = line.getvalue().removesuffix("\r\n") + "\n"
        yield text.encode("utf-8", "backslashreplace")


def _cells(item: dict[str, Any]) -> tuple[Any, ...]:
    cells = (item["key"], *(item[name] for name in _COLUMNS))
    return tuple("" if cell is None else _harmless(cell) for cell in cells)


def _harmless(cell: Any) -> Any:
    """A spreadsheet takes a text that begins so for a formula, whatever blanks come before."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show a table and, of days, a bar each; nothing of a recorded turn when quiet."""
    if "recorded" in data:
        if not view.quiet:
            yield f"recorded a turn of session {data['recorded']['SessionId']}"
        return
    only_charts = view.quiet and "charts" in data
    if not only_charts:
        yield from _table(data, view)
    if "charts" in data:
        yield from plotted(data, _charts(data), view)
    elif data["by"] == "day" and data["items"] and not view.quiet:
        yield ""
        yield from drawn_bars([Bar(item["key"], (_all(item),)) for item in data["items"]], view)
    if not only_charts:
        yield from _left_out(data, view)


def _table(data: dict[str, Any], view: View) -> Iterator[str]:
    if not data["items"]:
        yield "no turns recorded"
        return
    rows = [_shown(data["by"], item) for item in data["items"]]
    if len(rows) > 1:
        rows.append(("all", *_shown(data["by"], {"key": "", **data["sum"]})[1:]))
    yield from view.table((data["by"].upper(), *_heads()), rows)


def _left_out(data: dict[str, Any], view: View) -> Iterator[str]:
    if data["sum"]["cost"] is not None and data["sum"]["unpricedTurns"]:
        count = data["sum"]["unpricedTurns"]
        for line in view.block(
            f"costs leave out {counted(count, 'turn')} of models without a price"
        ):
            yield view.style(line, "dim")


def _heads() -> tuple[str, ...]:
    return ("TURNS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST")


def _shown(by: str, item: dict[str, Any]) -> tuple[str, ...]:
    cost = "" if item["cost"] is None else f"{item['cost']:.4f}"
    return (
        _name(by, item["key"]),
        str(item["turns"]),
        *(f"{item[field]:,}" for field in _SUMS),
        cost,
    )


def _all(item: dict[str, Any]) -> int:
    return sum(item[name] for name in _SUMS)


def _charts(data: dict[str, Any]) -> list[Chart]:
    by, figures = data["by"], data["charts"]
    tokens = [(item["key"], tuple(item[name] for name in _SUMS)) for item in figures["tokens"]]
    charts = [_chart(by, "tokens", tokens)._replace(parts=_KINDS)]
    if figures["cost"]:
        costs = {item["key"]: (item["cost"],) for item in figures["cost"]}
        if by == "day":  # for both charts to go over the same days
            costs = {key: costs.get(key, (0.0,)) for key, _ in tokens}
        charts.append(_chart(by, "cost", list(costs.items())))
        if left_out := data["sum"]["unpricedTurns"]:
            note = f"without {counted(left_out, 'turn')} of no known price"
            charts[-1] = charts[-1]._replace(title=f"{charts[-1].title}, {note}")
    return charts


def _chart(by: str, unit: str, items: list[tuple[str | None, tuple[Any, ...]]]) -> Chart:
    bars = [Bar(_name(by, key), values) for key, values in items]
    if by != "day":
        return Chart(f"{unit} by {by}", unit, largest(bars))
    period, bars = over_time(bars)
    return Chart(f"{unit} by {period}", unit, bars, scale=period)


def _name(by: str, key: str | None) -> str:
    if key is None:
        return "(none)"
    return short_id(key) if by == "session" else key
