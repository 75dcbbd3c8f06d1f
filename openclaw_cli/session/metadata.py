"""The metadata of a session as it is on disk, with what a history or the catalogue knows better."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from openclaw_cli.clock import format_time, from_millis, parse_time
from openclaw_cli.errors import DamagedError, StorageError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.lines import Line
from openclaw_cli.session.schema import (
    COUNTERS,
    Message,
    Meta,
    Totals,
    is_time,
    new_meta,
    parse_meta,
)
from openclaw_cli.session.transcript import History, Tail
from openclaw_cli.store import files as reading
from openclaw_cli.store.fsio import reporting

#: How many messages that the metadata does not know of are looked at from the end; a history that
#: is further ahead is counted from its beginning.
CATCH_UP = 10_000

#: Fields without which metadata cannot have been written by this program.
REQUIRED = ("sessionId", "createdAt")
#: The field ``[begin, end]`` of metadata: messages from ``begin`` to before ``end``, the last of a
#: history, have gone for good, and that is known: a purge has removed them, or a repair has found
#: them lost. No idx is given again.
KNOWN_GAP = "knownGap"
#: The code of the warning about messages that are missing at the end of a history.
HISTORY_SHORT = "history-short"

#: Size, time and inode of meta.json; they change whenever it is replaced.
Stat = tuple[int, int, int]


class Loaded(NamedTuple):
    """A session's metadata, corrected.

    ``stat`` is that of the file it comes from, None when there is none; ``damaged`` tells that
    there is one that cannot be used as it is, to be kept when it is replaced, ``refused`` is why
    one cannot be read: it must not be replaced then. ``tail`` is None for a session without a
    plain history.
    """

    meta: Meta
    stat: Stat | None
    tail: Tail | None
    damaged: bool = False
    warnings: tuple[Warning, ...] = ()
    refused: StorageError | None = None


class _Stored(NamedTuple):
    """meta.json as found: its bytes (none of one that is too large) and its stat, or why it cannot
    be read."""

    data: bytes | None = None
    stat: Stat | None = None
    refused: StorageError | None = None


def stat_of(found: os.stat_result) -> Stat:
    """Return what tells one meta.json from the next."""
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def load(
    files: SessionFiles, agent: str, known: Callable[[str], Meta | None], name: str | None = None
) -> Loaded:
    """Return the metadata of a session, whatever has become of meta.json.

    ``known`` returns what the catalogue says about an id; it is asked when meta.json is missing or
    damaged, or is that of another session. ``name`` is the id of a session whose folder has another
    name. Counters that are behind the history are brought up to it; where the history is shorter
    than they say, the number of the next message stays. Nothing is written.
    """
    with opened(files, agent, known, name) as (loaded, _history):
        return loaded


@contextmanager
def opened(
    files: SessionFiles, agent: str, known: Callable[[str], Meta | None], name: str | None = None
) -> Iterator[tuple[Loaded, History | None]]:
    """Load a session's metadata (`load`), with the very history that they have been compared with.

    Raises `StorageError` or `DamagedError` when the history cannot be opened.
    """
    name = name or files.id
    stored = _read(files)
    sound, problem = _sound(stored, name)
    warnings = []
    if problem is not None:
        sound = {**(known(name) or {}), **sound}
        source = "the catalogue and the history" if sound else "the history"
        warnings.append(
            Warning(
                "meta-damaged" if stored.refused is None else "meta-unreadable",
                f"session {name}: meta.json: {problem}; going by {source}",
                str(files.meta),
            )
        )
    with transcript.opened(files) as history:
        meta, tail = _complete(files, {**sound, "sessionId": name}, history, agent)
        warnings += _losses(files, meta, history, tail)
        if history is not None:
            history.source.seek(0)  # it may have been counted
        damaged = problem is not None and stored.stat is not None
        yield Loaded(meta, stored.stat, tail, damaged, tuple(warnings), stored.refused), history


def said_by(files: SessionFiles) -> Meta:
    """Return what meta.json says, as far as it can be used, of a session that cannot be loaded."""
    return _sound(_read(files), files.id)[0]


def _read(files: SessionFiles) -> _Stored:
    try:
        fd = reading.open_existing(files.meta)
        if fd is None:
            return _Stored()
        with reporting("read", files.meta), os.fdopen(fd, "rb") as source:
            state = os.fstat(fd)
            is_read = state.st_size <= reading.LIMIT
            return _Stored(source.read() if is_read else None, stat_of(state))
    except DamagedError:
        return _Stored()  # no file: what the program writes takes its place
    except StorageError as error:
        return _Stored(refused=error)


def _sound(stored: _Stored, name: str) -> tuple[Meta, str | None]:
    """Return the fields of meta.json that can be used, and what is wrong with it."""
    if stored.data is None:
        if stored.stat is not None:
            return {}, f"it is {reading.too_large(reading.LIMIT)}"
        return {}, "it is missing" if stored.refused is None else "it cannot be read"
    sound, problems = parse_meta(stored.data)
    if problems:
        problem: str | None = problems[0]
    else:
        lacking = [field for field in REQUIRED if field not in sound]
        problem = f"it has no {lacking[0]}" if lacking else None
    if sound.get("sessionId", name) != name:
        # Nothing in it is about this session: neither whose it is, nor what it is looked up by.
        return {}, f"it is that of session {str(sound['sessionId'])[:128]}"
    return sound, problem


def _losses(
    files: SessionFiles, meta: Meta, history: History | None, tail: Tail | None
) -> Iterator[Warning]:
    """Yield what is to be told where messages have been acknowledged that are not there.

    An append makes its messages durable before meta.json is replaced, so that metadata which are
    ahead of the history tell of a loss.
    """
    count = meta["messageCount"]
    if history is None and count:
        said = f"{count} messages are gone with their file"
        yield Warning("history-missing", f"session {files.id}: {said}", str(files.history))
    elif tail is not None and tail.next_idx < count and not is_known_gap(meta, tail.next_idx):
        said = f"session {files.id}: {gap(tail.next_idx, count)}"
        yield Warning(HISTORY_SHORT, said, str(files.history))


def gap(following: int, count: int) -> str:
    """Say that the history of a session ends before its last message."""
    missing = f"message {following} is"
    if count - following > 1:
        missing = f"messages {following} to {count - 1} are"
    return f"{missing} missing at the end of the history; the next one gets idx {count}"


def is_known_gap(meta: Meta, following: int) -> bool:
    """Tell whether it is known that the messages from ``following`` on have gone for good."""
    known = meta.get(KNOWN_GAP)
    if not isinstance(known, list) or len(known) != 2:
        return False
    begin, end = known
    return isinstance(begin, int) and begin <= following and end == meta["messageCount"]


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
    """Return the fields in which the history knows better than the metadata.

    To a compressed history they are compared only if its session does not say that it is archived:
    their counters are settled before they say so.
    """
    count = sound.get("messageCount")
    complete = all(name in sound for name in COUNTERS)
    settled = sound.get("status") == "archived" if tail is None else tail.next_idx == count
    if complete and settled:
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
    found = {**totals.added_to({}), **_latest(sound, last, max(following, count or 0))}
    if tail is None:
        found.pop("status", None)  # nobody has written to it since it was compressed
    return found


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
