"""How texts, times and tables look to people: widths, wrapping, colours, harmless characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

# C0 and C1 controls (tab and newline apart), what reverses the order of a line on a terminal,
# line and paragraph separators, and lone surrogates: stored text must not drive the terminal.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
_CJK = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef"
# Where a line may break: at white space, and around every character of a CJK script. These patterns
# are compiled when they are first needed, because compiling them takes longer than most commands.
_PIECE = rf"\s+|[{_CJK}]|[^\s{_CJK}]+"
_STYLES = {"bold": "1", "dim": "2", "red": "31", "yellow": "33", "cyan": "36"}
_GAP = "  "


def clean(text: str) -> str:
    """Return ``text`` with control characters and terminal escapes spelt out, as in ``\\x1b``."""
    if text.isprintable():
        return text
    return re.sub(_UNSAFE, _spell, text.replace("\r\n", "\n"))


def clean_line(text: str) -> str:
    """Return ``text`` on one harmless line, runs of white space as one blank."""
    return clean(" ".join(text.split()))


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


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

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """Yield a table; on a terminal its last column is cut so that a row stays one line."""
        cells = [[clean_line(cell) for cell in row] for row in rows]
        widths = [
            max(display_width(row[place]) for row in [list(heads), *cells])
            for place in range(len(heads) - 1)
        ]
        before = sum(widths) + len(_GAP) * len(widths)
        room = None if self.width is None else max(10, self.width - before)
        yield self.style(_row(list(heads), widths, room), "bold")
        for row in cells:
            yield _row(row, widths, room)

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Yield aligned ``name  value`` lines; an empty value is left out."""
        shown = [(name, clean_line(value)) for name, value in pairs if value]
        widest = max((display_width(name) for name, _ in shown), default=0)
        for name, value in shown:
            yield f"{self.style(name, 'bold')}{' ' * (widest - display_width(name))}{_GAP}{value}"


def _row(row: Sequence[str], widths: Sequence[int], room: int | None) -> str:
    padded = [
        cell + " " * (width - display_width(cell))
        for cell, width in zip(row[:-1], widths, strict=True)
    ]
    last = row[-1] if room is None else shorten(row[-1], room)
    return _GAP.join([*padded, last]).rstrip()
