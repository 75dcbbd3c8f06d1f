"""Names to paths: where everything lies below the state directory, and which names may lead in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.errors import InvalidNameError, StorageError, UsageError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
SHARED_AGENT = "_shared"
SCOPES = ("user", "agent")


def valid_name(name: str) -> bool:
    """Tell whether ``name`` may be an agent, session, record or branch id."""
    return _NAME.fullmatch(name) is not None


def check_name(kind: str, name: str) -> str:
    """Return ``name`` if it may become part of a path, else raise `InvalidNameError`."""
    if not valid_name(name):
        shown = repr(name if len(name) <= 60 else name[:60] + "...")
        raise InvalidNameError(
            f"{shown} is not a valid {kind} id",
            hint="ids are 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit",
        )
    return name


def resolve_state_dir(option: str | None, environ: Mapping[str, str] | None = None) -> Path:
    """Return the state directory: option, OPENCLAW_STATE_DIR, OPENCLAW_HOME/.openclaw, ~/.openclaw.

    With OPENCLAW_PROFILE other than "default" the last one is ``~/.openclaw-<profile>``.
    """
    env = os.environ if environ is None else environ
    chosen = option or env.get("OPENCLAW_STATE_DIR")
    if chosen:
        return _expanded(chosen, env)
    home = env.get("OPENCLAW_HOME")
    if home:
        return _expanded(home, env) / ".openclaw"
    profile = env.get("OPENCLAW_PROFILE") or "default"
    suffix = "" if profile == "default" else "-" + check_name("profile", profile)
    return Path(home_folder(env)) / f".openclaw{suffix}"


def home_folder(env: Mapping[str, str]) -> str:
    """Return the operator's home directory; refuse an empty or relative $HOME.

    The empty one would be the root directory; without the variable the system is asked.
    """
    home = os.path.expanduser("~")
    if env.get("HOME") == "" or not os.path.isabs(home):
        raise UsageError(
            "the home directory is unknown", hint="set HOME, or give --state-dir DIRECTORY"
        )
    return home


def _expanded(name: str, env: Mapping[str, str]) -> Path:
    if name == "~" or name.startswith("~/"):
        home_folder(env)
    return Path(os.path.abspath(os.path.expanduser(name)))


class StatePaths(NamedTuple):
    """The places directly below the state directory."""

    root: Path

    @property
    def config(self) -> Path:
        """The configuration file."""
        return self.root / "openclaw.json"

    @property
    def models(self) -> Path:
        """Where the operator's own models lie, a folder each."""
        return self.root / "models"

    @property
    def agents(self) -> Path:
        """The folder of all agents."""
        return self.root / "agents"

    @property
    def logs(self) -> Path:
        """Where tracebacks of unexpected failures go."""
        return self.root / "logs"

    def memory(self, agent: str) -> MemoryPaths:
        """Return the memory paths of ``agent``; its id is checked before a path is built."""
        return MemoryPaths(self.root, self.agents / check_name("agent", agent) / "memory")

    def sessions(self, agent: str) -> SessionPaths:
        """Return the session paths of ``agent``; its id is checked before a path is built."""
        return SessionPaths(self.root, self.agents / check_name("agent", agent))

    def agent_ids(self) -> list[str]:
        """Return the ids of the agents that exist, sorted."""
        try:
            with os.scandir(self.agents) as entries:
                return sorted(e.name for e in entries if valid_name(e.name) and e.is_dir())
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise StorageError(
                f"{self.agents} is not a directory",
                path=str(self.agents),
                hint="give another --state-dir, or move the file away",
            ) from error


class MemoryPaths:
    """The places of one agent's memory (``<state>/agents/<id>/memory``)."""

    def __init__(self, state: Path, root: Path) -> None:
        self.state = state
        self.root = root
        self._folders = {scope: os.path.join(root, "records", scope) for scope in SCOPES}

    def records(self, scope: str) -> Path:
        """The folder of the records of ``scope`` ("user" or "agent")."""
        return self.root / "records" / scope

    def record(self, scope: str, record_id: str) -> Path:
        """The file of one record; the id is checked before the path is built."""
        return Path(self.record_name(scope, record_id))

    def record_name(self, scope: str, record_id: str) -> str:
        """`record` as a text: making a ``Path`` costs as much as looking for the file."""
        return f"{self._folders[scope]}{os.sep}{check_name('record', record_id)}.json"

    @property
    def wal(self) -> Path:
        """The write-ahead log."""
        return self.root / "wal.jsonl"

    @property
    def applied(self) -> Path:
        """Up to which WAL entry the record files have been written (a hint, never synced)."""
        return self.root / "wal.applied"

    @property
    def tombstones(self) -> Path:
        """What was deleted on purpose, by digests, so that no import brings it back unasked."""
        return self.root / "tombstones.jsonl"

    @property
    def insights(self) -> Path:
        """Insights that stand in no record of their own."""
        return self.root / "reflections" / "insights.json"

    @property
    def index(self) -> Path:
        """The symbolic link to the current generation."""
        return self.root / "index"

    @property
    def generations(self) -> Path:
        """The folder of index generations."""
        return self.root / "generations"

    @property
    def partial(self) -> Path:
        """Vectors that an embedding run has made and no generation holds yet."""
        return self.root / "vectors.partial"

    def older_records(self, scope: str) -> Path:
        """The folder of the records of ``scope`` in the format before 2.0."""
        return self.root / scope

    def records_backup(self, scope: str) -> Path:
        """Where ``memory migrate`` keeps the records of ``scope`` that it has changed in place."""
        return self.root / "records.bak" / scope

    def older_backup(self, scope: str) -> Path:
        """The folder of the older records of ``scope`` that ``memory migrate`` has taken in."""
        return self.root / f"{scope}.bak"

    @property
    def index_backup(self) -> Path:
        """The index of an older format that ``memory migrate`` has set aside."""
        return self.root / "index.bak"

    @property
    def backups(self) -> tuple[Path, ...]:
        """Every folder in which ``memory migrate`` keeps originals; each may be missing."""
        older = map(self.older_backup, SCOPES)
        return (self.root / "records.bak", *older, self.index_backup)

    @property
    def writer_lock(self) -> Path:
        """The lock of the one writer."""
        return self.root / "writer.lock"

    @property
    def indexer_lock(self) -> Path:
        """The lock that keeps a second index run out."""
        return self.root / "indexer.lock"

    def relative(self, path: Path) -> str:
        """Return ``path`` as told to people: relative to the state directory where possible."""
        try:
            return str(path.relative_to(self.state))
        except ValueError:
            return str(path)

    def exists(self) -> bool:
        """Tell whether the agent has a memory folder; refuse one that leads out of the state.

        Raises `StorageError` for a folder on the way that is a file, or a symbolic link that leaves
        the state directory.
        """
        records = (self.root / "records", *map(self.records, SCOPES))
        above = (self.state, self.root.parent.parent, self.root.parent, self.root)
        for folder in (*above, *records):
            _refuse_file(folder)
        for folder in (self.root, *records, self.generations):
            _refuse_escape(self.state, folder)
        return os.path.isdir(self.root)


class SessionPaths:
    """The places of one agent's sessions (``<state>/agents/<id>/sessions``)."""

    def __init__(self, state: Path, agent: Path) -> None:
        self.state = state
        self.agent = agent
        self.root = agent / "sessions"

    def session(self, session_id: str) -> SessionFiles:
        """The files of one session; the id is checked before the path is built."""
        return SessionFiles(self.root / check_name("session", session_id))

    @property
    def trash(self) -> Path:
        """Where deleted sessions lie until the trash is emptied."""
        return self.agent / "trash" / "sessions"

    @property
    def incoming(self) -> Path:
        """Where an import makes sessions before they get their place; locked by `incoming_lock`."""
        return self.agent / "incoming"

    @property
    def incoming_lock(self) -> Path:
        """The lock of the one import."""
        return self.incoming / "import.lock"

    @property
    def ledger(self) -> Path:
        """The tokens that each turn has used, a line each; append only."""
        return self.agent / "audit" / "turn-token-usage.jsonl"

    @property
    def ledger_lock(self) -> Path:
        """The lock of who writes the ledger."""
        return self.agent / "audit" / "turn-token-usage.lock"

    @property
    def catalog(self) -> Path:
        """What `list` and `ensure` read in place of every session's metadata; derived."""
        return self.root / "catalog.jsonl"

    @property
    def catalog_lock(self) -> Path:
        """The lock of who changes the catalogue; the innermost one, held for moments."""
        return self.root / "catalog.lock"

    @property
    def lookup_lock(self) -> Path:
        """The lock of who makes, removes or brings back a session; taken before a session's."""
        return self.root / "lookup.lock"

    @property
    def own(self) -> frozenset[str]:
        """The names in the folder that are ours and no session."""
        return frozenset(p.name for p in (self.catalog, self.catalog_lock, self.lookup_lock))

    def exists(self) -> bool:
        """Tell whether the agent has a sessions folder; refuse one that leads out of the state.

        Raises `StorageError` for a folder on the way that is a file, or a symbolic link that leaves
        the state directory.
        """
        own = (self.root, self.trash, self.ledger.parent, self.incoming)
        for folder in (self.state, self.agent.parent, self.agent, *own):
            _refuse_file(folder)
        for folder in own:
            _refuse_escape(self.state, folder)
        return os.path.isdir(self.root)


class SessionFiles(NamedTuple):
    """The files of one session."""

    folder: Path

    @property
    def id(self) -> str:
        """The session's id: the name of its folder."""
        return self.folder.name

    @property
    def meta(self) -> Path:
        """The metadata."""
        return self.folder / "meta.json"

    @property
    def history(self) -> Path:
        """The messages, one a line: the truth."""
        return self.folder / "messages.jsonl"

    @property
    def packed(self) -> Path:
        """The compressed messages of an archived session."""
        return self.folder / "messages.jsonl.gz"

    @property
    def context(self) -> Path:
        """The snapshot of a context; derived."""
        return self.folder / "context.json"

    @property
    def checkpoint(self) -> Path:
        """The latest execution checkpoint."""
        return self.folder / "checkpoint.json"

    @property
    def branches(self) -> Path:
        """The folder of named branch points."""
        return self.folder / "branches"

    @property
    def lock(self) -> Path:
        """The lock of the one writer."""
        return self.folder / "writer.lock"

    def exist(self) -> bool:
        """Tell whether this is a session: a real folder with metadata or a history in it.

        A symbolic link is none: it could lead out of the state directory. A folder into which one
        may not look is one: what cannot be read is told, not passed over.
        """
        if os.path.islink(self.folder):
            return False
        return any(map(_may_stand, (self.meta, self.history, self.packed)))


def _may_stand(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _refuse_file(folder: Path) -> None:
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise StorageError(
            f"{folder} is not a directory",
            path=str(folder),
            hint="give another --state-dir, or move the file away",
        )


def _refuse_escape(state: Path, folder: Path) -> None:
    real_state = os.path.realpath(state)
    real = os.path.realpath(folder)
    if real != real_state and not real.startswith(real_state + os.sep):
        raise StorageError(
            f"{folder} leads out of the state directory to {real}",
            path=str(folder),
            hint="replace the symbolic link by a real folder, or point --state-dir at the place",
        )
