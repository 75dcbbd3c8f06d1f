"""One agent's sessions opened for a command: read without locks, changed under a session's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.clock import format_time
from openclaw_cli.environment import Environment
from openclaw_cli.errors import NotFoundError, OpenclawError, StorageError
from openclaw_cli.paths import SessionFiles, SessionPaths, valid_name
from openclaw_cli.result import Warning
from openclaw_cli.session import catalog, metadata, transcript
from openclaw_cli.session.catalog import Catalog, Lines
from openclaw_cli.session.metadata import Loaded
from openclaw_cli.session.schema import Meta, encode_meta
from openclaw_cli.session.transcript import History
from openclaw_cli.store import files as reading
from openclaw_cli.store import fsio, locks, recovery

#: The code of the warning about a session of which nothing can be read.
UNREADABLE = "session-unreadable"


class Unreadable(NamedTuple):
    """A session that cannot be loaded: why, and what its metadata or the catalogue say of it."""

    error: OpenclawError
    known: Meta


@dataclass(slots=True)
class Survey:
    """What going through all sessions has shown besides their metadata.

    ``foreign`` are names of other programs' files and folders; ``kept`` the lines of the catalogue
    that hold, ``corrected`` by id those that it should have as well, ``odd`` the sessions that no
    line can tell about, ``unreadable`` those that the walk has left out because they cannot be
    read; ``left`` are names of what killed processes had begun to make.
    """

    read: Lines
    kept: list[bytes] = field(default_factory=list)
    corrected: dict[str, bytes] = field(default_factory=dict)
    odd: dict[str, Meta] = field(default_factory=dict)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)
    foreign: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)

    def again(self, session_id: str) -> Meta | None:
        """Return the metadata of a session that the walk has come by, None where no line tells."""
        if session_id in self.odd:
            return self.odd[session_id]
        line = self.corrected.get(session_id) or self.read.newest[session_id.encode()]
        return catalog.told_by(line.rstrip(b"\n"))


@dataclass(slots=True)
class Writer:
    """One session while this process holds its lock."""

    store: SessionStore
    files: SessionFiles
    loaded: Loaded
    meta: Meta
    warnings: list[Warning]

    def save(self, changes: Meta, *, settled: bool = True) -> None:
        """Replace the metadata by a version with ``changes``, then tell the catalogue.

        ``settled=False`` leaves it to the file system when the new version gets its name: for
        counters, which the history knows better after a power cut.
        """
        self.meta = {**self.meta, **changes}
        data = encode_meta(self.meta)
        if self.loaded.damaged:
            found = reading.pieces(self.files.meta)
            kept = fsio.set_aside(self.files.meta, found, "bad", self.store.stamp())
            self.loaded = self.loaded._replace(damaged=False)
            self.warnings.append(
                Warning("set-aside", f"the damaged meta.json was kept in {kept.name}", str(kept))
            )
        if settled:
            fsio.write_file(self.files.meta, data)
        else:
            fsio.replace(self.files.meta, data)
        with fsio.reporting("read", self.files.meta):
            stat = metadata.stat_of(os.stat(self.files.meta))
        self.store.catalog.note(catalog.put_line(self.files.id, self.meta, stat))

    def reload(self) -> None:
        """Load the metadata again after the history has changed its form."""
        self.loaded = self.store.load(self.files)
        self.meta = self.loaded.meta
        self.warnings += [each for each in self.loaded.warnings if each not in self.warnings]

    def mend(self) -> None:
        """Set an unfinished write at the end of the history aside."""
        tail = self.loaded.tail
        if tail is None or not tail.torn:
            return
        kept = transcript.mend(self.files, tail, self.store.stamp())
        self.loaded = self.loaded._replace(tail=tail._replace(size=tail.end))
        self.warnings.append(
            Warning(
                "torn-tail",
                f"an unfinished write of {tail.size - tail.end} bytes at the end of the history"
                f" was set aside in {kept}",
                str(self.files.folder / kept),
            )
        )


class SessionStore:
    """The sessions of one agent."""

    def __init__(self, env: Environment, agent: str) -> None:
        self.env = env
        self.agent = agent
        self.paths: SessionPaths = env.state.sessions(agent)
        self.catalog = Catalog(self.paths, env)

    def now(self) -> str:
        """Return the present as it stands in metadata."""
        return format_time(self.env.clock.now())

    def stamp(self) -> str:
        """Return the present as it stands in the names of files that are set aside."""
        return recovery.stamp(self.env.clock)

    def require(self) -> None:
        """Raise `NotFoundError` naming the nearest agent when this one has no sessions."""
        if self.paths.exists():
            return
        raise NotFoundError(
            f"there is no agent {self.agent!r} with sessions in {self.env.state.root}",
            path=str(self.paths.root),
            hint=self.env.nearest_agent(self.agent, "session new"),
        )

    def load(self, files: SessionFiles) -> Loaded:
        """Return the metadata of a session, corrected; nothing is locked or written."""
        return metadata.load(files, self.agent, self.catalog.known)

    def opened(self, files: SessionFiles) -> AbstractContextManager[tuple[Loaded, History | None]]:
        """Load the metadata of a session together with the history that they go with."""
        return metadata.opened(files, self.agent, self.catalog.known)

    @contextmanager
    def looking_up(self) -> Iterator[None]:
        """Hold the lock under which sessions appear and disappear."""
        self.paths.exists()
        if not os.path.lexists(self.paths.lookup_lock):
            fsio.make_folder(self.paths.root)
            # Who made the folder may have been killed before its name was safe.
            fsio.sync_folder(self.paths.root.parent)
        with self._hold(self.paths.lookup_lock):
            yield

    @contextmanager
    def writing(self, files: SessionFiles) -> Iterator[Writer]:
        """Hold the lock of a session that exists.

        Raises `NotFoundError` when it has been deleted before the lock could be had, and
        `StorageError` when its metadata cannot be read: what they hold would be lost.
        """
        if not os.path.lexists(files.lock):
            if not files.exist():
                raise gone(files.id)
            # Who made the folder may have been killed before its name was safe.
            fsio.sync_folder(self.paths.root)
        with self._hold_session(files):
            fsio.sweep(files.folder)
            fsio.sweep(files.branches)
            loaded = self.load(files)
            if loaded.refused is not None:
                raise loaded.refused
            yield Writer(self, files, loaded, loaded.meta, list(loaded.warnings))

    @contextmanager
    def _hold_session(self, files: SessionFiles) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(self._hold(files.lock))
            except StorageError as error:
                if isinstance(error.__cause__, FileNotFoundError):
                    raise gone(files.id) from error
                raise
            if not files.exist():
                raise gone(files.id)
            yield

    def survey(self) -> Survey:
        """Return the beginning of a walk through all sessions: the catalogue as it is."""
        survey = Survey(self.catalog.read())
        if survey.read.blocked:
            path = str(self.paths.catalog)
            said = f"{path} is no file: every session is asked itself, which is slow; move it away"
            survey.warnings.append(Warning("catalog-blocked", said, path))
        return survey

    def walk(self, survey: Survey, needle: bytes = b"") -> Iterator[Meta]:
        """Yield the metadata of every session, in no order, perhaps without default fields.

        Those that the catalogue is right about come from there, the others are asked themselves.
        With a ``needle`` only lines that contain it are yielded, and whoever has none.
        """
        newest = survey.read.newest
        with fsio.reporting("read", self.paths.root):
            folder = os.open(self.paths.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in _names_in(self.paths.root):
                raw = newest.get(name)
                meta = None if raw is None else _still_told(raw, name, folder, needle)
                if raw is None or meta is None:
                    yield from self._asked(os.fsdecode(name), raw, survey)
                    continue
                survey.kept.append(raw)
                if meta:
                    yield meta
        finally:
            os.close(folder)

    def again(self, survey: Survey, session_id: str) -> Meta:
        """Return the metadata of a session that the walk has come by, all fields checked."""
        meta = survey.again(session_id)
        if meta is not None:
            return meta
        try:
            return self.load(self.paths.session(session_id)).meta
        except OpenclawError:  # deleted in the meantime
            return {"sessionId": session_id}

    def _asked(self, name: str, raw: bytes | None, survey: Survey) -> Iterator[Meta]:
        if name in self.paths.own or name.startswith("."):
            survey.left += [name] if fsio.is_temporary(name) else []
            return
        if not valid_name(name) or not self.paths.session(name).exist():
            if os.path.lexists(self.paths.root / name):
                survey.foreign.append(name)
            return
        told = None if raw is None else catalog.told_by(raw)
        known = self.catalog.known if raw is not None and told is None else lambda _id: told
        try:
            with fsio.reporting("read", self.paths.session(name).folder):
                loaded = metadata.load(self.paths.session(name), self.agent, known)
        except OpenclawError as error:
            survey.warnings.append(Warning(UNREADABLE, error.message, error.path))
            said = metadata.said_by(self.paths.session(name))
            survey.unreadable[name] = Unreadable(error, {**(known(name) or {}), **said})
            survey.kept += [] if raw is None else [raw]
            return
        survey.warnings += loaded.warnings
        line = catalog.put_line(name, loaded.meta, loaded.stat)
        if raw is not None and catalog.is_mark(raw):
            # A change may be going on: who makes it has the last word.
            survey.kept.append(raw)
            survey.odd[name] = loaded.meta
        elif loaded.warnings or catalog.is_mark(line):
            survey.odd[name] = loaded.meta
            # What it says is asked for again as long as the session cannot say so itself.
            survey.kept += [] if raw is None else [raw]
        else:
            survey.corrected[name] = line
        yield loaded.meta

    def tidy(self, survey: Survey) -> None:
        """Let the catalogue say what a finished walk has found; under the lookup lock."""
        own = f".{self.paths.catalog.name}"
        fsio.sweep(self.paths.root, [name for name in survey.left if not name.startswith(own)])
        self.catalog.tidy(survey.read, survey.kept, survey.corrected)

    @contextmanager
    def _hold(self, path: Path) -> Iterator[None]:
        env = self.env
        with locks.hold(path, clock=env.clock, timeout=env.lock_timeout, holder=env.holder):
            yield


def _still_told(raw: bytes, name: bytes, folder: int, needle: bytes) -> Meta | None:
    """Return what a line tells if it is sound and meta.json still the file that it tells about.

    That is nothing for a line without the ``needle``.
    """
    try:
        found = os.stat(name + b"/meta.json", dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None  # missing or out of reach: the session itself will tell
    stat = (found.st_mtime_ns, found.st_size, found.st_ino)
    if not needle:
        return catalog.sketched_by(raw, name, stat)
    if not catalog.holds(raw, name, stat):
        return None
    return catalog.told_by(raw) if needle in raw else {}


def _names_in(folder: Path) -> list[bytes]:
    with fsio.reporting("read", folder):
        return os.listdir(os.fsencode(folder))


def gone(session_id: str) -> NotFoundError:
    """Return the error for a session that is not there."""
    return NotFoundError(
        f"there is no session {session_id}",
        hint="openclaw session list --status all shows those that exist,"
        " session trash list those deleted",
    )
