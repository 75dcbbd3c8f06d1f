"""``memory status``: how much there is, where, and whether the index keeps up."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from openclaw_cli.clock import to_millis
from openclaw_cli.memory.store import Opened, Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Result
from openclaw_cli.store import scan


def status(store: Store, *, by_cause: bool = False, charts: bool = False) -> Result:
    """Return counts, index state and sizes; reads no record and no vector.

    With ``by_cause`` the sizes tell of every file for what it is there, and records are read; with
    ``charts`` there are the figures to draw.
    """
    opened = store.open()
    snapshot = opened.snapshot
    warnings = [*opened.warnings, *store.count_warning(opened)]
    base = snapshot.base
    data: dict[str, Any] = {
        "agent": store.agent,
        "records": snapshot.live,
        "byScope": _named(snapshot.tally("scope")),
        "byCategory": _named(snapshot.tally("category")),
        "byLanguage": _named(snapshot.tally("language")),
        "walEntries": len(opened.view.log.entries),
        "generation": None if base is None else base.config.generation,
        "indexedSeq": 0 if base is None else base.config.seq,
        "stale": [warning.message for warning in warnings],
        "models": _models(store, opened),
        "bytes": _sizes(store),
    }
    if by_cause:
        from openclaw_cli.memory.occupancy import occupancy

        data["bytes"] = occupancy(store.env.state, store.agent)
    if charts:
        from openclaw_cli.memory.figures import figures

        data["charts"] = figures(snapshot, to_millis(store.env.clock.now()))
    return Result("memory.status", data, tuple(warnings))


def _named(counts: Any) -> dict[str, int]:
    return {str(name): count for name, count in counts.most_common() if count}


def _models(store: Store, opened: Opened) -> list[dict[str, Any]]:
    """Return the vectors per model; what waits for one is counted by the model that covers it."""
    held = opened.snapshot.tally("space")
    waiting: dict[str, int] = {}
    pending = opened.snapshot.column("pending")
    for ordinal, is_pending in enumerate(pending):
        if is_pending and ordinal not in opened.snapshot.gone:
            language = opened.snapshot.document(ordinal).language
            model = store.catalog.covering(language)
            if model is not None:
                waiting[model.name] = waiting.get(model.name, 0) + 1
    known = {model.name: model.dimensions for model in store.catalog.models}
    known |= {name: info.dimensions for name, info in opened.snapshot.spaces.items()}
    return [
        {
            "name": name,
            "dimensions": dimensions,
            "vectors": held.get(name, 0),
            "pending": waiting.get(name, 0),
        }
        for name, dimensions in known.items()
    ]


def _sizes(store: Store) -> dict[str, int]:
    paths = store.paths
    index = list(_files(paths.index))
    vectors = [entry for entry in index if entry.name.startswith("vector")]
    records = (entry for scope in SCOPES for entry in _files(paths.records(scope)))
    return {
        "records": sum(_size(entry) for entry in records if scan.is_record(entry.name)),
        "index": sum(_size(entry) for entry in index) - sum(map(_size, vectors)),
        "wal": paths.wal.stat().st_size if paths.wal.exists() else 0,
        "vectors": sum(map(_size, vectors)),
    }


def _files(folder: Path) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0  # swept since it was listed
