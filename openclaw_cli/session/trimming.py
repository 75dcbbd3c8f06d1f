"""A history written anew without one user's messages: the idx of all others stay."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from openclaw_cli.errors import DamagedError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import transcript
from openclaw_cli.session.lines import Line
from openclaw_cli.session.metadata import KNOWN_GAP
from openclaw_cli.session.schema import Message, Meta, Totals, encode_meta
from openclaw_cli.session.transcript import History
from openclaw_cli.store import fsio
from openclaw_cli.store.newfile import NewFile
from openclaw_cli.store.traces import Traces

_GZIP_WINDOW = 31
#: Characters by which a text is known afterwards; a shorter one than the least says nothing.
_LONGEST_TEXT = 2000


def sender_of(message: Message) -> str | None:
    """Return who has sent a message, None where it does not say."""
    sender = message.get("sender")
    user = sender.get("userId") if isinstance(sender, dict) else None
    return user if isinstance(user, str) else None


def is_of(message: Message, user: str, meta: Meta) -> bool:
    """Tell whether a message is one of the user's.

    In a session of the user's, what a user says is theirs unless it names another sender.
    """
    sender = sender_of(message)
    if sender is not None:
        return sender == user
    return meta.get("userId") == user and message.get("role") == "user"


def told(message: Message) -> set[str]:
    """Return the text of a message in a form in which it can be looked for; none if it is blank."""
    content = message.get("content")
    if not isinstance(content, str) or not content.strip():
        return set()
    return {content[:_LONGEST_TEXT]}


def without_references(meta: Meta, gone: set[str]) -> Meta:
    """Return the changes that take ids out of what metadata say about parent and children."""
    children = [name for name in meta.get("childSessionIds", ()) if name not in gone]
    parent = meta.get("parentSessionId")
    return {"childSessionIds": children, "parentSessionId": None if parent in gone else parent}


def encoded(meta: Meta, changes: Meta) -> bytes:
    """Return the bytes of metadata with changes."""
    return encode_meta({**meta, **changes})


def plan(files: SessionFiles, user: str, meta: Meta) -> tuple[Meta, Traces]:
    """Return the counters of a history without the user's messages, and what tells of the user.

    Raises `DamagedError` for a history that cannot be read to its end.
    """
    totals, following = Totals(), 0
    texts: set[str] = set()
    with transcript.opened(files) as history:
        for line in history.forward() if history is not None else ():
            _refuse_unreadable(files, line)
            if line.message is None:
                continue
            if is_of(line.message, user, meta):
                texts |= told(line.message)
            else:
                totals, following = totals.plus(line.message), line.message["idx"] + 1
    count = max(meta["messageCount"], following)
    changes = {**totals.added_to({}), "messageCount": count, "summaryCheckpoint": None}
    if following < count:
        changes[KNOWN_GAP] = [following, count]  # no idx is given again
    return changes, Traces((), texts, user)


def trim(files: SessionFiles, user: str, meta: Meta, traces: Traces) -> None:
    """Remove the user's messages from a history; the caller holds the session's lock.

    The files beside it that could repeat them go as well: what was set aside and tells of the
    user, the context, and a compressed twin.
    """
    for path in _set_aside(files):
        if traces.are_in(path):
            fsio.remove(path)
    fsio.remove(files.context)
    with transcript.opened(files) as history:
        if history is not None:
            _rewrite(files, history, traces, user, meta)
    if os.path.lexists(files.history):
        fsio.remove(files.packed)


def _refuse_unreadable(files: SessionFiles, line: Line) -> None:
    """Raise `DamagedError` for what cannot be read, so that nobody knows whose it is."""
    if line.message is None and not line.raw:
        raise DamagedError(
            f"session {files.id}: {line.place} of the history: {line.problem}",
            path=str(files.folder),
            hint=f"openclaw session verify --repair {files.id}, then purge again",
        )


def _rewrite(files: SessionFiles, history: History, traces: Traces, user: str, meta: Meta) -> None:
    target = files.packed if history.packed else files.history
    temp = fsio.temp_name(target)
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW) if history.packed else None
    with NewFile(temp) as file:
        for line in history.forward():
            if _stays(line, traces, user, meta):
                raw = line.raw if line.raw.endswith(b"\n") else line.raw + b"\n"
                file.write(raw if packer is None else packer.compress(raw))
        if packer is not None:
            file.write(packer.flush())
    fsio.move(temp, target)


def _stays(line: Line, traces: Traces, user: str, meta: Meta) -> bool:
    """Tell whether a line stays: damage only where nothing in it is the user's."""
    if line.message is not None:
        return not is_of(line.message, user, meta)
    return bool(line.raw) and not traces.count(line.raw)


def _set_aside(files: SessionFiles) -> Iterator[Path]:
    for path in sorted(files.folder.iterdir()):
        if (".bad-" in path.name or ".torn-" in path.name) and path.is_file():
            yield path
