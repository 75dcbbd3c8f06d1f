"""One line of JSON Lines: its value, or the reason why it has none."""

from __future__ import annotations

from typing import Any

import orjson

#: Levels of nesting that orjson writes; it reads far more.
_WRITTEN = 254


def decode(raw: bytes) -> tuple[Any, str | None]:
    """Return the value of one JSON text, or None and the reason why it has none."""
    try:
        return orjson.loads(raw), None
    except orjson.JSONDecodeError as error:
        return None, str(error)


def nests_deeper(value: object, levels: int, raw: bytes | None = None) -> bool:
    """Tell whether a value (read from ``raw``, which makes most answers cheap) nests so deeply.

    ``levels`` are at most as many as can be written.
    """
    if raw is not None and _opened(raw, b"{") + _opened(raw, b"[") <= levels:
        return False
    wrapped = value
    for _ in range(_WRITTEN - levels):
        wrapped = [wrapped]
    try:
        orjson.dumps(wrapped)
    except orjson.JSONEncodeError:
        return _depth(value) > levels  # perhaps it is something else that cannot be written
    return False


def _opened(raw: bytes, bracket: bytes) -> int:
    # To look for what follows the first character is far quicker than to count what there is.
    return 1 if raw.find(bracket, 1) < 0 else raw.count(bracket)


def _depth(value: object) -> int:
    depth, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        level = [
            inner for each in level for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return depth
