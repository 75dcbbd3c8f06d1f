"""Step 2: records in ``memory/user`` and ``memory/agent`` go to ``memory/records``.

Once they have been taken in the whole folder is kept as ``user.bak`` or ``agent.bak``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from openclaw_cli.paths import SCOPES, MemoryPaths, valid_name
from openclaw_cli.store import fsio
from openclaw_cli.store.scan import is_record

_SUFFIX = ".json"


def scopes(paths: MemoryPaths) -> list[str]:
    """Return the scopes of which records lie where an older format has them."""
    return [scope for scope in SCOPES if _holds_records(paths.older_records(scope))]


def _holds_records(folder: Path) -> bool:
    try:
        state = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(state.st_mode) and next(_names(folder), None) is not None


def _names(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if is_record(entry.name):
                yield entry.name


def older_file(paths: MemoryPaths, scope: str, record_id: str) -> Path:
    """Return where an older format has the file of a record."""
    return paths.older_records(scope) / f"{record_id}{_SUFFIX}"


def files(paths: MemoryPaths) -> list[tuple[str, Path]]:
    """Return every record file of the older layout with its scope, sorted; odd names too."""
    found = [
        (scope, paths.older_records(scope) / name)
        for scope in scopes(paths)
        for name in _names(paths.older_records(scope))
    ]
    return sorted(found)


def identifiers(paths: MemoryPaths) -> list[tuple[str, str]]:
    """Return scope and id of every record that the older layout may hold."""
    return [(scope, path.stem) for scope, path in files(paths) if valid_name(path.stem)]


def retire(paths: MemoryPaths) -> list[Path]:
    """Rename the folders of the older layout to what they are kept as; return the new names."""
    kept = []
    for scope in scopes(paths):
        fsio.rename(paths.older_records(scope), paths.older_backup(scope))
        kept.append(paths.older_backup(scope))
    return kept


def restore(paths: MemoryPaths) -> None:
    """Give the folders that `retire` has renamed their old names again."""
    for scope in SCOPES:
        if paths.older_backup(scope).is_dir():
            fsio.rename(paths.older_backup(scope), paths.older_records(scope))
