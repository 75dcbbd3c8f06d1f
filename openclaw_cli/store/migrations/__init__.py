"""From older formats to this one: numbered steps, each known by what it finds and leaves behind.

``s0001_records`` upgrades one record document, ``s0002_folders`` takes in records that lie directly
below ``memory/``, ``s0003_index`` sets an index of an older form aside. Each step is done when its
old form is not found any more, so that a migration may be stopped anywhere and run again.
"""

from __future__ import annotations

from openclaw_cli.errors import FormatTooOldError
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.result import Warning
from openclaw_cli.store.migrations import s0002_folders, s0003_index

#: The code of the warning that records are of an older format.
OLDER = "older-format"
MIGRATE_HINT = "run: openclaw memory migrate"


def has_older_layout(paths: MemoryPaths) -> bool:
    """Tell whether records or index lie where a format before 2.0 has them."""
    return bool(s0002_folders.scopes(paths)) or s0003_index.is_there(paths)


def require_current(paths: MemoryPaths) -> None:
    """Raise `FormatTooOldError` for a layout that is read but not written: a deletion would leave
    the older file, and an index could not be put in its place."""
    if has_older_layout(paths):
        raise FormatTooOldError(
            f"{paths.root} has the layout of an older format, which is read but not written",
            path=str(paths.root),
            hint=MIGRATE_HINT,
        )


def older_warning(paths: MemoryPaths) -> Warning:
    """Return the one warning that reading commands give about an older format."""
    return Warning(OLDER, f"records of an older format; {MIGRATE_HINT}", str(paths.root))
