"""``session list``, ``show`` and ``tail``: what there is, without changing it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, MutableSequence
from datetime import datetime
from typing import Any

from openclaw_cli.clock import format_time, parse_time
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.requests import SessionFilter, SessionListRequest
from openclaw_cli.session.schema import Message, Meta, new_meta
from openclaw_cli.session.store import SessionStore, Survey
from openclaw_cli.session.transcript import Line

SORTS = ("last-active", "created", "messages", "cost")
_SHOWN_FOREIGN = 20


def complete(meta: Meta, agent: str) -> Meta:
    """Return metadata with every field, in the usual order."""
    created = meta.get("createdAt", "")
    return {**new_meta(meta["sessionId"], agent, created), **meta}


def moment_key(text: str) -> str:
    """Return a time as a text that sorts as the moments do."""
    if text.endswith("Z") and len(text) in (20, 24):
        return text[:-1]
    return format_time(parse_time(text))[:-1]


def _order(sort: str) -> Callable[[Meta], tuple[Any, str]]:
    def key(meta: Meta) -> tuple[Any, str]:
        if sort == "messages":
            return meta.get("messageCount", 0), meta["sessionId"]
        if sort == "cost":
            return meta.get("totalCost", 0), meta["sessionId"]
        name = "createdAt" if sort == "created" else "lastActiveAt"
        return moment_key(meta[name]), meta["sessionId"]

    return key


def _fits(filters: SessionFilter) -> Callable[[Meta], bool]:
    """Return what tells whether a session is to be listed."""
    checks: list[Callable[[Meta], bool]] = []

    def one_of(name: str, values: tuple[str, ...] | None) -> None:
        if values:
            checks.append(lambda meta: meta.get(name) in values)

    one_of("status", filters.status)
    one_of("channel", filters.channel)
    one_of("chatId", filters.chat)
    one_of("userId", filters.user)
    if filters.tag:
        wanted = set(filters.tag)
        checks.append(lambda meta: not wanted.isdisjoint(meta.get("tags", ())))
    since, until = _bound(filters.since), _bound(filters.until)
    if since is not None:
        checks.append(lambda meta: moment_key(meta["lastActiveAt"]) >= since)
    if until is not None:
        checks.append(lambda meta: moment_key(meta["lastActiveAt"]) < until)
    return lambda meta: all(check(meta) for check in checks)


def _bound(moment: datetime | None) -> str | None:
    return None if moment is None else moment_key(format_time(moment))


def listing(store: SessionStore, request: SessionListRequest) -> Result:
    """Return the first sessions of a filter, their number, and what of others is there."""
    store.require()
    survey = store.survey()
    fits = _fits(request.filters)
    total = 0

    def matching() -> Iterator[Meta]:
        nonlocal total
        for meta in store.walk(survey):
            if fits(meta):
                total += 1
                yield meta

    order = _order(request.sort)
    if request.limit is None:
        found = sorted(matching(), key=order, reverse=True)
    else:
        import heapq

        found = heapq.nlargest(request.limit, matching(), key=order)
    items = [complete(meta, store.agent) for meta in found]
    data = {"items": items, "total": total, "foreign": foreign(survey)}
    return Result("session.list", data, tuple(survey.warnings))


def foreign(survey: Survey) -> dict[str, Any]:
    """Return what other programs keep among the sessions: how much, and the first names."""
    names = sorted(survey.foreign)
    return {"count": len(names), "names": names[:_SHOWN_FOREIGN]}


def stream(
    store: SessionStore, request: SessionListRequest, warnings: MutableSequence[Warning]
) -> Iterator[Meta]:
    """Yield the sessions of a filter in order; ``warnings`` is added to on the way."""
    result = listing(store, request)
    warnings.extend(result.warnings)
    yield from result.data["items"]


def show(store: SessionStore, files: SessionFiles) -> Result:
    """Return a session's metadata, where it lies and how many bytes its files have."""
    loaded = store.load(files)
    warnings = list(loaded.warnings)
    tail = loaded.tail
    if tail is not None:
        warnings += [damage_warning(files, line) for line in tail.damage]
        if tail.torn:
            warnings.append(torn_warning(files, tail.size - tail.end))
    with os.scandir(files.folder) as entries:
        size = sum(e.stat(follow_symlinks=False).st_size for e in entries if e.is_file())
    data = {**loaded.meta, "path": str(files.folder), "bytes": size}
    return Result("session.show", data, tuple(warnings))


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
    _ = store
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
