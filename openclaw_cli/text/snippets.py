"""The part of a text around what a query has found in it, with no character cut in two."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from openclaw_cli.text.matching import Query, words_of
from openclaw_cli.text.normalize import fold, prepare
from openclaw_cli.text.stems import stemmer, without_accents

#: Characters of a snippet before the hit, and in all.
BEFORE = 40
LENGTH = 160
_MORE = "…"
#: How far an end may move to a gap between words, and past the marks of a character.
_SLACK = 16
_LONGEST_CLUSTER = 32
_SPACE = re.compile(r"\s+")


def snippet(text: str, query: Query) -> str:
    """Return the text around the first place where the query stands, on one line.

    The whole phrase is looked for first, then its words. The characters of the place itself are
    always shown.
    """
    start, end = _place(text, query)
    first = _left(text, max(0, start - BEFORE), start)
    last = _right(text, max(end, min(len(text), first + LENGTH)), end)
    shown = _SPACE.sub(" ", text[first:last]).strip()
    before = _MORE if text[:first].strip() else ""
    return f"{before}{shown}{_MORE if text[last:].strip() else ''}"


def _place(text: str, query: Query) -> tuple[int, int]:
    """Return where the query, or a part of it, stands in the text; its beginning if not found."""
    wanted = [query.phrase, *_words(query), *(term for _b, term in reversed(query.joined_runs))]
    wanted += [term for _b, term in reversed(query.split_runs)]
    lowered = text.lower()
    if len(lowered) == len(text):
        found = _first(lowered, wanted)
        if found is not None:
            return found
    plain, places = _mapped(text)
    found = _first(plain, [without_accents(word) for word in wanted])
    if found is None:
        return 0, 0
    return places[found[0]], places[found[1] - 1] + 1


def _words(query: Query) -> list[str]:
    """Return the words of a query, then the beginnings of their other forms."""
    tokens = [token for want in query.wants for token in want.tokens]
    words = [word for token in tokens for word in words_of(token, query.language)]
    stems = [
        term[: max(2, len(term) - cut)]
        for cut in (0, 1, 2)
        for word in words
        for term in stemmer(query.language)(word)
    ]
    return [*words, *stems]


def _first(text: str, wanted: list[str]) -> tuple[int, int] | None:
    """Return the place of the first of the wanted words that is there, alone if it can be."""
    for word in wanted:
        if not word:
            continue
        alone = re.search(rf"(?<!\w){re.escape(word)}", text)
        at = alone.start() if alone else text.find(word)
        if at >= 0:
            return at, at + len(word)
    return None


def _mapped(text: str) -> tuple[str, list[int]]:
    """Return the text in plain form, and for each of its characters where it comes from."""
    parts: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        plain = _plain(char)
        parts.append(plain)
        places += [place] * len(plain)
    return "".join(parts), places


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    if unicodedata.combining(char):
        return ""
    return without_accents(fold(prepare(char)))


def _left(text: str, at: int, stop: int) -> int:
    """Return a place from ``at`` on where the text may be cut, between words where one is near."""
    if at == 0:
        return 0
    gap = _SPACE.search(text, at, min(stop, at + _SLACK))
    if gap is not None:
        return gap.end()
    return _whole(text, at, at - _LONGEST_CLUSTER)


def _right(text: str, at: int, stop: int) -> int:
    """Return a place up to ``at`` where the text may be cut, between words where one is near."""
    if at >= len(text):
        return len(text)
    for place in range(at, max(stop, at - _SLACK), -1):
        if text[place].isspace():
            return place
    while at < min(len(text), stop + LENGTH + _LONGEST_CLUSTER) and _joins(text, at):
        at += 1
    return at


def _whole(text: str, at: int, least: int) -> int:
    while at > max(0, least) and _joins(text, at):
        at -= 1
    return at


def _joins(text: str, at: int) -> bool:
    """Tell whether the character at a place belongs to the one before it."""
    char = text[at]
    if text[at - 1] == "\u200d" or char in "\u200d\ufe0e\ufe0f\u20e3":
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff" or "\U000e0020" <= char <= "\U000e007f":
        return True
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return _flags_before(text, at) % 2 == 1
    return unicodedata.category(char) in ("Mn", "Mc", "Me")


def _flags_before(text: str, at: int) -> int:
    count = 0
    while at - count > 0 and "\U0001f1e6" <= text[at - count - 1] <= "\U0001f1ff":
        count += 1
    return count
