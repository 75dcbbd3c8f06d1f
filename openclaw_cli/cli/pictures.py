"""Charts as files, SVG or PNG, drawn by matplotlib: the extra ``plot``."""

from __future__ import annotations

import io
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from openclaw_cli.cli.cells import shorten
from openclaw_cli.cli.charts import Bar, Chart, told
from openclaw_cli.cli.view import clean_line, spelt
from openclaw_cli.errors import UnavailableError, UsageError
from openclaw_cli.result import Result, Warning, counted
from openclaw_cli.store.savedfile import SavedFile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The formats by the ending of the file's name, with what they tell of their making: nothing.
_FORMATS: dict[str, dict[str, None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}
# Told apart by people who do not see all colours too (Okabe and Ito).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7")
_FONT = "DejaVu Sans"  # comes with matplotlib
#: Fonts of an operator's system that have Chinese, Japanese and Korean letters, looked for in turn.
_CJK_FONTS = (
    *("Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei"),
    *("WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "SimHei"),
    *("Microsoft YaHei", "Arial Unicode MS"),
)
_SETTINGS: Any = {
    "svg.hashsalt": "openclaw",  # else the names within a file are drawn by lot
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "axes.unicode_minus": False,
    "font.size": 9,
    "figure.constrained_layout.hspace": 0.05,
}
_LEGEND: Any = {"frameon": False, "fontsize": 8, "borderpad": 0.2, "borderaxespad": 0.2}
_DOTS_PER_INCH = 144
_WIDTH = 8.0
#: Cells of a label; more would leave the bars no room.
_CELLS = 28
#: Labels along a scale that are legible side by side.
_SIDE_BY_SIDE = 10


def target(name: str) -> Path:
    """Return the file that is to hold a picture; refuse a name with another ending."""
    path = Path(name)
    if path.suffix.lower() not in _FORMATS:
        raise UsageError(
            f"--plot: {name} is neither .svg nor .png",
            hint="name a file such as chart.svg, or give --plot alone to draw in the terminal",
        )
    return path


def add_picture(
    result: Result, path: Path, title: str, charts: Sequence[Chart], *, force: bool
) -> Result:
    """Draw the charts of a result into a file, and return the result with what `save` tells."""
    picture, warnings = save(path, title, charts, force=force)
    data = {**result.data, "plot": picture}
    return result._replace(data=data, warnings=(*result.warnings, *warnings))


def save(
    path: Path, title: str, charts: Sequence[Chart], *, force: bool
) -> tuple[dict[str, Any], list[Warning]]:
    """Draw charts under each other into a file; return its path, bytes and SHA-256, and warnings.

    There is one where no font has a letter, which is spelt then.

    The file appears whole, 0600, or not at all; one that is there is replaced only with ``force``.
    The same charts give the same bytes. Raises `UnavailableError` without matplotlib.
    """
    with SavedFile(path, replace=force) as file, _matplotlib():
        said = [title, *(bar.label for chart in charts for bar in chart.bars)]
        letters = set() if all(text.isascii() for text in said) else _letters()
        file.write(_drawn(path.suffix.lower(), title, charts, letters))
    picture = {"path": str(path), "bytes": file.length, "sha256": file.sha256}
    return picture, list(_spelt(said, letters))


def _spelt(said: Sequence[str], letters: set[int]) -> Iterator[Warning]:
    """Yield a warning where letters had to be spelt."""
    text = "".join(map(clean_line, said))
    missing = [c for c in dict.fromkeys(text) if not c.isascii() and ord(c) not in letters]
    if missing:
        yield Warning(
            "letters-spelt",
            f"no font has {counted(len(missing), 'letter')} of the picture"
            f" ({''.join(missing[:5])}), spelt as \\u and a number; a font such as Noto Sans CJK"
            " shows Chinese, Japanese and Korean",
        )


@contextmanager
def _matplotlib() -> Iterator[None]:
    """Import matplotlib, with the settings of this program only, so that it leaves nothing behind.

    It and fontconfig note the fonts of the system in folders of the operator: here in one that is
    removed, unless $MPLCONFIGDIR names another.
    """
    with tempfile.TemporaryDirectory(prefix="openclaw-") as folder:
        os.environ.setdefault("MPLCONFIGDIR", folder)
        os.environ["XDG_CACHE_HOME"] = folder
        # What it says of fonts and settings is about the machine, not about the memories.
        logging.getLogger("matplotlib").setLevel(logging.CRITICAL)
        try:
            import matplotlib
        except ImportError as error:
            raise UnavailableError(
                f"pictures need matplotlib, which cannot be loaded: {error}",
                hint='pip install "openclaw-cli[plot]", or give --plot alone',
            ) from error
        with matplotlib.rc_context(), warnings.catch_warnings(action="ignore"):
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_SETTINGS)
            yield


def _drawn(ending: str, title: str, charts: Sequence[Chart], letters: set[int]) -> bytes:
    from matplotlib.figure import Figure

    # The fonts were chosen before: axes that exist keep theirs.
    heights = [_height(chart) for chart in charts]
    figure = Figure(figsize=(_WIDTH, sum(heights) + 0.5), layout="constrained")
    figure.suptitle(_legible(title, letters), fontweight="bold", x=0.02, ha="left")
    panels = figure.subplots(len(charts), 1, squeeze=False, height_ratios=heights)
    for axes, chart in zip(panels[:, 0], charts, strict=True):
        _draw(axes, chart, letters)
    return _saved(figure, ending)


def _saved(figure: Figure, ending: str) -> bytes:
    held = io.BytesIO()
    figure.savefig(held, format=ending[1:], dpi=_DOTS_PER_INCH, metadata=_FORMATS[ending])
    return held.getvalue()


def _height(chart: Chart) -> float:
    """Return the height of a chart in inches."""
    return 2.6 if chart.scale else 0.9 + 0.24 * max(2, len(chart.bars))


def _draw(axes: Axes, chart: Chart, letters: set[int]) -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axes.set_title(chart.title, fontsize=10, pad=22 if chart.parts else 6)
    whole = not any(isinstance(bar.total, float) for bar in chart.bars)
    values = axes.yaxis if chart.scale else axes.xaxis
    values.set_major_locator(MaxNLocator(5, integer=whole))
    values.set_major_formatter(StrMethodFormatter("{x:,.0f}" if whole else "{x:,.4g}"))
    values.set_label_text(chart.unit)
    values.grid(visible=True, color="#dddddd", linewidth=0.6)
    if not any(bar.total for bar in chart.bars):
        axes.text(0.5, 0.5, "nothing to draw", ha="center", va="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return
    labels = [_legible(bar.label, letters, _CELLS) for bar in chart.bars]
    if chart.scale:
        _columns(axes, chart, labels)
    else:
        _rows(axes, chart, labels)
    if chart.parts:
        axes.legend(chart.parts, loc="lower left", bbox_to_anchor=(0, 1), ncols=4, **_LEGEND)


def _columns(axes: Axes, chart: Chart, labels: list[str]) -> None:
    places = range(len(labels))
    for colour, lengths, below in _layers(chart.bars):
        bars = axes.bar(places, lengths, 0.8, bottom=below, color=colour)
    rotation = 0 if len(labels) <= _SIDE_BY_SIDE else 90
    axes.set_xticks(places, labels, rotation=rotation, fontsize=8)
    axes.set_xlabel(chart.scale)
    axes.margins(x=0.01, y=0.15)
    if len(labels) <= _SIDE_BY_SIDE:
        axes.bar_label(bars, _totals(chart.bars), padding=2, fontsize=8)


def _rows(axes: Axes, chart: Chart, labels: list[str]) -> None:
    places = range(len(labels))
    for colour, lengths, below in _layers(chart.bars):
        bars = axes.barh(places, lengths, 0.7, left=below, color=colour)
    axes.set_yticks(places, labels, fontsize=8)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.bar_label(bars, _totals(chart.bars), padding=3, fontsize=8)


def _totals(bars: Sequence[Bar]) -> list[str]:
    return [told(bar.total) if bar.total else "" for bar in bars]


def _layers(bars: Sequence[Bar]) -> Iterator[tuple[str, list[float], list[float]]]:
    """Yield the colour of each part, how long it is in every bar, and where it begins there."""
    below = [0.0] * len(bars)
    for colour, lengths in zip(
        _COLOURS, zip(*(bar.drawn for bar in bars), strict=True), strict=False
    ):
        yield colour, list(lengths), below
        below = [start + length for start, length in zip(below, lengths, strict=True)]


def _legible(text: str, letters: set[int], cells: int | None = None) -> str:
    """Return ``text`` on one line of so many cells; what no font has is spelt, as ``\\u6587``."""
    line = clean_line(text)
    if not line.isascii():
        line = "".join(char if ord(char) in letters else spelt(char) for char in line)
    return line if cells is None else shorten(line, cells)


def _letters() -> set[int]:
    """Return the code points that the fonts have, and let them be used for one another."""
    import matplotlib
    from matplotlib import font_manager

    there = set(font_manager.get_font_names())
    names = [_FONT, *(name for name in _CJK_FONTS if name in there)]
    matplotlib.rcParams["font.family"] = names
    files = [font_manager.findfont(name, fallback_to_default=False) for name in names]
    return {code for file in files for code in font_manager.get_font(file).get_charmap()}
