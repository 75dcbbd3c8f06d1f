"""Telephone numbers, which are written in groups, with and without the code of the country.

The last nine digits stay the same in all spellings of one number (+44 20 7946 0958, 020 7946 0958,
02079460958), so they are a term of their own beside the digits written together.
"""

from __future__ import annotations

import re
from functools import cache

_KEY = 9
SHORTEST = 7
"""Digits of a number at least."""
_LONGEST = 15
"""Digits at most: the international plan allows no more than fifteen."""
_LONG_GROUP = 3

# Cheap to look for in any text: two digits with no more than a joint of groups between them.
_GROUPED = re.compile(r"\d[ ().-]{1,2}\d")


@cache
def _number() -> re.Pattern[str]:
    joint = r"(?:[ .-]|\) ?|\)-|[ -]\()"
    return re.compile(
        rf"(?<![\w.,:/+-])\+?\(?\d{{1,6}}(?:{joint}\d{{1,6}}){{1,6}}(?![.,:/-]?\w)", re.ASCII
    )


def phone_key(digits: str) -> str | None:
    """Return the term that all spellings of a number share, None for what is no such number."""
    return digits[-_KEY:] if _KEY < len(digits) <= _LONGEST else None


def phone_terms(text: str) -> list[str]:
    """Return the terms of the telephone numbers of a prepared text that are written in groups."""
    if not _GROUPED.search(text):
        return []
    terms = []
    for match in _number().finditer(text):
        groups = re.findall("[0-9]+", match[0])
        digits = "".join(groups)
        if SHORTEST <= len(digits) <= _LONGEST and _is_phone(match[0], groups):
            terms += [term for term in (digits, phone_key(digits)) if term]
    return terms


def _is_phone(number: str, groups: list[str]) -> bool:
    """Tell a telephone number from a date, an address of a machine and a row of small numbers."""
    if " " not in number and "(" not in number:
        # With hyphens alone it is one compound, which is written together there.
        return "." in number and len(groups) == 3 and max(map(len, groups[:2])) >= _LONG_GROUP
    return number[0] in "+(0" or max(map(len, groups)) >= _LONG_GROUP
