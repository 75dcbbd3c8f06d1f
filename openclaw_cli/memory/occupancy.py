"""Where the space went: the bytes of a memory folder by what they are for."""

from __future__ import annotations

from pathlib import Path

import orjson

from openclaw_cli.paths import StatePaths
from openclaw_cli.store import files, generations, survey
from openclaw_cli.store.records import encode_record


def occupancy(state: StatePaths, agent: str) -> dict[str, int]:
    """Return the bytes of each cause, and of more that lies outside of the memory folder.

    ``total`` is the sum of `survey.CAUSES`, and that of every regular file below the memory folder.
    ``history`` is the part of ``records`` that their past takes: every record is read for it.
    ``sessions`` and ``logs`` (which all agents share) are not in the total.
    """
    paths = state.memory(agent)
    current = generations.current_number(paths)
    sizes = dict.fromkeys(survey.CAUSES, 0)
    history = 0
    for item in survey.walk(paths.root):
        if item.kind == "file":
            cause = survey.cause(paths, item.parts, current)
            sizes[cause] += item.size
            if cause == "records":
                history += _history(item.path)
    return {
        **sizes,
        "total": sum(sizes.values()),
        "history": history,
        "sessions": _below(paths.root.parent / "sessions"),
        "logs": _below(state.logs),
    }


def _history(path: Path) -> int:
    """Return how much shorter the file of a record would be without its history."""
    try:
        document = orjson.loads(files.read_file(path))
        if not isinstance(document, dict) or not document.get("history"):
            return 0
        return len(encode_record(document)) - len(encode_record({**document, "history": []}))
    except (OSError, ValueError, TypeError):
        return 0  # damaged or gone: the file counts all the same


def _below(folder: Path) -> int:
    return sum(item.size for item in survey.walk(folder) if item.kind == "file")
