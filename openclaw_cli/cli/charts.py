"""Bar charts: what is drawn, how it is made to fit, and how it looks in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from openclaw_cli.cli.cells import display_width, shorten
from openclaw_cli.cli.view import View, clean_line, size

Number = int | float
Values = tuple[Number, ...]
#: Bars that can be taken in at a glance; more are put together.
MOST = 36
#: Cells of a chart where there is no terminal that says how wide it is.
_WIDTH = 80
_LEAST = 8
#: More is told and not drawn: beyond it, and where it is no number, there is no scale.
_LARGEST = 1e300
_EIGHTHS = " ▏▎▍▌▋▊▉"
#: What the parts of a bar are told apart by, with and without colours.
_SHADES = "█▓▒░"


class Bar(NamedTuple):
    """A bar: its label, and the lengths of its parts."""

    label: str
    values: Values

    @property
    def total(self) -> Number:
        """Its whole length."""
        return sum(self.values)

    @property
    def drawn(self) -> Values:
        """The lengths that are drawn: nothing of what no scale has room for."""
        return self.values if abs(self.total) <= _LARGEST else tuple(0 for _ in self.values)


class Chart(NamedTuple):
    """Bars under a title; ``unit`` tells what is counted, ``parts`` what they are made up of.

    With ``scale`` they follow one another along it, as months do, and keep that order.
    """

    title: str
    unit: str
    bars: list[Bar]
    parts: tuple[str, ...] = ()
    scale: str = ""


class _Period(NamedTuple):
    """A unit of time: the number of the one that a day is in, and the label of a number."""

    name: str
    number: Callable[[date], int]
    label: Callable[[int], str]


def _week(number: int) -> str:
    year, week, _day = date.fromordinal(number * 7 + 1).isocalendar()
    return f"{year:04}-W{week:02}"


def _month(day: date) -> int:
    return day.year * 12 + day.month - 1


_PERIODS = (
    _Period("day", date.toordinal, lambda n: date.fromordinal(n).isoformat()),
    _Period("week", lambda day: (day.toordinal() - 1) // 7, _week),
    _Period("month", _month, lambda n: f"{n // 12:04}-{n % 12 + 1:02}"),
    _Period("quarter", lambda day: _month(day) // 3, lambda n: f"{n // 4:04} Q{n % 4 + 1}"),
    _Period("year", lambda day: day.year, lambda n: f"{n:04}"),
    _Period("decade", lambda day: day.year // 10, lambda n: f"{n * 10:04}s"),
    _Period("century", lambda day: day.year // 100, lambda n: f"{n:02}00-{n:02}99"),
)
#: How many of them are shorter than a month.
_DAILY = 2


def over_time(bars: Sequence[Bar]) -> tuple[str, list[Bar]]:
    """Return a unit of time, and bars of days or months put together into it, gaps filled.

    Labels are ISO dates, or months as 2026-03; the unit is the finest one that needs no more than
    `MOST` bars, the coarsest one where none does.
    """
    if not bars:
        return "month", []
    is_daily = len(bars[0].label) > len("2026-03")
    periods = _PERIODS if is_daily else _PERIODS[_DAILY:]
    days = [date.fromisoformat(bar.label if is_daily else f"{bar.label}-01") for bar in bars]
    first, last = min(days), max(days)
    fitting = (p for p in periods if p.number(last) - p.number(first) < MOST)
    period = next(fitting, periods[-1])
    empty = tuple(value * 0 for value in bars[0].values)
    sums = dict.fromkeys(range(period.number(first), period.number(last) + 1), empty)
    for day, bar in zip(days, bars, strict=True):
        sums[period.number(day)] = _added(sums[period.number(day)], bar.values)
    return period.name, [Bar(period.label(n), values) for n, values in sums.items()]


def largest(bars: list[Bar]) -> list[Bar]:
    """Return the first bars and one of all the others, where there are more than `MOST`."""
    if len(bars) <= MOST:
        return bars
    kept, others = bars[: MOST - 1], bars[MOST - 1 :]
    rest = others[0].values
    for bar in others[1:]:
        rest = _added(rest, bar.values)
    return [*kept, Bar(f"{len(others):,} others", rest)]


def _added(one: Values, other: Values) -> Values:
    return tuple(a + b for a, b in zip(one, other, strict=True))


def told(value: Number) -> str:
    """Return a length as people read it: counts whole, costs with four decimals."""
    if not abs(value) <= _LARGEST:
        return "too large to draw"
    return f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"


def plotted(data: dict[str, Any], charts: Iterable[Chart], view: View) -> Iterator[str]:
    """Yield charts after other lines, or which file they went into; quiet, nothing but charts."""
    if "plot" not in data:
        if not view.quiet:
            yield ""
        yield from drawn(charts, view)
    elif not view.quiet:
        yield from view.block(f"drew {data['plot']['path']} ({size(data['plot']['bytes'])})")


def drawn(charts: Iterable[Chart], view: View) -> Iterator[str]:
    """Yield the lines of charts, an empty one between them."""
    for place, chart in enumerate(charts):
        if place:
            yield ""
        for line in view.block(chart.title):
            yield view.style(line, "bold")
        if chart.parts:
            keys = zip(_SHADES, chart.parts, strict=False)
            yield from view.words([(f"{shade} {part}", "") for shade, part in keys])
        yield from drawn_bars(chart.bars, view)


def drawn_bars(bars: Sequence[Bar], view: View) -> Iterator[str]:
    """Yield a line a bar, as long as its total, no wider than the terminal."""
    if not bars:
        yield "nothing to draw"
        return
    width = view.width or _WIDTH
    labels = [shorten(clean_line(bar.label), max(_LEAST, width // 3)) for bar in bars]
    totals = [told(bar.total) for bar in bars]
    column = max(map(display_width, labels))
    room = max(1, width - column - max(map(len, totals)) - 3)
    bars = [Bar(bar.label, bar.drawn) for bar in bars]
    most = max(bar.total for bar in bars)
    for bar, label, total in zip(bars, labels, totals, strict=True):
        line = _whole(bar.total, most, room) if len(bar.values) == 1 else _parted(bar, most, room)
        yield f"{view.cell(label, column)}  {view.style(line, 'cyan')}{' ' if line else ''}{total}"


def _whole(total: float, most: float, room: int) -> str:
    eighths = 0 if most == 0 else max(total > 0, round(total * room * 8 / most))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _parted(bar: Bar, most: float, room: int) -> str:
    """Return a bar in which each part has a shade of its own, rounded where it ends."""
    cells = 0 if most == 0 else max(bar.total > 0, round(bar.total * room / most))
    line, length = "", 0.0
    for shade, value in zip(_SHADES, bar.values, strict=False):
        length += value
        line += shade * (round(length * cells / bar.total) - len(line) if cells else 0)
    return line
