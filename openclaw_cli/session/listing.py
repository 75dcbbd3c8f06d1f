"""``session list``, ``show`` and ``tail``: what there is, without changing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, MutableSequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from openclaw_cli.clock import format_time, parse_time
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.lines import Line
from openclaw_cli.session.requests import SessionFilter, SessionListRequest
from openclaw_cli.session.schema import Message, Meta, new_meta
from openclaw_cli.session.store import SessionStore, Survey
from openclaw_cli.store.fsio import reporting

SORTS = ("last-active", "created", "messages", "cost")
_SHOWN_FOREIGN = 20
#: Of times as this program writes them, with and without milliseconds.
_OWN_LENGTHS = (len("2026-02-20T10:00:00Z"), len("2026-02-20T10:00:00.000Z"))


def complete(meta: Meta, agent: str) -> Meta:
    """Return metadata with every field, in the usual order."""
    created = meta.get("createdAt", "")
    return {**new_meta(meta["sessionId"], agent, created), **meta}


def moment_key(text: str) -> str:
    """Return a time as a text that sorts as the moments do."""
    if text[-1:] == "Z" and len(text) in _OWN_LENGTHS:
        return text[:-1]
    return format_time(parse_time(text))[:-1]


def _order(sort: str) -> Callable[[Meta], Any]:
    if sort == "messages":
        return lambda meta: meta.get("messageCount", 0)
    if sort == "cost":
        return lambda meta: meta.get("totalCost", 0)
    name = "createdAt" if sort == "created" else "lastActiveAt"
    return lambda meta: moment_key(meta[name])


def _fits(filters: SessionFilter) -> Callable[[Meta], bool]:
    """Return what tells whether a session is to be listed."""
    wanted = {
        "status": filters.status,
        "channel": filters.channel,
        "chatId": filters.chat,
        "userId": filters.user,
    }
    fields = [(name, frozenset(values)) for name, values in wanted.items() if values]
    tags = frozenset(filters.tag)
    since, until = bound(filters.since), bound(filters.until)
    bounded = bool(tags or since or until)

    def fits(meta: Meta) -> bool:
        for name, values in fields:
            if meta.get(name) not in values:
                return False
        if not bounded:
            return True
        if tags and tags.isdisjoint(meta.get("tags", ())):
            return False
        moment = moment_key(meta["lastActiveAt"])
        return (since is None or moment >= since) and (until is None or moment < until)

    return fits


def bound(moment: datetime | None) -> str | None:
    """Return a time, if any, in the form that `moment_key` gives others to compare with it."""
    return None if moment is None else moment_key(format_time(moment))


def listing(store: SessionStore, request: SessionListRequest) -> Result:
    """Return the first sessions of a filter, their number, and what of others is there."""
    survey, names, total = _selected(store, request)
    items = [complete(store.again(survey, name), store.agent) for name in names]
    data = {"items": items, "total": total, "foreign": foreign(survey)}
    return Result("session.list", data, tuple(survey.warnings))


def stream(
    store: SessionStore, request: SessionListRequest, warnings: MutableSequence[Warning]
) -> Iterator[Meta]:
    """Yield the sessions of a filter in order; ``warnings`` is added to on the way."""
    survey, names, _total = _selected(store, request)
    warnings.extend(survey.warnings)
    for name in names:
        yield complete(store.again(survey, name), store.agent)


def _selected(store: SessionStore, request: SessionListRequest) -> tuple[Survey, list[str], int]:
    """Walk through all sessions; return the ids of those wanted, in order, and how many fit."""
    store.require()
    survey = store.survey()
    fits, order = _fits(request.filters), _order(request.sort)
    total = 0

    def fitting() -> Iterator[tuple[Any, str]]:
        nonlocal total
        for meta in store.walk(survey):
            if fits(meta):
                total += 1
                yield order(meta), meta["sessionId"]

    if request.limit is None:
        first = sorted(fitting(), reverse=True)
    else:
        from heapq import nlargest

        first = nlargest(request.limit, fitting())
    return survey, [name for _key, name in first], total


def foreign(survey: Survey) -> dict[str, Any]:
    """Return what other programs keep among the sessions: how much, and the first names."""
    names = sorted(survey.foreign)
    return {"count": len(names), "names": names[:_SHOWN_FOREIGN]}


def show(store: SessionStore, files: SessionFiles) -> Result:
    """Return a session's metadata, where it lies and how many bytes its files have."""
    loaded = store.load(files)
    warnings = list(loaded.warnings)
    tail = loaded.tail
    if tail is not None:
        warnings += [damage_warning(files, line) for line in tail.damage]
        if tail.torn:
            warnings.append(torn_warning(files, tail.size - tail.end))
    data = {**loaded.meta, "path": str(files.folder), "bytes": _size(files)}
    return Result("session.show", data, tuple(warnings))


def _size(files: SessionFiles) -> int:
    total = 0
    with reporting("read", files.folder), os.scandir(files.folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):  # a writer may rename it meanwhile
                total += entry.stat(follow_symlinks=False).st_size if entry.is_file() else 0
    return total


def damage_warning(files: SessionFiles, line: Line) -> Warning:
    """Return the warning about a line that is no message, or had to be mended to be one."""
    return Warning(
        "history-damaged",
        f"session {files.id}: {line.place} of the history: {line.problem}",
        str(files.history),
    )


def torn_warning(files: SessionFiles, length: int) -> Warning:
    """Return the warning about bytes at the end of a history that are no message."""
    return Warning(
        "torn-tail",
        f"session {files.id}: the last {length} bytes of the history are no whole message:"
        " a write that goes on, or was cut off (the next append sets it aside)",
        str(files.history),
    )


def newest(
    store: SessionStore, files: SessionFiles, count: int, warnings: MutableSequence[Warning]
) -> Iterator[Message]:
    """Yield the last messages of a session, the oldest of them first."""
    warnings.extend(store.load(files).warnings)
    with transcript.opened(files) as history:
        if history is None:
            return
        for line in history.newest(count):
            if line.torn:
                warnings.append(torn_warning(files, len(line.raw)))
            elif line.problem is not None:
                warnings.append(damage_warning(files, line))
            if line.message is not None:
                yield line.message
