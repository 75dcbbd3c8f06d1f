"""One line of JSON Lines: its value, or the reason why it has none."""

from __future__ import annotations

from typing import Any

import orjson


def decode(raw: bytes) -> tuple[Any, str | None]:
    """Return the value of one JSON text, or None and the reason why it has none."""
    try:
        return orjson.loads(raw), None
    except orjson.JSONDecodeError as error:
        return None, str(error)
