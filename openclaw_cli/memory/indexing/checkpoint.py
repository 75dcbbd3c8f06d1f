"""What comes before and after a write: a killed purge is finished, a long log is folded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from openclaw_cli.errors import LockedError, StorageError
from openclaw_cli.memory.requests import IndexRequest
from openclaw_cli.memory.store import INDEX_HINT, Store
from openclaw_cli.result import Progress, Warning, no_progress
from openclaw_cli.store import wal
from openclaw_cli.store.repository import Writer

if TYPE_CHECKING:
    from openclaw_cli.memory.indexing.build import Report


@contextmanager
def writing(store: Store, known: wal.Wal | None = None) -> Iterator[Writer]:
    """Hold the writer lock, with all that a crash has left behind finished.

    ``known`` is an earlier reading of the log, so that bulk work does not read it whole for every
    batch.
    """
    warnings: list[Warning] = []
    for is_first in (True, False):
        with store.repository.writing(known) as writer:
            writer.warnings[:0] = warnings
            # That there is a purge is seen when the log is read, which is under the lock.
            if not (is_first and writer.log.purges):
                yield writer
                return
        warnings = [*writer.warnings, *_settled(store)]


def _settled(store: Store) -> list[Warning]:
    """Finish the purge of a process that was killed; one that is under way is left alone."""
    impatient = store.repository._replace(lock_timeout=0.0)
    try:
        with impatient.indexing():
            return _finished(store, no_progress)
    except LockedError:
        return []


def _finished(store: Store, progress: Progress) -> list[Warning]:
    if not wal.holds_purge(store.paths.wal):
        return []
    from openclaw_cli.memory.purging import complete

    return complete(store, progress)


def index(
    store: Store,
    request: IndexRequest,
    progress: Progress = no_progress,
    known: wal.Wal | None = None,
) -> Report:
    """Bring the index up to date, under the indexer's lock; a killed purge is finished first.

    ``known`` is the log as the caller has read it under the writer lock.
    """
    from openclaw_cli.memory.indexing.build import build

    with store.repository.indexing():
        warnings = _finished(store, progress)
        report = build(store, request, progress, known)
    report.warnings[:0] = warnings
    return report


def checkpoint(store: Store, log: wal.Wal, *, times: int = 1) -> list[Warning]:
    """Fold ``log`` into the index if it has passed its limit (``memory.wal.*``).

    ``times`` widens the limit for bulk work under way. When another process is at it already,
    nothing is to be done. When the index cannot be written, what the log holds is safe there.
    """
    config = store.env.config
    too_long = log.size > config.integer("memory.wal.maxBytes") * times
    if not too_long and len(log.entries) <= config.integer("memory.wal.maxEntries") * times:
        return []
    try:
        return index(store, IndexRequest(embed=False, scan=False), known=log).warnings
    except LockedError:
        return []
    except StorageError as error:
        message = f"{error.message}; the log is kept until {INDEX_HINT}"
        return [Warning("index-behind", message, error.path)]
