"""The metadata of a session as it is on disk, with what a history or the catalogue knows better."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from openclaw_cli.clock import format_time, from_millis, parse_time
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.schema import (
    COUNTERS,
    Message,
    Meta,
    Totals,
    is_time,
    new_meta,
    parse_meta,
)
from openclaw_cli.session.transcript import History, Line, Tail
from openclaw_cli.store import files as reading
from openclaw_cli.store.fsio import reporting

#: How many messages that the metadata does not know of are looked at from the end; a history that
#: is further ahead is counted from its beginning.
CATCH_UP = 10_000

#: Size, time and inode of meta.json; they change whenever it is replaced.
Stat = tuple[int, int, int]


class Loaded(NamedTuple):
    """A session's metadata, corrected.

    ``stat`` is that of the file it comes from, None when there is none; ``damaged`` are the bytes
    of a file that cannot be used as it is, to be kept when it is replaced. ``tail`` is None for a
    session without a plain history.
    """

    meta: Meta
    stat: Stat | None
    tail: Tail | None
    damaged: bytes | None = None
    warnings: tuple[Warning, ...] = ()


def stat_of(found: os.stat_result) -> Stat:
    """Return what tells one meta.json from the next."""
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def load(files: SessionFiles, agent: str, known: Callable[[str], Meta | None]) -> Loaded:
    """Return the metadata of a session, whatever has become of meta.json.

    ``known`` returns what the catalogue says about an id; it is asked when meta.json is missing or
    damaged. Counters that are behind the history are brought up to it. Nothing is written.
    """
    data, stat = _read(files)
    sound, problems = parse_meta(data) if data is not None else ({}, ["it is missing"])
    warnings = []
    if problems:
        sound = {**(known(files.id) or {}), **sound}
        source = "the catalogue and the history" if sound else "the history"
        warnings.append(
            Warning(
                "meta-damaged",
                f"session {files.id}: meta.json: {problems[0]}; going by {source}",
                str(files.meta),
            )
        )
    with transcript.opened(files) as history:
        meta, tail = _complete(files, {**sound, "sessionId": files.id}, history, agent)
    if history is None and meta["messageCount"]:
        warnings.append(
            Warning(
                "history-missing",
                f"session {files.id}: {meta['messageCount']} messages are gone with their file",
                str(files.history),
            )
        )
    return Loaded(meta, stat, tail, data if problems else None, tuple(warnings))


def _read(files: SessionFiles) -> tuple[bytes | None, Stat | None]:
    try:
        fd = reading.open_regular(files.meta)
    except (FileNotFoundError, ValueError):
        return None, None
    with reporting("read", files.meta), os.fdopen(fd, "rb") as source:
        return source.read(), stat_of(os.fstat(fd))


def _complete(
    files: SessionFiles, sound: Meta, history: History | None, agent: str
) -> tuple[Meta, Tail | None]:
    """Return metadata with every field: what is sound, counted, and guessed, in this order."""
    tail = history.tail() if history is not None and not history.packed else None
    meta = {**new_meta(files.id, agent, ""), **sound}
    if history is not None:
        meta |= _counted(sound, history, tail)
        if history.packed and "status" not in sound:
            meta["status"] = "archived"
    if not meta["createdAt"]:
        meta["createdAt"] = _born(files, history)
    if not meta["lastActiveAt"]:
        meta["lastActiveAt"] = meta["createdAt"]
    return meta, tail


def _counted(sound: Meta, history: History, tail: Tail | None) -> Meta:
    """Return the fields in which the history knows better than the metadata."""
    count = sound.get("messageCount")
    complete = all(name in sound for name in COUNTERS)
    if complete and (tail is None or tail.next_idx == count):
        return {}
    ahead = 0 if tail is None or count is None else tail.next_idx - count
    if tail is not None and complete and 0 < ahead <= CATCH_UP:
        totals = _sum(_after(history.backward(), tail.next_idx - ahead))
        return {**totals.added_to(sound), **_latest(sound, tail.last, tail.next_idx)}
    history.source.seek(0)
    totals, last = Totals(), None
    for line in history.forward():
        if line.message is not None:
            totals, last = totals.plus(line.message), line.message
    following = tail.next_idx if tail is not None else 0 if last is None else last["idx"] + 1
    return {**totals.added_to({}), **_latest(sound, last, following)}


def _after(lines: Iterable[Line], idx: int) -> Iterable[Message]:
    for line in lines:
        if line.message is None:
            continue
        if line.message["idx"] < idx:
            return
        yield line.message


def _sum(messages: Iterable[Message]) -> Totals:
    totals = Totals()
    for message in messages:
        totals = totals.plus(message)
    return totals


def _latest(sound: Meta, last: Message | None, count: int) -> Meta:
    """Return what messages that the metadata did not know of make of it: it was active then."""
    found: Meta = {"messageCount": count}
    before = sound.get("lastActiveAt")
    moment = "" if last is None else last.get("ts", "")
    if is_time(moment) and (before is None or parse_time(moment) > parse_time(before)):
        found["lastActiveAt"] = moment
    if "status" in sound and count > sound.get("messageCount", count):
        found["status"] = "active"
    return found


def _born(files: SessionFiles, history: History | None) -> str:
    """Return when a session began that does not say so: with its first message, or its folder."""
    if history is not None:
        history.source.seek(0)
        for line in history.forward():
            if line.message is not None and is_time(line.message.get("ts")):
                return str(line.message["ts"])
    with reporting("read", files.folder):
        return format_time(from_millis(os.stat(files.folder).st_mtime_ns // 1_000_000))
