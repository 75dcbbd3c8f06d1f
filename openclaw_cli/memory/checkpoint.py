"""The automatic checkpoint: the log is folded into the index when it has passed its limit."""

from __future__ import annotations

from openclaw_cli.errors import LockedError
from openclaw_cli.memory.requests import IndexRequest
from openclaw_cli.memory.store import Store
from openclaw_cli.result import Warning
from openclaw_cli.store import wal


def checkpoint(store: Store, log: wal.Wal, *, times: int = 1) -> list[Warning]:
    """Fold ``log`` into the index if it has passed its limit (``memory.wal.*``).

    ``times`` widens the limit for bulk work under way. When another process is at it already,
    nothing is to be done.
    """
    config = store.env.config
    too_long = log.size > config.integer("memory.wal.maxBytes") * times
    if not too_long and len(log.entries) <= config.integer("memory.wal.maxEntries") * times:
        return []
    from openclaw_cli.memory.indexing import run

    try:
        return run(store, IndexRequest(embed=False, scan=False), known=log).warnings
    except LockedError:
        return []
