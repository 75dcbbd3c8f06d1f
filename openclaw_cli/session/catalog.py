"""The catalogue: a line a change of metadata, the last one of a session wins; derived, disposable.

A line carries a CRC, the id, and the metadata with the stat of the meta.json that they come from:
a file that has been replaced since, by whomever, is noticed by its stat. A session whose line is
missing, damaged, outdated or marked is asked itself, so that nothing is ever lost or hidden with
the catalogue. Nothing here is synced.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import NamedTuple

import orjson

from openclaw_cli.environment import Environment
from openclaw_cli.errors import DamagedError, LockedError, StorageError
from openclaw_cli.paths import SessionPaths
from openclaw_cli.session.lifecycle import RUN_STATE, STATUS
from openclaw_cli.session.metadata import Stat
from openclaw_cli.session.schema import KNOWN, Meta, sound_fields
from openclaw_cli.store import files, fsio, locks, wal

_CRC = slice(len(b'{"crc":"'), len(b'{"crc":"xxxxxxxx'))
_BODY_AT = len(b'{"crc":"xxxxxxxx",')
_ID_AT = _BODY_AT + len(b'"id":"')
#: A CRC covers the object without its first member.
_CRC_OF_BRACE = zlib.crc32(b"{")
_UNTOLD: tuple[object, ...] = (None, 0, [], {})
#: What every line tells, for sessions are chosen and sorted by it.
_TOLD = ("status", "createdAt", "lastActiveAt")
_NUMBERS = frozenset([int, float])
_ONLY_TEXTS = frozenset([str])
_STATES = frozenset(STATUS.states)
_from_iso = datetime.fromisoformat
#: Bytes of a line that is still worth keeping; a session with more metadata is always asked itself.
_LONGEST = 8192
#: The catalogue is written anew when it is so many times as long as it need be, and this longer.
_SLACK = 2
_SPARE = 1 << 16
#: The same for those who only add to it, and cannot check it against the sessions.
_ADDED_SLACK = 8
_ADDED_SPARE = 8 << 20


class Lines(NamedTuple):
    """The catalogue as read: the newest line of each session by id, and how long the file was.

    ``blocked`` tells that something else than a file stands in its place.
    """

    newest: dict[bytes, bytes]
    size: int = 0
    inode: int = 0
    blocked: bool = False


def put_line(session_id: str, meta: Meta, version: Stat | None) -> bytes:
    """Return the line that says what a session's metadata are, as of a version of meta.json."""
    if version is None:
        return mark_line(session_id)
    told = {n: value for n, value in meta.items() if n not in KNOWN or value not in _UNTOLD}
    for name, value in (("sessionId", session_id), ("runState", RUN_STATE.first)):
        if told.get(name) == value:
            del told[name]
    line = wal.encode_line({"id": session_id, "stat": version, "meta": told})
    return line if len(line) <= _LONGEST else mark_line(session_id)


def mark_line(session_id: str) -> bytes:
    """Return the line that says that a session must be asked itself."""
    return wal.encode_line({"id": session_id})


def is_mark(raw: bytes) -> bool:
    """Tell whether a line says that its session must be asked itself."""
    body, _problem = wal.decode_line(raw.rstrip(b"\n"))
    return body is not None and "meta" not in body


def holds(raw: bytes, session_id: bytes, version: Stat) -> bool:
    """Tell whether a line is sound, and tells what this version of meta.json holds."""
    said = raw.startswith(b'","stat":[%d,%d,%d],"meta":' % version, _ID_AT + len(session_id))
    return said and _is_sound(raw)


def _is_sound(raw: bytes) -> bool:
    try:
        return int(raw[_CRC], 16) == zlib.crc32(raw[_BODY_AT:], _CRC_OF_BRACE)
    except ValueError:
        return False


def told_by(raw: bytes) -> Meta | None:
    """Return the metadata of a line, without its end; None for one that cannot be used.

    Fields that say nothing are not in a line.
    """
    try:
        body = orjson.loads(raw)
        meta: Meta = {**body["meta"], "sessionId": body["id"]}
    except (ValueError, KeyError, TypeError):
        return None
    return meta if _is_sound(raw) and _is_whole(meta, raw) else None


def _is_whole(meta: Meta, raw: bytes) -> bool:
    _sound, problems = sound_fields(meta, raw)
    return not problems and all(name in meta for name in _TOLD)


def sketched_by(raw: bytes, name: bytes, version: Stat) -> Meta | None:
    """Return the metadata of a line that `holds`, checked as far as choosing and sorting go.

    None for any other line. What is shown of a session comes from `told_by`. This is what the time
    of going through all sessions goes into.
    """
    try:
        if int(raw[_CRC], 16) != zlib.crc32(raw[_BODY_AT:], _CRC_OF_BRACE):
            return None
        body = orjson.loads(raw)
        if body["stat"] != [*version]:
            return None
        meta: Meta = body["meta"]
        meta["sessionId"] = name.decode()
        created, active = meta["createdAt"], meta["lastActiveAt"]
        _from_iso(created)
        _from_iso(active)
        if created[-1] == "Z" == active[-1] and meta["status"] in _STATES and _sorts(meta):
            return meta
    except (ValueError, KeyError, TypeError):
        return None
    return meta if _is_whole(meta, raw) else None


def _sorts(meta: Meta) -> bool:
    """Tell whether what sessions are chosen and sorted by has the usual types."""
    get = meta.get
    return (
        type(get("channel", "")) is str
        and type(get("chatId", "")) is str
        and type(get("userId", "")) is str
        and type(get("title", "")) is str
        and type(get("messageCount", 0)) is int
        and type(get("totalCost", 0)) in _NUMBERS
        and ("tags" not in meta or _ONLY_TEXTS.issuperset(map(type, meta["tags"])))
    )


def _by_id(data: bytes) -> dict[bytes, bytes]:
    """Return the newest line, unchecked, of each id in the file."""
    return {raw[_ID_AT : raw.find(b'"', _ID_AT)]: raw for raw in data.split(b"\n") if raw}


class Catalog:
    """The catalogue of one agent's sessions."""

    def __init__(self, paths: SessionPaths, env: Environment) -> None:
        self._paths = paths
        self._env = env

    def read(self) -> Lines:
        """Return the newest line of each session; one that cannot be read is empty."""
        try:
            fd = files.open_regular(self._paths.catalog)
        except FileNotFoundError:
            return Lines({})
        except ValueError:
            return Lines({}, blocked=True)
        with open(fd, "rb", buffering=0) as source:
            found = os.fstat(fd)
            if found.st_size > files.LIMIT:
                return Lines({}, found.st_size, found.st_ino)  # it is written anew
            data = source.readall()
            return Lines(_by_id(data), len(data), found.st_ino)

    def known(self, session_id: str) -> Meta | None:
        """Return what was last said about a session, for when it cannot say so itself."""
        wanted = session_id.encode()
        found = None
        with suppress(FileNotFoundError, ValueError):
            for raw in files.read_file(self._paths.catalog).split(b"\n"):
                if raw.startswith(wanted, _ID_AT):
                    meta = told_by(raw)
                    found = meta if meta and meta["sessionId"] == session_id else found
        return found

    def add(self, line: bytes) -> None:
        """Append a line. Raises `StorageError` or `LockedError` where that cannot be done.

        What is no file misleads nobody, for nobody reads it: then there is nothing to say either.
        """
        with self._locked():
            path = self._paths.catalog
            found = os.lstat(path) if os.path.lexists(path) else None
            if found is not None and not stat.S_ISREG(found.st_mode):
                return
            size = 0 if found is None else found.st_size
            if size > _ADDED_SPARE and size > _ADDED_SLACK * self._least():
                self._write(raw for name, raw in self.read().newest.items() if name)
            fsio.append(path, line, durable=False)

    def note(self, line: bytes) -> None:
        """Append a line after what it says has come true: without it, the stat tells."""
        with suppress(StorageError, LockedError):
            self.add(line)

    def forget(self) -> None:
        """Remove the file, and what killed writers have left of it: the next listing makes it anew.

        Unlike one that is written anew without a sync, one that is removed does not come back with
        its old lines. Raises `StorageError` or `LockedError` where that cannot be done.
        """
        with self._locked():
            self._sweep()
            fsio.remove(self._paths.catalog)

    def tidy(self, read: Lines, kept: list[bytes], corrected: dict[str, bytes]) -> None:
        """Make the file say what was found out: append what is new, or write it whole anew.

        ``kept`` are the lines of ``read`` that hold, ``corrected`` those of other sessions; whoever
        has said something since about one of them knows better.
        """
        wanted = sum(map(len, kept)) + len(kept) + sum(map(len, corrected.values()))
        whole = read.size == 0 or read.size > _SLACK * wanted + _SPARE
        if read.blocked or (not corrected and not (whole and kept)):
            return
        with suppress(StorageError, LockedError, DamagedError), self._locked():
            added = self._since(read)
            if added is None:
                return  # written anew by someone else in the meantime
            later = _by_id(added)
            lines = [line for name, line in corrected.items() if name.encode() not in later]
            if whole:
                self._write([*kept, *lines], added)
            elif lines:
                fsio.append(self._paths.catalog, b"".join(lines), durable=False)

    def _since(self, read: Lines) -> bytes | None:
        """Return what was added since the catalogue was read; None when that file has gone."""
        path = self._paths.catalog
        if not path.exists():
            return b"" if read.size == 0 else None
        if read.size and path.stat().st_ino != read.inode:
            return None
        return b"".join(files.pieces(path, read.size))

    def _write(self, lines: Iterable[bytes], added: bytes = b"") -> None:
        kept = b"".join(raw if raw.endswith(b"\n") else raw + b"\n" for raw in lines)
        head = wal.encode_line({"id": "", "catalog": 1, "bytes": len(kept)})
        self._sweep()
        fsio.write_file(self._paths.catalog, head + kept + added, durable=False)

    def _sweep(self) -> None:
        # Nobody else writes it under this lock: what is there was left by a killed process.
        root, own = self._paths.root, f".{self._paths.catalog.name}{fsio.TEMP_MARK}"
        fsio.sweep(root, [name for name in os.listdir(root) if name.startswith(own)])

    def _least(self) -> int:
        """Return how long the file was when it was last written whole."""
        fd = files.open_regular(self._paths.catalog)
        with open(fd, "rb") as source:
            body, _problem = wal.decode_line(source.readline(200).rstrip(b"\n"))
        length = body.get("bytes") if body else None
        return length if isinstance(length, int) else 0

    @contextmanager
    def _locked(self) -> Iterator[None]:
        path, env = self._paths.catalog_lock, self._env
        with locks.hold(path, clock=env.clock, timeout=env.lock_timeout, holder=env.holder):
            try:
                yield
            except ValueError as error:
                raise DamagedError(
                    f"{self._paths.catalog} is {error}",
                    path=str(self._paths.catalog),
                    hint="remove what stands there: the catalogue is made anew",
                ) from error
