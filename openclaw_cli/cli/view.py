"""How texts, times and tables look to people: widths, wrapping, colours, harmless characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from openclaw_cli.cli.cells import display_width, shorten, wrap
from openclaw_cli.result import counted as counted  # what all of this package calls it by

# C0 and C1 controls (tab and newline apart), what reverses the order of a line on a terminal or
# hides in it, line and paragraph separators, and lone surrogates: stored text must neither drive
# the terminal nor hold what is not seen. Format characters with a shape of their own may stay.
_HIDDEN = (
    "\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
# What joiners may follow: scripts from Arabic to those of India and its neighbours, and emoji.
_JOINING = (
    "\u0600-\u109f\u1700-\u1c4f\ua840-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
    "\u2190-\u2bff\u3030\u303d\u3297\u3299\ufe0f\u20e3\U0001f000-\U0001faff"
)
_UNSAFE = f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_HIDDEN}]|(?<![{_JOINING}])[\u200c\u200d]"
_STYLES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36"}
_GAP = "  "
_INDENT = 4
#: Cells that the last column of a table needs to stand beside the others, and that any other one
#: but the first keeps on a terminal that is too narrow for all of them.
_LAST_COLUMN = 16
_COLUMN = 6
# Letters of scripts that run from right to left, and the sign that keeps them out of what follows.
_LEFTWARD = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_LEFT_TO_RIGHT = "\u200e"
_SHORT = ("min", "h")
_AGES = ((60, "min"), (3600, "h"), (86400, "day"), (30 * 86400, "month"), (365 * 86400, "year"))


def clean(text: str) -> str:
    """Return ``text`` with controls, escapes and invisible signs spelt out, as in ``\\x1b``."""
    if text.isprintable():
        return text
    return re.sub(_UNSAFE, lambda match: spelt(match[0]), text.replace("\r\n", "\n"))


def clean_line(text: str) -> str:
    """Return ``text`` on one harmless line, runs of white space as one blank."""
    return clean(" ".join(text.split()))


def spelt(char: str) -> str:
    """Return a character by its number, as in ``\\x1b`` or ``\\u6587``.

    The surrogate in place of a byte that is no UTF-8 is told as that byte.
    """
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def short_id(record_id: str) -> str:
    """Return the last 8 characters of an id: what tables show and every command accepts."""
    return record_id[-8:] if len(record_id) > 12 else record_id


def local_time(moment: object, *, date_only: bool = False) -> str:
    """Return an ISO-8601 text in the operator's local time; anything else as it is."""
    if not isinstance(moment, str):
        return ""
    try:
        local = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError, OSError):
        return clean_line(moment)
    return local.strftime("%Y-%m-%d" if date_only else "%Y-%m-%d %H:%M")


def age(moment: object, now: datetime) -> str:
    """Return how long ago an ISO-8601 text was, as 3 days ago; its date when it is yet to come."""
    try:
        seconds = (now - datetime.fromisoformat(str(moment))).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return local_time(moment)
    if seconds < 0:
        return local_time(moment, date_only=True)
    if seconds < _AGES[0][0]:
        return "just now"
    span, unit = next((span, unit) for span, unit in reversed(_AGES) if seconds >= span)
    count = int(seconds // span)
    return f"{count} {unit} ago" if unit in _SHORT else f"{counted(count, unit)} ago"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


class View(NamedTuple):
    """What the human output of a command may know.

    That is the width in cells (None: no limit), styles, and ``now``, from which ages are counted.
    """

    width: int | None = None
    color: bool = False
    quiet: bool = False
    verbose: bool = False
    now: Callable[[], datetime] | None = None

    def when(self, moment: object) -> str:
        """Return how long ago a moment was; the moment itself in local time when verbose."""
        if self.verbose or self.now is None:
            return local_time(moment)
        return age(moment, self.now())

    def style(self, text: str, name: str) -> str:
        """Return ``text`` in bold, dim, red, yellow or cyan where colours are wanted."""
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self.color and text else text

    def block(self, text: str, indent: int = 0) -> Iterator[str]:
        """Yield cleaned text, wrapped to the terminal and indented."""
        room = None if self.width is None else max(20, self.width - indent)
        cleaned = clean(text).expandtabs(4)
        lines = cleaned.split("\n") if room is None else wrap(cleaned, room)
        for line in lines:
            yield (" " * indent + line).rstrip()

    def cut(self, text: str) -> str:
        """Return cleaned text on one line that fits the terminal."""
        line = clean_line(text)
        return line if self.width is None else shorten(line, self.width)

    def words(self, words: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Yield words, each with its style or "", on as few lines as the terminal allows."""
        line, used = "", 0
        for word, style in words:
            text, gap = clean(word), _GAP if used else ""
            cells = display_width(text)
            if used and self.width is not None and used + len(gap) + cells > self.width:
                yield line
                line, used, gap = " " * _INDENT, _INDENT, ""
            line += gap + (self.style(text, style) if style else text)
            used += len(gap) + cells
        yield line

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """Yield a table; on a terminal cells are cut so that every line fits.

        The last column is the first to give way; where too little is left for it, it goes on a
        line of its own. Where the others do not fit either, they go on several lines; the first
        column, which names the row, is not cut while the terminal has room for it.
        """
        cells = [list(heads), *([clean_line(cell) for cell in row] for row in rows)]
        widths = [max(map(display_width, column)) for column in zip(*cells, strict=True)]
        layout = [list(enumerate(widths))]
        if self.width is not None:
            layout = _layout(widths, self.width)
        for place, row in enumerate(cells):
            for group, columns in enumerate(layout):
                line = _GAP if group else ""
                line += _GAP.join(self.cell(row[column], width) for column, width in columns)
                yield line.rstrip() if place else self.style(line.rstrip(), "bold")

    def cell(self, text: str, width: int) -> str:
        """Return a cell of a table; on a terminal that turns lines around it stays in its place."""
        shown = shorten(text, width)
        gap = " " * (width - display_width(shown))
        mark = self.width is not None and not text.isascii() and re.search(_LEFTWARD, text)
        return shown + (_LEFT_TO_RIGHT if mark else "") + gap

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Yield aligned ``name  value`` lines, wrapped; an empty value is left out."""
        shown = [(name, clean_line(value)) for name, value in pairs if value]
        indent = max((display_width(name) for name, _ in shown), default=0) + len(_GAP)
        for name, value in shown:
            head = self.style(name, "bold") + " " * (indent - display_width(name))
            for line in [value] if self.width is None else wrap(value, max(8, self.width - indent)):
                yield head + line
                head = " " * indent


def _layout(widths: Sequence[int], total: int) -> list[list[tuple[int, int]]]:
    """Return the columns of each line of a row, with widths that fit ``total`` cells."""
    *others, last = widths
    room = total - sum(others) - len(_GAP) * len(others)
    if room >= min(_LAST_COLUMN, last):
        return [[*enumerate(others), (len(others), min(last, room))]]
    lines: list[list[tuple[int, int]]] = []
    left = 0
    for place, width in enumerate(_narrowed(others, total)):
        if not lines or left < len(_GAP) + width:
            lines.append([])
            left = total + (0 if len(lines) > 1 else len(_GAP))
        fitting = min(width, total - (len(_GAP) if len(lines) > 1 else 0))
        lines[-1].append((place, fitting))
        left -= fitting + len(_GAP)
    return [*lines, [(len(others), min(last, total - len(_GAP)))]]


def _narrowed(widths: Sequence[int], total: int) -> list[int]:
    """Return widths with which columns fit ``total`` cells, or as they are where none do.

    Those on the right give way first, the first column never.
    """
    found = list(widths)
    excess = sum(found) + len(_GAP) * (len(found) - 1) - total
    for place in reversed(range(1, len(found))):
        less = max(0, min(excess, found[place] - _COLUMN))
        found[place] -= less
        excess -= less
    return list(widths) if excess > 0 else found
