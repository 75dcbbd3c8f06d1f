"""How many cells of a terminal a text takes, and how it is cut and wrapped to them."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CJK = r"\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef"
# Where a line may break: at white space, and around every character of a CJK script. These patterns
# are compiled when they are first needed, because compiling them takes longer than most commands.
_PIECE = rf"\s+|[{_CJK}][\u0300-\u036f\u3099\u309a\ufe00-\ufe0f]*|[^\s{_CJK}]+"
# Signs that no line begins with: they stay with the character before them.
_CLOSING = frozenset("、。，．：；！？」』】》〉）〕］｝…ー々・")
_JOINER = "\u200d"


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


def clusters(text: str) -> Iterator[str]:
    """Yield what people see as one character: with its marks, joined emoji, flags."""
    held = ""
    for char in text:
        if held and not _belongs(char, held):
            yield held
            held = ""
        held += char
    if held:
        yield held


def _belongs(char: str, held: str) -> bool:
    if char < "\u0300":
        return False
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return len(held) == 1 and "\U0001f1e6" <= held <= "\U0001f1ff"
    tone = "\U0001f3fb" <= char <= "\U0001f3ff"
    return tone or held[-1] == _JOINER or _cells(char) == 0


def _head(text: str, width: int) -> str:
    """Return the beginning of ``text`` that takes up to ``width`` cells, of whole characters."""
    used, kept = 0, ""
    for cluster in clusters(text):
        used += display_width(cluster)
        if used > width:
            break
        kept += cluster
    return kept


def shorten(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` cells, with an ellipsis where something is missing."""
    if display_width(text) <= width:
        return text
    return _head(text, width - 1).rstrip() + "…"


def wrap(text: str, width: int) -> Iterator[str]:
    """Yield the lines of ``text`` at most ``width`` cells wide; CJK text breaks anywhere."""
    for paragraph in text.split("\n"):
        line: list[str] = []
        used = 0
        for piece in re.findall(_PIECE, paragraph):
            cells = display_width(piece)
            if used + cells > width and line:
                carried = _carried(line, piece, width - cells)
                yield "".join(line).rstrip()
                line, used = carried, sum(map(display_width, carried))
                if piece.isspace():
                    continue
            while cells > width:
                head = _head(piece, width) or _forced(piece, width)
                yield head
                piece = piece[len(head) :]
                cells = display_width(piece)
            line.append(piece)
            used += cells
        yield "".join(line).rstrip()


def _carried(line: list[str], piece: str, room: int) -> list[str]:
    """Take from a full line what must stand before ``piece``, if the next one has ``room``."""
    if piece[0] not in _CLOSING:
        return []
    start = len(line) - 1
    while start > 0 and line[start][0] in _CLOSING:
        start -= 1
    if start <= 0 or not re.match(f"[{_CJK}]", line[start]):
        return []
    carried = line[start:]
    if sum(map(display_width, carried)) > room:
        return []
    del line[start:]
    return carried


def _forced(text: str, width: int) -> str:
    """Return the beginning of one that is wider than a line although it is a single character."""
    used = 0
    for place, char in enumerate(text):
        used += _cells(char)
        if used > width and place:
            return text[:place]
    return text
