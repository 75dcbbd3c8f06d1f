"""The write-ahead log: what was acknowledged since the index's last checkpoint.

A line is ``{"crc":"xxxxxxxx",`` followed by the rest of the entry's JSON object; the CRC-32 covers
the object as it would stand without that member. The first line is a header with ``base``: every
entry up to that sequence number has been folded into an index generation and cut away.

Reading verifies line ends, CRC, and that sequence numbers rise; what an entry means is left to the
caller. A purge is one line that names all that it removes; it is read as a deletion of each.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeGuard

import orjson

from openclaw_cli.errors import InvalidTextError, StorageError
from openclaw_cli.paths import SCOPES, valid_name
from openclaw_cli.store import files, fsio
from openclaw_cli.store.damage import Damage, Damages
from openclaw_cli.store.records import encode_record, require_writable

_PREFIX = b'{"crc":"'
#: Counting one by one never gets there; what JSON and the index hold is 64 bits.
SEQ_LIMIT = 1 << 53
#: Within a JSON text the quotes would be escaped: these bytes are never part of a memory.
_PURGE = b',"op":"purge",'
#: Bytes of the longest line: a record of the largest size, and as much for the index.
LONGEST = 2 * files.LIMIT
#: Indented, a document has at most so many times the bytes that it has in its line.
_INDENTED = 256
#: Entries read from more bytes than an ordinary log has are packed.
_MUCH = 8 << 20
_NO_ENTRY = "not a log entry"
_BODY_AT = len(_PREFIX) + 8 + 2  # after the eight hex digits and '",'


class Entry:
    """One acknowledged change.

    ``op`` is "put" or "delete"; ``record`` is the whole record document of a put; ``payload`` is
    opaque to the store: what the index needs to show the record before it is folded; ``replaces``
    is the CRC-32 of the record file that stood there when the entry was made.

    A packed entry holds its line instead of what that says, in a quarter of the memory, and reads
    the line whenever it is asked for one of the two.
    """

    __slots__ = ("_payload", "_record", "line", "op", "record_id", "replaces", "scope", "seq")

    def __init__(
        self,
        seq: int,
        op: str,
        scope: str,
        record_id: str,
        record: dict[str, Any] | None = None,
        payload: dict[str, Any] | None = None,
        replaces: int | None = None,
    ) -> None:
        self.seq = seq
        self.op = op
        self.scope = scope
        self.record_id = record_id
        self.replaces = replaces
        self.line: bytes | None = None
        self._record = record
        self._payload = payload

    @property
    def record(self) -> dict[str, Any] | None:
        """The record document of a put."""
        return self.unpacked()._record

    @property
    def payload(self) -> dict[str, Any] | None:
        """What the index needs to show the record."""
        return self.unpacked()._payload

    def packed(self, line: bytes) -> Entry:
        """Return the entry as one that holds its ``line``, without line end, alone."""
        entry = Entry(self.seq, self.op, self.scope, self.record_id, replaces=self.replaces)
        entry.line = line
        return entry

    def unpacked(self) -> Entry:
        """Return the entry as one that holds what its line says."""
        if self.line is None:
            return self
        value = orjson.loads(b"{" + self.line[_BODY_AT:])
        held = value.get("record"), _payload(value)
        return Entry(self.seq, self.op, self.scope, self.record_id, *held, self.replaces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Entry) and encode_entry(self) == encode_entry(other)

    __hash__ = None  # type: ignore[assignment]


class Purge(NamedTuple):
    """The intent to forget everything of ``user``, until no byte of it is left.

    ``gone`` lists the records as (scope, id, CRC-32 of the file that stood there). It holds no
    text. ``options`` say what else is to go.
    """

    seq: int
    user: str
    gone: tuple[tuple[str, str, int | None], ...]
    options: dict[str, Any]

    def deletions(self) -> list[Entry]:
        """Return the purge as a deletion of each record."""
        return [
            Entry(self.seq, "delete", scope, record_id, replaces=replaced)
            for scope, record_id, replaced in self.gone
        ]


class Wal(NamedTuple):
    """The log as read: entries in order, the size of its sound part, and what was not sound.

    ``purges`` are the purges that have not been finished; their deletions are in ``entries``.
    ``torn`` is how many bytes follow the last line end.
    Up to ``floor`` goes the index that was in place when the log was read under the lock: what the
    log holds of that is to be cut.
    """

    base: int = 0
    entries: tuple[Entry, ...] = ()
    size: int = 0
    torn: int = 0
    damaged: Damage = Damage()
    inode: int = 0
    purges: tuple[Purge, ...] = ()
    lines: int = 0
    floor: int = 0

    @property
    def last_seq(self) -> int:
        """The sequence number of the newest entry, or base or floor when there is none above."""
        newest = self.entries[-1].seq if self.entries else self.base
        purged = self.purges[-1].seq if self.purges else 0
        return max(newest, purged, self.floor)


def encode_line(body: dict[str, Any]) -> bytes:
    """Return the line of a log object, with its CRC and line end."""
    raw = orjson.dumps(body)
    return _PREFIX + b'%08x",' % zlib.crc32(raw) + raw[1:] + b"\n"


def encode_entry(entry: Entry) -> bytes:
    """Return the line of ``entry``."""
    if entry.line is not None:
        return entry.line + b"\n"
    body: dict[str, Any] = {
        "seq": entry.seq,
        "op": entry.op,
        "scope": entry.scope,
        "id": entry.record_id,
    }
    if entry.record is not None:
        body["record"] = entry.record
    if entry.payload is not None:
        body["index"] = entry.payload
    if entry.replaces is not None:
        body["replaces"] = entry.replaces
    return encode_line(body)


def encode_purge(purge: Purge) -> bytes:
    """Return the line of ``purge``."""
    return encode_line(
        {
            "seq": purge.seq,
            "op": "purge",
            "user": purge.user,
            "gone": [list(item) for item in purge.gone],
            "options": purge.options,
        }
    )


def header(base: int) -> bytes:
    """Return the first line of a log whose entries begin after ``base``."""
    return encode_line({"wal": 2, "base": base})


def decode_line(raw: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """Return the object of one line without its line end, or None and the reason."""
    if not raw.startswith(_PREFIX) or raw[_BODY_AT - 2 : _BODY_AT] != b'",':
        return None, _NO_ENTRY
    body = b"{" + raw[_BODY_AT:]
    if raw[len(_PREFIX) : _BODY_AT - 2] != b"%08x" % zlib.crc32(body):
        return None, "checksum mismatch"
    try:
        value = orjson.loads(body)
    except ValueError as error:
        return None, str(error)
    if not isinstance(value, dict):
        return None, "not an object"
    try:
        require_writable(value, body)
    except ValueError as error:
        return None, str(error)
    return value, None


def _open(path: Path) -> int:
    try:
        return files.open_regular(path)
    except ValueError as error:
        raise StorageError(
            f"{path} is {error}",
            path=str(path),
            hint="move it away: it stands in the place of the write-ahead log",
        ) from error


def read(path: Path, known: Wal | None = None) -> Wal:
    """Read the log; a missing file is an empty log, damage is reported and never raises.

    With ``known``, an earlier reading of the same file, only what was appended since is read.
    """
    try:
        fd = _open(path)
    except FileNotFoundError:
        return Wal()
    try:
        state = os.fstat(fd)
        if known is None or known.inode != state.st_ino or known.size > state.st_size:
            known = Wal(inode=state.st_ino)
        os.lseek(fd, known.size, os.SEEK_SET)
        return _extended(known, fd, packs=state.st_size - known.size > _MUCH)
    finally:
        os.close(fd)


def size(path: Path) -> int:
    """Return the length of the log in bytes, 0 when there is none."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _extended(known: Wal, fd: int, *, packs: bool) -> Wal:
    base = known.base
    entries: list[Entry] = []
    purges: list[Purge] = []
    damages = Damages(known.damaged)
    last = known.last_seq
    number, size, torn = known.lines, known.size, 0
    for line in files.lines(fd, LONGEST):
        if not line.ended:
            torn = line.end - line.begin
            break
        number, size = number + 1, line.end
        value, problem = (None, _NO_ENTRY) if line.raw is None else decode_line(line.raw)
        if value is not None and _is_seq(value.get("base")):
            base = last = max(last, value["base"])
            continue
        found = None if value is None else _purge(value) or _entry(value)
        if found is None:
            damages.add(number, problem or _NO_ENTRY, line)
        elif found.seq <= last:
            damages.add(number, f"sequence {found.seq} after {last}", line)
        elif isinstance(found, Purge):
            purges.append(found)
            entries += found.deletions()
            last = found.seq
        else:
            entries.append(found.packed(line.raw) if packs and line.raw else found)
            last = found.seq
    return Wal(
        base,
        (*known.entries, *entries),
        size,
        torn,
        damages.all(),
        known.inode,
        (*known.purges, *purges),
        number,
        known.floor,
    )


def _is_seq(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < SEQ_LIMIT


def _entry(value: dict[str, Any]) -> Entry | None:
    seq, op, scope, record_id = (value.get(key) for key in ("seq", "op", "scope", "id"))
    record = value.get("record")
    if scope not in SCOPES or not isinstance(record_id, str) or not valid_name(record_id):
        return None
    if not _is_seq(seq) or op not in ("put", "delete"):
        return None
    if (op == "put") != isinstance(record, dict):
        return None
    replaces = value.get("replaces")
    return Entry(
        seq, op, str(scope), record_id, record, _payload(value),
        replaces if isinstance(replaces, int) else None,
    )  # fmt: skip


def _payload(value: dict[str, Any]) -> dict[str, Any] | None:
    payload = value.get("index")
    return payload if isinstance(payload, dict) else None


def _purge(value: dict[str, Any]) -> Purge | None:
    seq, user, gone, options = (value.get(key) for key in ("seq", "user", "gone", "options"))
    if value.get("op") != "purge" or not _is_seq(seq) or not isinstance(user, str):
        return None
    if not isinstance(gone, list) or not isinstance(options, dict):
        return None
    found = []
    for item in gone:
        if not isinstance(item, list) or len(item) != 3 or item[0] not in SCOPES:
            return None
        scope, record_id, replaced = item
        if not isinstance(record_id, str) or not valid_name(record_id):
            return None
        found.append((scope, record_id, replaced if isinstance(replaced, int) else None))
    return Purge(seq, user, tuple(found), options)


def holds_purge(path: Path) -> bool:
    """Tell whether the log holds a purge, without reading what its lines mean."""
    try:
        return files.holds(path, [_PURGE])
    except (OSError, ValueError):
        return False  # whoever reads the log tells what is wrong with it


def append(path: Path, wal: Wal, entries: Sequence[Entry | Purge]) -> None:
    """Append ``entries`` with one fsync; from its return on they are acknowledged.

    Raises `InvalidTextError` for one that would be too large to be read again.
    """
    head = b"" if wal.size else header(max(wal.base, wal.floor))
    lines = [_encoded(entry) for entry in entries]
    for entry, line in zip(entries, lines, strict=True):
        _require_readable(entry, line)
    fsio.append(path, head + b"".join(lines))


def _require_readable(entry: Entry | Purge, line: bytes) -> None:
    is_small = len(line) * _INDENTED <= files.LIMIT
    record = None if is_small or isinstance(entry, Purge) else entry.record
    if len(line) > LONGEST or (record is not None and len(encode_record(record)) > files.LIMIT):
        name = entry.user if isinstance(entry, Purge) else entry.record_id
        raise InvalidTextError(
            f"{name}: larger than {files.LIMIT >> 20} MiB with its history",
            hint="store the text as several memories",
        )


def _encoded(entry: Entry | Purge) -> bytes:
    return encode_purge(entry) if isinstance(entry, Purge) else encode_entry(entry)


def keep_after(path: Path, current: Wal, seq: int) -> None:
    """Cut every entry up to ``seq`` away from the log as it was read: ``current``."""
    purged = {purge.seq for purge in current.purges}
    kept: list[Entry | Purge] = [entry for entry in current.entries if entry.seq not in purged]
    kept = sorted((*kept, *current.purges), key=lambda entry: entry.seq)
    lines = b"".join(_encoded(entry) for entry in kept if entry.seq > seq)
    fsio.write_file(path, header(max(seq, current.base)) + lines)
