"""What a user is forgotten by: their own sessions, and their messages in those of groups.

Nothing is written down about a purge that is going on: every step can be done again, and what tells
which sessions are the user's, the sessions themselves, goes last. So one that was interrupted is
run again. The order is: the ledger, what other sessions say about those that go, the messages in
groups, the sessions, the catalogue.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.errors import NotFoundError
from openclaw_cli.paths import SessionFiles, valid_name
from openclaw_cli.result import Progress, Warning, no_progress
from openclaw_cli.session import catalog, ledger, metadata, transcript, trimming
from openclaw_cli.session.schema import Meta
from openclaw_cli.session.store import SessionStore
from openclaw_cli.store import files as reading
from openclaw_cli.store import fsio, locks, trash
from openclaw_cli.store.newfile import NewFile


@dataclass(slots=True)
class Forgotten:
    """What a purge removed (or would remove) of one agent's sessions.

    ``groups`` are sessions in which messages of the user were left, ``trimmed`` those from which
    they were removed, ``group_messages`` how many messages that are; ``ids`` and ``texts`` are what
    can be looked for afterwards.
    """

    agent: str
    sessions: int = 0
    messages: int = 0
    group_messages: int = 0
    ledger_lines: int = 0
    bytes: int = 0
    groups: list[str] = field(default_factory=list)
    trimmed: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    warnings: list[Warning] = field(default_factory=list)


class _Voices(NamedTuple):
    """How many messages of a session are the user's and how many bytes these are, whether others
    speak too, and the texts that are to go."""

    spoken: int
    size: int
    others: bool
    texts: set[str]


class _Place(NamedTuple):
    """A session, in its place or in the trash, and how it holds data of the user."""

    files: SessionFiles
    name: str
    in_trash: bool
    is_own: bool
    voices: _Voices


def forget_user(
    store: SessionStore,
    user: str,
    *,
    group_messages: bool,
    dry_run: bool,
    progress: Progress = no_progress,
) -> Forgotten:
    """Remove a user's own sessions for good, those in the trash too.

    A session is the user's own when it says so and nobody else speaks in it. From any other one
    their messages are removed only with ``group_messages``, the idx of the others stay; without it
    the session is reported. A dry run only counts.
    """
    report = Forgotten(store.agent)
    if not store.paths.exists() and not os.path.isdir(store.paths.trash):
        return report
    if not dry_run:
        _sweep(store)
    places = list(_places(store, user, report, progress))
    own = [place for place in places if place.is_own]
    report.ids = sorted({place.name for place in own})
    report.sessions = len(own)
    report.bytes = sum(_size(place.files.folder) for place in own)
    groups = [place for place in places if not place.is_own]
    _name_groups(report, groups, group_messages=group_messages)
    if dry_run:
        report.ledger_lines = _count_lines(store, set(report.ids))
        return report
    _forget_lines(store, report)
    _forget_references(store, set(report.ids))
    for place in groups if group_messages else ():
        _trim(store, place, user)
    for place in own:
        _remove(store, place)
    _forget_lines(store, report)  # what a runtime has recorded meanwhile
    with store.looking_up():
        store.catalog.forget()
    return report


def _name_groups(report: Forgotten, groups: list[_Place], *, group_messages: bool) -> None:
    names = sorted({place.name for place in groups})
    report.group_messages = sum(place.voices.spoken for place in groups)
    if group_messages:
        report.trimmed = names
        report.bytes += sum(place.voices.size for place in groups)
    else:
        report.groups = names


def _sweep(store: SessionStore) -> None:
    """Remove what killed processes have left half made."""
    own = f".{store.paths.catalog.name}"
    with store.looking_up():
        names = [name for name in os.listdir(store.paths.root) if fsio.is_temporary(name)]
        fsio.sweep(store.paths.root, [name for name in names if not name.startswith(own)])
        fsio.sweep(store.paths.trash)
        for entry in trash.entries(store.paths.trash):
            fsio.sweep(entry.path)
    for folder in (entry for entry in os.scandir(store.paths.root) if entry.is_dir()):
        if valid_name(folder.name) and any(map(fsio.is_temporary, os.listdir(folder.path))):
            with suppress(NotFoundError), store.writing(store.paths.session(folder.name)):
                pass  # taking the lock sweeps
    if os.path.isdir(store.paths.incoming):
        with _held(store, store.paths.incoming_lock):
            fsio.sweep(store.paths.incoming)


def _held(store: SessionStore, path: Path) -> AbstractContextManager[None]:
    env = store.env
    return locks.hold(path, clock=env.clock, timeout=env.lock_timeout, holder=env.holder)


# -- what is the user's ----------------------------------------------------------------------------


def _places(
    store: SessionStore, user: str, report: Forgotten, progress: Progress
) -> Iterator[_Place]:
    survey = store.survey()
    names = [str(meta["sessionId"]) for meta in store.walk(survey)] if store.paths.exists() else []
    report.warnings += [each for each in survey.warnings if each.code == "session-unreadable"]
    found = [(store.paths.session(name), name, False) for name in sorted(names)]
    entries = trash.entries(store.paths.trash)
    found += [(SessionFiles(entry.path), entry.name, True) for entry in entries]
    for number, (files, name, in_trash) in enumerate(found):
        progress("reading", number, len(found))
        known = (lambda _id: None) if in_trash else store.catalog.known
        meta = metadata.load(files, store.agent, known, name).meta
        is_own = meta["userId"] == user
        voices = _voices(files, user, meta)
        if not is_own and not voices.spoken:
            continue
        report.messages += voices.spoken
        report.texts |= voices.texts
        yield _Place(files, name, in_trash, is_own and not voices.others, voices)


def _voices(files: SessionFiles, user: str, meta: Meta) -> _Voices:
    """Read a session for what the user and others say in it."""
    spoken, size, others = 0, 0, False
    said: set[str] = set()
    own: set[str] = set()
    with transcript.opened(files) as history:
        for line in history.forward() if history is not None else ():
            if line.message is None:
                continue
            text = trimming.told(line.message)
            if trimming.is_of(line.message, user, meta):
                spoken, size = spoken + 1, size + len(line.raw)
                own |= text
            elif trimming.sender_of(line.message) is not None:
                others = True
            elif not others and meta["userId"] == user:
                said |= text  # of the assistant: it goes where the whole session goes
    texts = own if others or meta["userId"] != user else own | said
    return _Voices(spoken, size, others, texts)


def _size(folder: Path) -> int:
    total = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            total += os.lstat(os.path.join(parent, name)).st_size
    return total


# -- the ledger ------------------------------------------------------------------------------------


def _count_lines(store: SessionStore, gone: set[str]) -> int:
    return sum(1 for line in ledger.lines(store.paths.ledger) if _is_gone(line, gone))


def _is_gone(line: ledger.Line, gone: set[str]) -> bool:
    if line.turn is not None:
        return line.turn["SessionId"] in gone
    return any(name.encode() in line.raw for name in gone)


def _forget_lines(store: SessionStore, report: Forgotten) -> None:
    """Write the ledger without the lines of sessions that go; also what was set aside from it."""
    gone, path = set(report.ids), store.paths.ledger
    if not gone or not os.path.isdir(path.parent):
        return
    with _held(store, store.paths.ledger_lock):
        fsio.sweep(path.parent)
        count = _count_lines(store, gone)
        if count:
            temp = fsio.temp_name(path)
            with NewFile(temp) as target:
                for piece in _kept_lines(path, gone):
                    target.write(piece)
            fsio.move(temp, path)
            report.ledger_lines += count
        for aside in sorted(path.parent.glob(f"{path.name}.*")):
            if reading.holds(aside, [name.encode() for name in gone]):
                fsio.remove(aside)


def _kept_lines(path: Path, gone: set[str]) -> Iterator[bytes]:
    with os.fdopen(reading.open_regular(path), "rb") as source:
        for line in ledger.lines(path):
            if line.raw and not _is_gone(line, gone):
                yield line.raw
            elif not line.raw:  # too long to be held: copied in pieces
                source.seek(line.at)
                while piece := source.readline(1 << 16):
                    yield piece
                    if piece.endswith(b"\n"):
                        break


# -- sessions --------------------------------------------------------------------------------------


def _forget_references(store: SessionStore, gone: set[str]) -> None:
    """Take the ids of sessions that go out of the metadata of their parents and children."""
    survey = store.survey()
    for meta in store.walk(survey):
        name = str(meta["sessionId"])
        if name in gone or not gone.intersection(_references(meta)):
            continue
        try:
            with store.writing(store.paths.session(name)) as writer:
                writer.save(trimming.without_references(writer.meta, gone))
        except NotFoundError:
            continue  # deleted in the meantime
    for entry in trash.entries(store.paths.trash):
        files = SessionFiles(entry.path)
        loaded = metadata.load(files, store.agent, lambda _id: None, entry.name)
        if entry.name not in gone and gone.intersection(_references(loaded.meta)):
            changes = trimming.without_references(loaded.meta, gone)
            fsio.write_file(files.meta, trimming.encoded(loaded.meta, changes))


def _references(meta: Meta) -> list[str]:
    parent = meta.get("parentSessionId")
    return [*meta.get("childSessionIds", ()), *([parent] if isinstance(parent, str) else [])]


def _trim(store: SessionStore, place: _Place, user: str) -> None:
    """Remove the user's messages from a session.

    The counters come first and the owner's name last, so that until all is done it is seen that
    something is to be done.
    """
    if place.in_trash:
        with store.looking_up():
            meta = metadata.load(place.files, store.agent, lambda _id: None, place.name).meta
            changes, traces = trimming.plan(place.files, user, meta)
            fsio.write_file(place.files.meta, trimming.encoded(meta, changes))
            trimming.trim(place.files, user, meta, traces)
            if meta["userId"] == user:
                nobody = {**changes, "userId": None}
                fsio.write_file(place.files.meta, trimming.encoded(meta, nobody))
        return
    try:
        with store.writing(place.files) as writer:
            store.catalog.add(catalog.mark_line(place.files.id))
            changes, traces = trimming.plan(place.files, user, writer.meta)
            writer.loaded = writer.loaded._replace(damaged=False)
            writer.save(changes)
            trimming.trim(place.files, user, writer.meta, traces)
            if writer.meta["userId"] == user:
                writer.save({"userId": None})
    except NotFoundError:
        return


def _remove(store: SessionStore, place: _Place) -> None:
    """Remove a session for good: in one step for everybody else, its files after that."""
    doomed = fsio.temp_name(place.files.folder.with_name("purged"))  # a name that tells nothing
    if place.in_trash:
        with store.looking_up():
            fsio.move(place.files.folder, doomed)
            fsio.remove_tree(doomed)
        return
    try:
        with store.looking_up(), store.writing(place.files):
            fsio.move(place.files.folder, doomed)
            fsio.remove_tree(doomed)
            fsio.sync_folder(doomed.parent)
    except NotFoundError:
        return
