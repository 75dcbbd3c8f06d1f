"""How many tokens a language model will count in a text, estimated per character."""

from __future__ import annotations

import re
from functools import cache

from openclaw_cli.text.scripts import ARABIC, HAN, HANGUL, KANA

ASCII_WEIGHT = 0.23
OTHER_WEIGHT = 0.4
_WEIGHTS = ((HAN, 0.78), (KANA, 0.72), (HANGUL, 0.62), (ARABIC, 0.33))


@cache
def _weighted_run() -> re.Pattern[str]:
    scripts = "|".join([f"([{ranges}]+)" for ranges, _ in _WEIGHTS])
    weighted = "".join([ranges for ranges, _ in _WEIGHTS])
    return re.compile(rf"{scripts}|([\x00-\x7f]+)|([^\x00-\x7f{weighted}]+)")


_GROUP_WEIGHTS = (0.0, *[weight for _, weight in _WEIGHTS], ASCII_WEIGHT, OTHER_WEIGHT)


def token_estimate(text: str) -> int:
    """Return the estimated number of tokens, at least 1 for a text that is not empty.

    Measured against o200k it is 11 % low to 15 % high, depending on the language.
    """
    if text.isascii():
        total = ASCII_WEIGHT * len(text)
    else:
        total = 0.0
        for match in _weighted_run().finditer(text):
            total += _GROUP_WEIGHTS[match.lastindex or 0] * (match.end() - match.start())
    return max(1, round(total)) if text else 0


def longest_prefix(text: str, max_tokens: int) -> int:
    """Return how many characters from the start are estimated at no more than max_tokens."""
    room = max_tokens + 0.5
    if text.isascii():
        return max(0, min(len(text), int(room / ASCII_WEIGHT)))
    for match in _weighted_run().finditer(text):
        weight = _GROUP_WEIGHTS[match.lastindex or 0]
        size = match.end() - match.start()
        if weight * size > room:
            return match.start() + max(0, int(room / weight))
        room -= weight * size
    return len(text)
