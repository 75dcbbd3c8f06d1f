"""How texts, times and tables look to people: widths, wrapping, colours, harmless characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

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
_CJK = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef"
# Where a line may break: at white space, and around every character of a CJK script. These patterns
# are compiled when they are first needed, because compiling them takes longer than most commands.
_PIECE = rf"\s+|[{_CJK}]|[^\s{_CJK}]+"
_STYLES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36"}
_GAP = "  "
_INDENT = 4
#: Cells that the last column of a table needs to stand beside the others, and that any other one
#: keeps on a terminal that is too narrow for all of them.
_LAST_COLUMN = 16
_COLUMN = 5


def clean(text: str) -> str:
    """Return ``text`` with controls, escapes and invisible signs spelt out, as in ``\\x1b``."""
    if text.isprintable():
        return text
    return re.sub(_UNSAFE, _spell, text.replace("\r\n", "\n"))


def clean_line(text: str) -> str:
    """Return ``text`` on one harmless line, runs of white space as one blank."""
    return clean(" ".join(text.split()))


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def display_width(text: str) -> int:
    """Return how many terminal cells ``text`` takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(char: str) -> int:
    if char < "\u0300":
        return 1
    import unicodedata

    if char in "\u200d\ufe0f" or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def shorten(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` cells, with an ellipsis where something is missing."""
    if display_width(text) <= width:
        return text
    used, kept = 1, []
    for char in text:
        used += _cells(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def wrap(text: str, width: int) -> Iterator[str]:
    """Yield the lines of ``text`` at most ``width`` cells wide; CJK text breaks anywhere."""
    for paragraph in text.split("\n"):
        line, used = "", 0
        for piece in re.findall(_PIECE, paragraph):
            cells = display_width(piece)
            if used + cells > width and line:
                yield line.rstrip()
                line, used = "", 0
                if piece.isspace():
                    continue
            while cells > width:
                head = _head(piece, width)
                yield head
                piece = piece[len(head) :]
                cells = display_width(piece)
            line += piece
            used += cells
        yield line.rstrip()


def _head(text: str, width: int) -> str:
    used = 0
    for place, char in enumerate(text):
        used += _cells(char)
        if used > width and place:
            return text[:place]
    return text


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


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 memory, 2 memories."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"


class View(NamedTuple):
    """What the human output of a command may know: width in cells (None: no limit) and styles."""

    width: int | None = None
    color: bool = False
    quiet: bool = False
    verbose: bool = False

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
        line of its own.
        """
        cells = [list(heads), *([clean_line(cell) for cell in row] for row in rows)]
        *widths, last = (max(map(display_width, column)) for column in zip(*cells, strict=True))
        room = None
        if self.width is not None:
            room = self.width - sum(widths) - len(_GAP) * len(widths)
        below = room is not None and room < min(_LAST_COLUMN, last)
        if self.width is not None and below:
            widths, room = _narrowed(widths, self.width), self.width - len(_GAP)
        for place, row in enumerate(cells):
            end = row[-1] if room is None else shorten(row[-1], room)
            before = _GAP.join(map(_padded, row, widths))
            lines = [before, _GAP + end] if below else [_GAP.join((before, end))]
            for line in lines:
                yield line.rstrip() if place else self.style(line.rstrip(), "bold")

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Yield aligned ``name  value`` lines, wrapped; an empty value is left out."""
        shown = [(name, clean_line(value)) for name, value in pairs if value]
        indent = max((display_width(name) for name, _ in shown), default=0) + len(_GAP)
        for name, value in shown:
            head = self.style(name, "bold") + " " * (indent - display_width(name))
            for line in [value] if self.width is None else wrap(value, max(8, self.width - indent)):
                yield head + line
                head = " " * indent


def _narrowed(widths: Sequence[int], total: int) -> list[int]:
    """Return widths of columns that fit ``total`` cells; those on the right give way first."""
    found = list(widths)
    excess = sum(found) + len(_GAP) * (len(found) - 1) - total
    for place in reversed(range(len(found))):
        less = max(0, min(excess, found[place] - _COLUMN))
        found[place] -= less
        excess -= less
    return found


def _padded(cell: str, width: int) -> str:
    shown = shorten(cell, width)
    return shown + " " * (width - display_width(shown))
