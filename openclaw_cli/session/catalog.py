"""The catalogue: a line a change of metadata, the last one of a session wins; derived, disposable.

A line carries a CRC, the id, and the metadata with the stat of the meta.json that they come from:
a file that has been replaced since, by whomever, is noticed by its stat. A session whose line is
missing, damaged, outdated or marked is asked itself, so that nothing is ever lost or hidden with
the catalogue. Nothing here is synced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from openclaw_cli.environment import Environment
from openclaw_cli.errors import DamagedError, LockedError, StorageError
from openclaw_cli.paths import SessionPaths
from openclaw_cli.session.metadata import Stat
from openclaw_cli.session.schema import Meta
from openclaw_cli.store import files, fsio, locks, wal

_ID = b'"id":"'
_ID_AT = len(b'{"crc":"xxxxxxxx",') + len(_ID)
#: Bytes of a line that is still worth keeping; a session with more metadata is always asked itself.
_LONGEST = 8192
#: The catalogue is written anew when it is so many times as long as it need be, and this longer.
_SLACK = 2
_SPARE = 1 << 16
#: The same for those who only add to it, and cannot check it against the sessions.
_ADDED_SLACK = 8
_ADDED_SPARE = 8 << 20


class Lines(NamedTuple):
    """The catalogue as read: the newest line of each session, and how long the file was."""

    newest: dict[str, bytes]
    size: int = 0
    inode: int = 0


def put_line(session_id: str, meta: Meta, stat: Stat | None) -> bytes:
    """Return the line that says what a session's metadata are."""
    if stat is None:
        return mark_line(session_id)
    told = {name: value for name, value in meta.items() if value not in (None, [], {})}
    told.pop("sessionId", None)
    line = wal.encode_line({"id": session_id, "stat": stat, "meta": told})
    return line if len(line) <= _LONGEST else mark_line(session_id)


def mark_line(session_id: str) -> bytes:
    """Return the line that says that a session must be asked itself."""
    return wal.encode_line({"id": session_id})


def is_mark(raw: bytes) -> bool:
    """Tell whether a line says that its session must be asked itself."""
    body, _problem = wal.decode_line(raw)
    return body is not None and "meta" not in body


def told_by(raw: bytes) -> tuple[Meta | None, list[int]]:
    """Return the metadata of a line and the stat they belong to; None unless it can be used."""
    body, _problem = wal.decode_line(raw)
    if body is None:
        return None, []
    meta, stat = body.get("meta"), body.get("stat")
    if not isinstance(meta, dict) or not isinstance(stat, list):
        return None, []
    meta["sessionId"] = body["id"]
    return meta, stat


def _by_id(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield id and line, unchecked, of everything in the file that looks like a line of ours."""
    for raw in data.split(b"\n"):
        if raw[_ID_AT - len(_ID) : _ID_AT] == _ID:
            yield raw[_ID_AT : raw.find(b'"', _ID_AT)].decode("ascii", "replace"), raw


class Catalog:
    """The catalogue of one agent's sessions."""

    def __init__(self, paths: SessionPaths, env: Environment) -> None:
        self._paths = paths
        self._env = env

    def read(self) -> Lines:
        """Return the newest line of each session; one that cannot be read is empty."""
        try:
            data = files.read_file(self._paths.catalog)
            inode = self._paths.catalog.stat().st_ino
        except (FileNotFoundError, ValueError):
            return Lines({})
        return Lines(dict(_by_id(data)), len(data), inode)

    def known(self, session_id: str) -> Meta | None:
        """Return what was last said about a session, for when it cannot say so itself."""
        found = None
        with suppress(FileNotFoundError, ValueError):
            for name, raw in _by_id(files.read_file(self._paths.catalog)):
                if name == session_id:
                    found = told_by(raw)[0] or found
        return found

    def add(self, line: bytes) -> None:
        """Append a line. Raises `StorageError` or `LockedError` where that cannot be done."""
        with self._locked():
            path = self._paths.catalog
            size = path.stat().st_size if path.exists() else 0
            if size > _ADDED_SPARE and size > _ADDED_SLACK * self._least():
                self._write(self.read().newest.values())
            fsio.append(path, line, durable=False)

    def note(self, line: bytes) -> None:
        """Append a line after what it says has come true: without it, the stat tells."""
        with suppress(StorageError, LockedError):
            self.add(line)

    def tidy(self, read: Lines, kept: list[bytes], corrected: dict[str, bytes]) -> None:
        """Make the file say what was found out: append what is new, or write it whole anew.

        ``kept`` are the lines of ``read`` that hold, ``corrected`` those of other sessions; whoever
        has said something since about one of them knows better.
        """
        wanted = sum(map(len, kept)) + len(kept) + sum(map(len, corrected.values()))
        whole = read.size == 0 or read.size > _SLACK * wanted + _SPARE
        if not corrected and not (whole and kept):
            return
        with suppress(StorageError, LockedError), self._locked():
            added = self._since(read)
            if added is None:
                return  # written anew by someone else in the meantime
            later = {name for name, _raw in _by_id(added)}
            lines = [line for name, line in corrected.items() if name not in later]
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
        return files.read_file(path)[read.size :]

    def _write(self, lines: Iterable[bytes], added: bytes = b"") -> None:
        kept = b"".join(raw if raw.endswith(b"\n") else raw + b"\n" for raw in lines)
        head = wal.encode_line({"catalog": 1, "bytes": len(kept)})
        fsio.write_file(self._paths.catalog, head + kept + added, durable=False)

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
