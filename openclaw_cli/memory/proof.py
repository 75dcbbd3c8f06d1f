"""What is left of a user after a purge: traces below the state directory, and other agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from openclaw_cli.paths import SHARED_AGENT, StatePaths
from openclaw_cli.result import Progress, no_progress
from openclaw_cli.store import files
from openclaw_cli.store.records import parse_record
from openclaw_cli.store.traces import Traces, tells

#: Where an agent's folder tells whose data it holds.
_TELLING = (
    "memory/records/*/*.json",
    "memory/wal.jsonl",
    "memory/user/records/*.json",
    "memory/user/wal.jsonl",
    "memory/user/*.json",
    "sessions/*/meta.json",
)


def verify(
    state: StatePaths,
    ids: Iterable[str],
    texts: Iterable[str],
    user: str | None = None,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Read every file below the state directory and return what was looked through and found.

    Texts that `tells` finds too short are not looked for, only counted. ``where`` lists the files
    that hold traces (with the owner of a memory that says the same), ``unread`` those that could
    not be read. Where there is nothing else to look for, what says to be of ``user`` is a trace:
    that is what can be proved then.
    """
    ids, said = set(ids), set(texts)
    texts = {text for text in said if tells(text)}
    scanned = size = matches = 0
    where: list[dict[str, Any]] = []
    unread: list[dict[str, str]] = []
    for found in Traces(ids, texts, None if ids or texts else user).below(state.root):
        scanned += 1
        size += found.size
        matches += found.matches
        if found.matches:
            owner = _owner(found.path)
            told = {"path": str(found.path), "matches": found.matches}
            where.append({**told, "userId": owner} if owner else told)
        if found.problem is not None:
            unread.append({"path": str(found.path), "reason": found.problem})
        progress("verify", scanned, None)
    return {
        "filesScanned": scanned,
        "bytesScanned": size,
        "idsSought": len(ids),
        "textsSought": len(texts),
        "textsTooShort": len(said) - len(texts),
        "matches": matches,
        "where": where,
        "unread": unread,
    }


def _owner(path: Path) -> str | None:
    """Return whose memory a file is, None when it is no sound record or nobody's."""
    try:
        return parse_record(files.read_file(path), path.parent.name, path.stem).user
    except (OSError, ValueError):
        return None


def elsewhere(state: StatePaths, user: str, done: Collection[str]) -> list[str]:
    """Return the agents (the shared memory among them) not in ``done`` that hold data of a user."""
    traces = Traces((), (), user)
    others = [agent for agent in (*state.agent_ids(), SHARED_AGENT) if agent not in done]
    return [agent for agent in others if _holds(state.agents / agent, traces)]


def _holds(folder: Path, traces: Traces) -> bool:
    return any(_are_in(path, traces) for pattern in _TELLING for path in folder.glob(pattern))


def _are_in(path: Path, traces: Traces) -> bool:
    try:
        return traces.are_in(path)
    except (OSError, ValueError):
        return False
