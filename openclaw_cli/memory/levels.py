"""The three levels of a memory: L0 the summary, L1 the overview, L2 the full text with its time."""

from __future__ import annotations

import re
from datetime import datetime

from openclaw_cli.clock import format_time

#: About how many tokens L0 may have.
L0_TOKENS = 100

_MERGED_AT = re.compile(r"\n\n\[\d{4}-\d\d-\d\dT[0-9:.]+Z\] ")


def summary_of(text: str) -> str:
    """Return L0 of ``text``: all of it when short enough, else its first sentences."""
    text = text.strip()
    # A token has at least one character in four at most, so short texts need no count.
    if len(text) <= L0_TOKENS:
        return text
    from openclaw_cli.text.estimate import token_estimate
    from openclaw_cli.text.sentences import first_sentences

    if token_estimate(text) <= L0_TOKENS:
        return text
    return first_sentences(text, L0_TOKENS)


def joined(older: str, text: str, moment: datetime | str) -> str:
    """Return L2 with ``text`` appended under its time: nothing that was said is overwritten."""
    said = moment if isinstance(moment, str) else format_time(moment)
    return f"{older}\n\n[{said}] {text}"


def statements(l2: str) -> list[str]:
    """Return the statements that L2 was joined from, without their times."""
    return [statement.strip() for statement in _MERGED_AT.split(l2)]


def speaks(l0: str, l2: str) -> bool:
    """Tell whether L0 is a statement itself, rather than the summary of a longer original."""
    return not l2.strip() or l0.strip() in statements(l2)


def indexed_text(l0: str, l2: str) -> str:
    """Return the text that is found and embedded: L0, or the whole that L0 is the beginning of.

    L0 written as a summary of its own stands for the record alone. But when L0 was cut off a long
    text, the rest must be found too: then it is L2 from where L0 stands in it as the beginning of
    a statement.
    """
    if len(l2) <= len(l0):
        return l0
    statements = [0, *(mark.end() for mark in _MERGED_AT.finditer(l2))]
    for begin in reversed(statements):
        if l2.startswith(l0, begin):
            return l2[begin:]
    return l0
