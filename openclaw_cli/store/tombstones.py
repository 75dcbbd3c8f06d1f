"""What was deleted on purpose: digests of ids and texts, so that no import brings it back unasked.

The log holds a deletion until it is folded into a generation; then a line here takes its place.
Neither an id nor a text can be read from it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from openclaw_cli.store import checksummed, files, fsio, wal

_DIGITS = 24


class Tombstone(NamedTuple):
    """One deleted record: digests of its id and its user, and the content hashes (shortened) of all
    that it ever said."""

    record: str
    contents: frozenset[str]
    user: str | None


def digest(text: str) -> str:
    """Return what stands for an id or a user: 96 bits of its SHA-256 in hexadecimal digits."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def payload(content_hashes: Iterable[str], user: str | None) -> dict[str, Any]:
    """Return what a deletion in the log carries for the tombstone it will leave."""
    return {"hashes": sorted(content_hashes), "user": None if user is None else digest(user)}


def _of(entry: wal.Entry) -> Tombstone:
    return _tombstone(digest(entry.record_id), entry.payload or {})


def _tombstone(record: str, held: dict[str, Any]) -> Tombstone:
    hashes, user = held.get("hashes"), held.get("user")
    known = hashes if isinstance(hashes, list) else []
    return Tombstone(
        record,
        frozenset(item for item in known if isinstance(item, str)),
        user if isinstance(user, str) else None,
    )


def read(path: Path) -> dict[str, Tombstone]:
    """Return the newest tombstone of each id by its digest; what is damaged is passed over."""
    found: dict[str, Tombstone] = {}
    with suppress(ValueError):
        for line in checksummed.lines(path):
            value = None if line.raw is None else wal.decode_line(line.raw)[0]
            if value is not None and isinstance(value.get("of"), str):
                found[value["of"]] = _tombstone(value["of"], value)
    return found


def fold(path: Path, log: wal.Wal, seq: int) -> None:
    """Keep the deletions of ``log`` up to ``seq``, which are about to be cut away from it.

    A purge leaves no tombstone of its user. The caller holds the writer lock.
    """
    purged = {purge.seq for purge in log.purges}
    users = {digest(purge.user) for purge in log.purges}
    newest = {entry.record_id: entry for entry in log.entries if entry.seq <= seq}
    deleted = [_of(e) for e in newest.values() if e.op == "delete" and e.seq not in purged]
    deleted = [tombstone for tombstone in deleted if tombstone.user not in users]
    if not deleted:
        return
    lines = b"".join(map(_encoded, deleted))
    # A torn line of a killed writer must not swallow ours.
    fsio.append(path, lines if files.ends_a_line(path) else b"\n" + lines)


def _encoded(tombstone: Tombstone) -> bytes:
    return wal.encode_line(
        {"of": tombstone.record, "hashes": sorted(tombstone.contents), "user": tombstone.user}
    )


def was_deleted(path: Path, log: wal.Wal, record_id: str) -> bool:
    """Tell of an id without a record whether one was deleted; of the whole id only, as all that is
    kept is its digest."""
    purged = {purge.seq for purge in log.purges}
    for entry in reversed(log.entries):
        if entry.record_id == record_id and entry.op == "delete":
            return entry.seq not in purged
    return digest(record_id) in read(path)


def of_user(path: Path, log: wal.Wal, user: str) -> set[str]:
    """Return the digests of the ids of all that was deleted and had been ``user``'s."""
    logged = {digest(e.record_id): _of(e) for e in log.entries if e.op == "delete"}
    known = {**read(path), **logged}
    theirs = digest(user)
    return {record for record, tombstone in known.items() if tombstone.user == theirs}


def forget(path: Path, user: str) -> None:
    """Remove the tombstones of everything that was ``user``'s."""
    known = read(path)
    theirs = digest(user)
    kept = [tombstone for tombstone in known.values() if tombstone.user != theirs]
    if len(kept) != len(known):
        fsio.write_file(path, b"".join(map(_encoded, kept)))


class Deleted:
    """Tells whether an incoming record is one that was deleted, as of a state of the store."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._base = -1
        self._seq = -1
        self._folded: Mapping[str, Tombstone] = {}
        self._logged: dict[str, Tombstone | None] = {}

    def catch_up(self, log: wal.Wal) -> None:
        """Take in what ``log`` tells; the file is read again when the log has been cut."""
        if log.base != self._base or log.last_seq < self._seq:
            self._folded = read(self._path)
            self._logged.clear()
            self._base = self._seq = log.base
        known = bisect_right(log.entries, self._seq, key=lambda entry: entry.seq)
        for entry in log.entries[known:]:
            if entry.op == "delete":
                self._logged[entry.record_id] = _of(entry)
            elif entry.seq > log.floor:  # else it may have been deleted since, and folded
                self._logged[entry.record_id] = None
        self._seq = log.last_seq

    def holds(self, record_id: str, content_hash: str) -> bool:
        """Tell whether the record of this id was deleted and had once said this very text.

        ``content_hash`` is shortened as the index keeps it.
        """
        tombstone = (
            self._logged[record_id]
            if record_id in self._logged
            else self._folded.get(digest(record_id))
        )
        return tombstone is not None and content_hash in tombstone.contents
