"""The first sentences of a text, up to a number of tokens, never cutting through a character."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from openclaw_cli.text.estimate import longest_prefix

# A sentence ends at a full-width sign, or at an ASCII one that white space or the end follows
# (3.14, example.com and v2.3 go on), or at a line end; closing quotes and brackets belong to it.
_SENTENCE_END = re.compile(
    "(?:[。！？｡।॥؟۔…]+|[.!?]+(?=[\\s\"'”’»)\\]}」』】）]|$|[^\x00-\x7f]))"
    "[.!?。！？…]*[\"'”’»)\\]}」』】）]*|\\n"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:(?:[^\W\d_]\.)*[^\W\d_]|e\.?g|i\.?e|etc|vs|cf|ca|approx|no|nr|vol|fig|al"
    r"|mrs?|ms|dr|prof|sr|sra|st|jr|inc|ltd|co|bzw|usw|z\.?\s?b|d\.?\s?h|p\.?\s?ej|ex)\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 16
# How far before the limit ends are looked for first, in characters.
_WINDOW = 4000
_PHRASE_END = re.compile("[,;:，；：、،؛](?=\\s|$|[^\x00-\x7f])[\"'”’»)\\]」』】）]*|[ \t]—[ \t]")
_SPACE = re.compile(r"\s")
_EXTENDING = re.compile(
    "[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u0e33\u0eb3\uff9e\uff9f]"
)
_REGIONAL = re.compile("[\U0001f1e6-\U0001f1ff]+$")
_CONJOINING_JAMO = re.compile("[\u1160-\u11ff\ud7b0-\ud7fb]")


def first_sentences(text: str, max_tokens: int) -> str:
    """Return the beginning of a text, estimated at no more than max_tokens tokens.

    It is a prefix of the stripped text, cut after the last whole sentence that fits, else after
    a phrase or a word, else between two characters as people see them. It is never empty when
    the text is not: of a text whose first character is too long already, that one is returned.
    """
    text = text.strip()
    limit = longest_prefix(text, max_tokens)
    if limit >= len(text):
        return text
    cut = _last_sentence(text, limit) or _last_phrase(text, limit)
    return text[: _whole_character(text, cut or limit)].rstrip()


def _last_sentence(text: str, limit: int) -> int:
    """Return the end of the last sentence within the limit, 0 when none ends there."""
    end = _sentence_end_between(text, max(0, limit - _WINDOW), limit)
    return end or _sentence_end_between(text, 0, limit)


def _sentence_end_between(text: str, start: int, limit: int) -> int:
    end = 0
    # One character more, so that what follows the sign at the limit is seen.
    for match in _SENTENCE_END.finditer(text, start, min(len(text), limit + 1)):
        if match.end() > limit:
            break
        before = text[max(0, match.start() - _LONGEST_ABBREVIATION) : match.start() + 1]
        if not (match[0] == "." and _ABBREVIATION.search(before)):
            end = match.end()
    return end


def _last_phrase(text: str, limit: int) -> int:
    """Return the last phrase end in the second half of the limit, else the last word end."""
    start = max(limit // 2, limit - _WINDOW)
    phrases = [match.end() for match in _PHRASE_END.finditer(text, start, limit)]
    if phrases:
        return phrases[-1]
    if _SPACE.match(text, limit):
        return limit
    spaces = [match.start() for match in _SPACE.finditer(text, start, limit)]
    return spaces[-1] if spaces else 0


def _whole_character(text: str, cut: int) -> int:
    """Return the nearest place at or before the cut between two grapheme clusters, never 0."""
    back = cut
    while back > 0 and not _is_boundary(text, back):
        back -= 1
    if back > 0:
        return back
    forward = max(1, cut)
    while forward < len(text) and not _is_boundary(text, forward):
        forward += 1
    return forward


def _is_boundary(text: str, at: int) -> bool:
    """Tell whether two characters, as people see them, meet at this place."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if _extends(after) or before == "\u200d" or unicodedata.combining(before) == 9:
        return False
    if "\U0001f1e6" <= after <= "\U0001f1ff":
        flags = _REGIONAL.search(text, max(0, at - 64), at)
        return flags is None or len(flags[0]) % 2 == 0
    return True


@cache
def _extends(character: str) -> bool:
    return (
        unicodedata.category(character)[0] == "M"
        or _EXTENDING.match(character) is not None
        or _CONJOINING_JAMO.match(character) is not None
    )
