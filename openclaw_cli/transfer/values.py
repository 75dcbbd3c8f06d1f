"""One JSON text with nothing lost: a number that would be rounded is refused."""

from __future__ import annotations

import json
import re
from typing import Any

from openclaw_cli.store import jsonl

_LONG = re.compile(rb"[0-9]{19}")
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1


def decode(raw: bytes) -> tuple[Any, str | None]:
    """Return the value of one JSON text, or None and the reason why it has none.

    Of a name that stands twice in an object the last value counts, as in most readers of JSON.
    """
    value, problem = jsonl.decode(raw)
    if problem is None and _LONG.search(raw) is not None:
        try:
            json.loads(raw, parse_int=_checked)
        except (ValueError, RecursionError) as error:
            return None, str(error)
    return value, problem


def _checked(digits: str) -> int:
    if len(digits) > 20 or not _LEAST <= int(digits) <= _MOST:
        raise ValueError(f"the number {digits[:40]} has more than 64 bits and would be rounded")
    return 0
