"""Step 3: an index that is a folder, not a link to a generation, is kept as ``index.bak``.

Its documented form – one JSON object with ``vocab``, ``df``, ``postings`` of ``{"id","tf"}``,
``totalDocs`` and ``avgDocLength`` – has no lengths of documents, so it cannot be searched; the next
index run makes a new one from the records.
"""

from __future__ import annotations

import os

from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import fsio

_TERMS = "bm25.idx"


def is_there(paths: MemoryPaths) -> bool:
    """Tell whether there is an index of an older form."""
    return not os.path.islink(paths.index) and os.path.lexists(paths.index / _TERMS)


def retire(paths: MemoryPaths) -> None:
    """Set the older index aside."""
    fsio.rename(paths.index, paths.index_backup)


def restore(paths: MemoryPaths) -> None:
    """Put the older index back in the place of the link; the generations were made from the same
    records and go."""
    if not paths.index_backup.is_dir():
        return
    fsio.remove(paths.index)
    fsio.rename(paths.index_backup, paths.index)
    if paths.generations.is_dir():
        fsio.remove_tree(paths.generations)
