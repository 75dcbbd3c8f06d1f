"""``memory migrate FILE``: an export of an older format becomes one of this, the original kept."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import orjson

from openclaw_cli.errors import (
    FormatTooNewError,
    NotFoundError,
    OpenclawError,
    StorageError,
    UsageError,
)
from openclaw_cli.result import Result
from openclaw_cli.store import fsio
from openclaw_cli.store.migrations import s0001_records
from openclaw_cli.store.newfile import NewFile
from openclaw_cli.store.records import VERSION
from openclaw_cli.store.savedfile import SavedFile, publish
from openclaw_cli.transfer.document import LONGEST, Records, Window, records_of
from openclaw_cli.transfer.kinds import opened
from openclaw_cli.transfer.migration.upgrading import Outcome, Upgrader, described
from openclaw_cli.transfer.values import decode

_GZIP = b"\x1f\x8b"
_GZIP_WINDOW = 31
_CHUNK = 1 << 20


class _Sink(Protocol):
    def write(self, data: bytes) -> object:
        """Take the next bytes."""


def backup_path(path: Path) -> Path:
    """Return where the original of a migrated file is kept."""
    return path.with_name(f"{path.name}.bak")


def migrate_file(
    upgrader: Upgrader, path: Path, *, source_version: str | None = None, dry_run: bool = False
) -> Result:
    """Write an older export anew in this format; the original is kept as ``<name>.bak``.

    A line that is no record stays as it is and is listed as failed. A file of this format already
    is left alone.
    """
    _require_regular(path)
    if dry_run:
        work = _Work(upgrader, path, dry_run=True)
        work.write(sha256())
        work.require(source_version)
        return work.outcome.result(None, dry_run=True)
    temp = fsio.temp_name(path)
    work = _Work(upgrader, path)
    try:
        with NewFile(temp) as file:
            work.write(file)
        work.require(source_version)
        if not work.is_older:
            fsio.discard(temp)
            return work.outcome.result(None, dry_run=False)
        _keep(path)
        publish(temp, path, replace=True)
    except BaseException:
        fsio.discard(temp)
        raise
    return work.outcome.result(str(backup_path(path)), dry_run=False)


def rollback_file(upgrader: Upgrader, path: Path, *, dry_run: bool = False) -> Result:
    """Put the original of a migrated file back in its place, unless that has changed since."""
    kept = backup_path(path)
    if not os.path.lexists(kept):
        raise NotFoundError(
            f"{kept} is not there: nothing to roll back", path=str(kept), hint="check the name"
        )
    _require_regular(kept)
    outcome = Outcome(changed=1)
    if os.path.lexists(path):
        _require_regular(path)
        digest = sha256()
        _Work(upgrader, kept).write(digest)
        if _digest(path) not in (digest.digest(), _digest(kept)):
            raise UsageError(
                f"{path} has changed since it was migrated",
                path=str(path),
                hint="move it away, then run the command again",
            )
    if dry_run:
        outcome.note(path, f"restored from {kept.name}")
    else:
        publish(kept, path, replace=True)
    return outcome.result(str(kept) if dry_run else None, dry_run=dry_run)


def _require_regular(path: Path) -> None:
    try:
        regular = stat.S_ISREG(os.lstat(path).st_mode)
    except OSError as error:
        raise StorageError(
            f"cannot read {path}: {error.strerror or error}",
            path=str(path),
            hint="check the name and the permissions",
        ) from error
    if not regular:
        raise UsageError(f"{path} is not a regular file", path=str(path), hint="name the file")


def _keep(path: Path) -> None:
    """Copy the original to its backup, durably; one that is there must be the same."""
    kept = backup_path(path)
    if os.path.lexists(kept):
        if os.path.islink(kept) or _digest(kept) != _digest(path):
            raise UsageError(
                f"{kept} is there already and is another file",
                path=str(kept),
                hint="move it away, then run the command again",
            )
        fsio.sync_file(kept)
        return
    with _open(path) as source, SavedFile(kept) as copy:
        while part := source.read(_CHUNK):
            copy.write(part)


def _open(path: Path) -> BinaryIO:
    with fsio.reporting("read", path):
        return path.open("rb")


def _digest(path: Path) -> bytes:
    found = sha256()
    with _open(path) as source:
        while part := source.read(_CHUNK):
            found.update(part)
    return found.digest()


@dataclass(slots=True)
class _Work:
    """One pass over a file: what it says, upgraded, goes into a sink."""

    upgrader: Upgrader
    path: Path
    dry_run: bool = False
    outcome: Outcome = field(default_factory=Outcome)
    version: object = None
    _has_header: bool = True

    @property
    def is_older(self) -> bool:
        """Whether there is anything that has to change."""
        old_head = self._has_header and s0001_records.major_of(self.version) == 1
        return bool(self.outcome.changed) or old_head

    def require(self, source_version: str | None) -> None:
        """Raise `UsageError` when the file is not of the version that the operator has named."""
        if source_version is None or self.version is None:
            return
        wanted = source_version.removesuffix(".x").removesuffix(".*")
        if not f"{self.version}.".startswith(f"{wanted}."):
            raise UsageError(
                f"{self.path} has format version {self.version}, not {source_version}",
                path=str(self.path),
                hint="leave --from out: the file says what it is",
            )

    def write(self, sink: _Sink | Any) -> None:
        """Read the file and put the same in this format into ``sink`` (a file or a digest)."""
        put = sink.update if hasattr(sink, "update") else sink.write
        with _open(self.path) as stream:
            packed = stream.read(2) == _GZIP
            stream.seek(0)
            packer = zlib.compressobj(wbits=_GZIP_WINDOW) if packed else None
            for piece in self._pieces(opened(stream, str(self.path))):
                put(piece if packer is None else packer.compress(piece))
            if packer is not None:
                put(packer.flush())

    def _pieces(self, stream: BinaryIO) -> Iterator[bytes]:
        window = Window(stream)
        found = records_of(window)
        if isinstance(found, Records):
            yield from self._document(found)
        else:
            yield from self._lines(window.rest())

    def _document(self, records: Records) -> Iterator[bytes]:
        head = {name: item for name, item in records.head.items() if name != "version"}
        self._know(records.head.get("version"))
        yield orjson.dumps({"version": VERSION, **head})[:-1] + b',"records":['
        for number, raw in enumerate(records.raw(), 1):
            if raw is None:
                # What is cut off cannot be written again: better no new file than half of one.
                raise UsageError(
                    f"{self.path} breaks off or is malformed at record {number}",
                    path=str(self.path),
                    hint="fetch the file again",
                )
            yield (b",\n" if number > 1 else b"\n") + self._upgraded(number, raw)
        tail, problem = records.tail()
        if problem is not None:
            raise UsageError(
                f"{self.path}: {problem}",
                path=str(self.path),
                hint="put each document into a file of its own",
            )
        if "version" in tail:
            self._know(tail.pop("version"))
        yield b"\n]" + (b"," + orjson.dumps(tail)[1:] if tail else b"}") + b"\n"

    def _lines(self, stream: BinaryIO) -> Iterator[bytes]:
        number = 0
        self._has_header = False
        while line := stream.readline(LONGEST):
            if len(line) == LONGEST:
                raise UsageError(
                    f"line {number + 1} of {self.path} is too long",
                    hint="look at that line: a memory is a statement",
                )
            number += 1
            if not line.strip():
                yield line
                continue
            head = None if number > 1 else _header(line)
            if head is not None:
                self._has_header = True
                self._know(head.get("version"))
                yield orjson.dumps({**head, "version": VERSION}) + b"\n"
            else:
                yield self._upgraded(number, line.strip()) + b"\n"

    def _know(self, version: object) -> None:
        """Take note of the file's version; raises the error of one that is too new."""
        self.version = version
        major = s0001_records.major_of(version)
        if major is None:
            raise UsageError(
                f"{self.path}: {str(version)[:40]!r} is not a format version",
                hint="give it as --from, for example --from 1.2",
            )
        if major > s0001_records.MAJOR:
            raise FormatTooNewError(
                f"{self.path} has format version {version}, this program knows {VERSION}",
                path=str(self.path),
                hint="update openclaw-cli",
            )

    def _upgraded(self, number: int, raw: bytes) -> bytes:
        """Return the bytes of a record in this format, or as they are where it is none."""
        value, problem = decode(raw)
        try:
            if problem is not None:
                raise ValueError(f"not JSON: {problem}")
            if not isinstance(value, dict):
                raise ValueError("not a JSON object")
            if s0001_records.is_newer(value):
                raise ValueError(f"format version {value['version']} is newer than 2.x")
            if not s0001_records.applies(value) or not {"content", "version"} & value.keys():
                self.outcome.unchanged += 1
                return raw
            document, _analysis = self.upgrader.upgraded(_with_content(value), None)
            written = orjson.dumps(document)
        except (ValueError, OpenclawError, orjson.JSONEncodeError) as error:
            failure: dict[str, Any] = {"line": number, "reason": str(error)}
            if isinstance(value, dict) and isinstance(value.get("id"), str):
                failure["id"] = value["id"][:128]
            self.outcome.failed.append(failure)
            return raw
        self.outcome.changed += 1
        if self.dry_run:
            name = str(value.get("id") or f"line {number}")
            self.outcome.changes.append({"id": name, "change": described(value, document)})
        return written


def _with_content(value: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the short name of its text in its place."""
    if "content" in value or "text" not in value:
        return value
    return {"content" if name == "text" else name: item for name, item in value.items()}


def _header(line: bytes) -> dict[str, Any] | None:
    """Return the header line of JSON Lines, None when it is a record already."""
    value, _problem = decode(line.strip())
    if isinstance(value, dict) and "version" in value and not {"content", "text"} & value.keys():
        return value
    return None
