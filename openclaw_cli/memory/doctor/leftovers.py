"""What a purge finds beside the records: files set aside, backups, leftovers, logs, insights.

Only what is the user's goes. Where a file holds several things, lines or items of a JSON text, the
others stay; a file that says that it is of somebody else stays as it is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.memory.store import Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.store import files, fsio, generations, survey
from openclaw_cli.store.traces import Traces

#: Scope and id of a record.
Key = tuple[str, str]
#: What files are there for that are looked through.
_LEFT = ("setAside", "backups", "temporary", "trash", "insights")
#: Members of a document that hold many records.
_COLLECTIONS = ("records", "insights", "items")
_OWNER = re.compile(rb'"userId"\s*:\s*"')


class Cleaned(NamedTuple):
    """A file that is to change: what stays of it, or None when all of it goes."""

    path: Path
    data: bytes | None


def clean(store: Store, traces: Traces, user: str, known: Container[Key]) -> int:
    """Remove what `changes` names, and temporary files; return how many files were cleaned.

    The caller holds both locks.
    """
    fsio.sweep(store.paths.root)
    for scope in SCOPES:
        fsio.sweep(store.paths.records(scope))
    count = 0
    for path, data in changes(store, traces, user, known):
        if data is None:
            fsio.remove(path)
        else:
            fsio.write_file(path, data)
        count += 1
    return count


def changes(store: Store, traces: Traces, user: str, known: Container[Key]) -> Iterator[Cleaned]:
    """Yield every file beside the ``known`` records that holds traces, and what may stay of it."""
    for path in _beside(store, known):
        try:
            data = _read(path, traces)
        except (OSError, ValueError):
            continue
        if traces.count(path.name.encode("utf-8", "surrogateescape"), user=False):
            yield Cleaned(path, None)
        elif traces.count(data):
            kept = _kept(path, data, traces, user)
            if kept != data:
                yield Cleaned(path, kept)


def _read(path: Path, traces: Traces) -> bytes:
    """Return what a file holds; a large one is read whole only if it holds traces."""
    if os.stat(path).st_size > files.LIMIT and not traces.are_in(path):
        return b""
    return files.read_file(path, limit=sys.maxsize)


def _beside(store: Store, known: Container[Key]) -> Iterator[Path]:
    """Yield the files that are no known records: damaged ones and what editors leave, too."""
    paths, state = store.paths, store.env.state
    current = generations.current_number(paths)
    for item in survey.walk(paths.root):
        if item.kind != "file":
            continue
        if item.parts[0] == "records" and len(item.parts) == 3:
            key = (item.parts[1], item.parts[2].removesuffix(".json"))
            is_left = not item.parts[2].endswith(".json") or key not in known
        else:
            is_left = survey.cause(paths, item.parts, current) in _LEFT
        if is_left:
            yield item.path
    yield from (item.path for item in survey.walk(state.logs) if item.kind == "file")


def _kept(path: Path, data: bytes, traces: Traces, user: str) -> bytes | None:
    try:
        value = orjson.loads(data)
    except ValueError:
        return _kept_lines(path, data, traces)
    kept = _kept_value(value, traces, user)
    return None if kept is None else orjson.dumps(kept, option=orjson.OPT_INDENT_2)


def _kept_lines(path: Path, data: bytes, traces: Traces) -> bytes | None:
    """Return what stays of a text that is no JSON: of a log the lines without traces, of another
    file all or nothing."""
    if ".jsonl" in path.name:
        lines = data.split(b"\n")
        kept = [line for line in lines if not traces.count(line)]
        return b"\n".join(kept) if any(kept) else None
    is_anothers = traces.owner_count(data) == 0 and _OWNER.search(data) is not None
    return data if is_anothers else None


def _kept_value(value: Any, traces: Traces, user: str) -> Any:
    """Return a JSON value without what is the user's; None when nothing may stay.

    What says whose it is goes or stays for that; what does not goes when it holds traces. Evidence
    that is gone is taken out of an insight that has more.
    """
    if isinstance(value, list):
        kept = (_kept_value(item, traces, user) for item in value)
        return [item for item in kept if item is not None]
    if isinstance(value, dict):
        owner = value.get("userId")
        if owner == user:
            return None
        value = _with_evidence_left(value, traces)
        if value is None or isinstance(owner, str):
            return value
        held = {name: value[name] for name in _COLLECTIONS if isinstance(value.get(name), list)}
        if held:
            rest = {name: _kept_value(items, traces, user) for name, items in held.items()}
            return {**value, **rest}
    return None if traces.count(orjson.dumps(value)) else value


def _with_evidence_left(value: dict[str, Any], traces: Traces) -> dict[str, Any] | None:
    evidence = value.get("evidence")
    if not isinstance(evidence, list) or not evidence:
        return value
    left = [name for name in evidence if not traces.count(orjson.dumps(name))]
    return {**value, "evidence": left} if left else None
