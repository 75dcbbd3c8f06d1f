"""``session delete``, ``restore`` and ``trash``: gone from sight first, for good only on demand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from openclaw_cli.clock import format_time
from openclaw_cli.errors import ExistsError, NotFoundError, OpenclawError
from openclaw_cli.paths import SessionFiles, check_name
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import catalog, metadata
from openclaw_cli.session.lookup import SHORT_ID, resolve
from openclaw_cli.session.store import UNREADABLE, SessionStore
from openclaw_cli.store import fsio, trash
from openclaw_cli.store.trash import Entry


def delete(store: SessionStore, given: Sequence[str], *, dry_run: bool) -> Result:
    """Move sessions to the trash; those that are not there are told, none at all is an error."""
    found: dict[str, SessionFiles] = {}
    missing: list[str] = []
    for name in given:
        try:
            files = resolve(store, name)
            found[files.id] = files
        except NotFoundError:
            if len(given) == 1:
                raise
            missing.append(name)
    deleted: list[str] = []
    failed: list[dict[str, Any]] = []
    for files in found.values():
        try:
            _put_away(store, files, dry_run=dry_run)
        except OpenclawError as error:
            if len(given) == 1:
                raise
            failed.append({"id": files.id, "code": error.code, "reason": error.message})
            continue
        deleted.append(files.id)
    failed += [{"id": name, "reason": "no such session"} for name in missing]
    data: dict[str, Any] = {"deleted": deleted, "missing": missing, "dryRun": dry_run}
    if failed:
        data["failed"] = failed
    return Result("session.delete", data)


def _put_away(store: SessionStore, files: SessionFiles, *, dry_run: bool) -> None:
    if dry_run:
        return
    with store.looking_up(), store.writing(files):
        trash.put(store.paths.trash, files.folder, store.env.clock.now())


def restore(store: SessionStore, given: Sequence[str]) -> Result:
    """Bring sessions back from the trash, the newest of each id."""
    _require(store)
    restored: list[str] = []
    failed: list[dict[str, Any]] = []
    warnings: list[Warning] = []
    for name in given:
        try:
            with store.looking_up():
                restored.append(_bring_back(store, name, warnings))
        except OpenclawError as error:
            if len(given) == 1:
                raise
            failed.append({"id": name, "code": error.code, "reason": error.message})
    data: dict[str, Any] = {"restored": restored}
    if failed:
        data["failed"] = failed
    return Result("session.restore", data, tuple(warnings))


def _bring_back(store: SessionStore, given: str, warnings: list[Warning]) -> str:
    entry = _in_trash(store, given)
    files = store.paths.session(entry.name)
    if os.path.lexists(files.folder):
        raise ExistsError(
            f"there is a session {entry.name} already; the one in the trash stays there",
            path=str(files.folder),
            hint="delete that one first, or leave them as they are",
        )
    fsio.move(entry.path, files.folder)
    loaded = store.load(files)
    warnings += loaded.warnings
    store.catalog.note(catalog.put_line(files.id, loaded.meta, loaded.stat))
    return files.id


def _require(store: SessionStore) -> None:
    """Raise `NotFoundError` for an agent without sessions and trash before a lock makes folders."""
    if not store.paths.exists() and not os.path.isdir(store.paths.trash):
        store.require()


def _in_trash(store: SessionStore, given: str) -> Entry:
    check_name("session", given)
    found = trash.entries(store.paths.trash)
    exact = [entry for entry in found if entry.name == given]
    if exact:
        return exact[0]
    near = [e for e in found if len(given) >= SHORT_ID and e.name.endswith(given)]
    names = sorted({entry.name for entry in near})
    if len(names) == 1:
        return near[0]
    if names:
        from openclaw_cli.errors import AmbiguousIdError

        raise AmbiguousIdError(
            f"{given} fits {len(names)} sessions in the trash: {', '.join(names[:5])}",
            hint="write more characters of the id",
        )
    raise NotFoundError(
        f"there is no session {given} in the trash",
        hint="openclaw session trash list shows what is there",
    )


def trash_list(store: SessionStore) -> Result:
    """Return what is in the trash, the newest first."""
    _require(store)
    items = []
    warnings: list[Warning] = []
    for entry in trash.entries(store.paths.trash):
        files = SessionFiles(entry.path)
        try:
            meta = metadata.load(files, store.agent, lambda _id: None, entry.name).meta
        except OpenclawError as error:
            warnings.append(Warning(UNREADABLE, error.message, error.path))
            continue
        items.append(
            {
                "sessionId": entry.name,
                "deletedAt": format_time(entry.deleted),
                "channel": meta["channel"],
                "chatId": meta["chatId"],
                "title": meta["title"],
                "messageCount": meta["messageCount"],
                "path": str(entry.path),
            }
        )
    return Result("session.trash.list", {"items": items, "total": len(items)}, tuple(warnings))


def doomed(store: SessionStore, before: datetime | None) -> list[Entry]:
    """Return what emptying the trash removes: everything, or what was deleted before a time."""
    _require(store)
    found = trash.entries(store.paths.trash)
    return [entry for entry in found if before is None or entry.deleted <= before]


def empty(store: SessionStore, before: datetime | None, *, dry_run: bool) -> Result:
    """Remove sessions in the trash for good."""
    if dry_run:
        removed = doomed(store, before)
    else:
        _require(store)
        with store.looking_up():
            fsio.sweep(store.paths.trash)
            removed = doomed(store, before)
            for entry in removed:
                trash.discard(entry)
    data = {"removed": [entry.name for entry in removed], "dryRun": dry_run}
    return Result("session.trash.empty", data)
