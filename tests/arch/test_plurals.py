"""What is counted is told with the noun that fits the number: `counted` does it, in one place."""

from __future__ import annotations

import re

#: Nouns that are counted, in the plural, right after a number that is filled in.
_COUNTED = re.compile(
    r"\}\s+(?:sessions|messages|records|memories|vectors|turns|faults|texts|checks|files|deleted"
    r"|entries|insights|ledger lines)\b|\w\(s\)"
)
#: Those whose number is never 1.
_MANY = (
    *("fits {len(matches)} sessions", "fits {len(names)} sessions", "fits {len(names)} records"),
    *("{len(titles)} sessions", "lines of the ledger were", "other memories cleaned"),
)
#: Folders that say what they count in their own words.
_APART = ("session",)


def test_numbers_and_nouns_agree(modules):
    wrong = [
        f"{module.name}: {line.strip()}"
        for module in modules
        if not any(part in module.name.split(".") for part in _APART)
        for line in module.path.read_text("utf-8").splitlines()
        if re.search(r"[frRF]+\"", line) and _COUNTED.search(line)
        if not any(known in line for known in _MANY)
    ]
    assert wrong == []
