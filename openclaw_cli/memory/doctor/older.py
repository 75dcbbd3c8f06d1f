"""Records without an index that tells of them, of an older format or not: analysed as they are
needed."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from openclaw_cli.index.protocol import Document
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import scan
from openclaw_cli.store.migrations import has_older_layout, s0001_records, s0002_folders
from openclaw_cli.store.recovery import View, final_states

if TYPE_CHECKING:
    from openclaw_cli.embed.catalog import Catalog

_SAMPLED = 8


def is_older(paths: MemoryPaths, view: View, *, indexed: bool) -> bool:
    """Tell whether the store is of an older format, by its layout or a few of its records.

    With an index the records are in it, whatever their format.
    """
    if has_older_layout(paths):
        return True
    return not indexed and any(_is_older(view, key) for key in islice(scan.names(paths), _SAMPLED))


def _is_older(view: View, key: tuple[str, str]) -> bool:
    try:
        record = view.record(*key)
    except (OSError, ValueError):
        return False
    return record is not None and s0001_records.applies(record.document)


def documents(
    paths: MemoryPaths, view: View, catalog: Catalog, *, indexed: bool
) -> dict[str, Document]:
    """Return what neither index nor log tells about: the records of the older layout, and without
    an index every record that is not in the log. Damaged ones are left out."""
    # What reads texts is not needed where there is nothing to read.
    from openclaw_cli.memory.analysis import analyse_record
    from openclaw_cli.memory.documents import document_of

    if indexed:
        known = s0002_folders.identifiers(paths)
        keys = [
            key for key in known if key in view.better or not os.path.lexists(paths.record(*key))
        ]
    else:
        newest = final_states(view.log.entries)
        # Of two records of one id the log's is shown, else that of the first scope.
        logged = {key[1] for key, entry in newest.items() if entry.record is not None}
        keys = [key for key in view.identifiers() if key[1] not in logged]
    found: dict[str, Document] = {}
    for key in keys:
        try:
            record = view.record(*key)
        except (OSError, ValueError):
            continue
        if record is not None and record.id not in found:
            found[record.id] = document_of(record, analyse_record(record, catalog), None)
    return found
