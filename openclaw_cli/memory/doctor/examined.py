"""Every record file, read once: which are sound, and what is wrong with the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from openclaw_cli.memory.analysis import hash_of, tells_an_edit
from openclaw_cli.memory.levels import indexed_text
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import files, recovery, scan
from openclaw_cli.store.records import VERSION, Record, parse_record

_MAJOR = int(VERSION.partition(".")[0])


@dataclass(slots=True)
class Examined:
    """Record files by what was found, as (path, reason).

    ``damaged`` cannot be understood; ``restorable`` neither, but the log can write them again;
    ``strangers`` are no record files by name or kind; ``unreadable`` were refused by the operating
    system; ``twice`` have an id that the other scope has too; ``edited`` have a text that is not
    that of their content hash; ``older`` and ``newer`` are of another format. ``checksums`` holds
    the CRC-32 of each sound record, ``present`` every id that has a file.
    """

    sound: int = 0
    damaged: list[tuple[str, str]] = field(default_factory=list)
    restorable: list[tuple[str, str]] = field(default_factory=list)
    strangers: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    twice: list[tuple[str, str]] = field(default_factory=list)
    edited: list[tuple[str, str]] = field(default_factory=list)
    older: list[tuple[str, str]] = field(default_factory=list)
    newer: list[tuple[str, str]] = field(default_factory=list)
    checksums: dict[str, int] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)


def examine_records(paths: MemoryPaths, view: recovery.View) -> Examined:
    """Read every record file; what the log is still to write or remove is judged by the log."""
    found = Examined()
    logged = recovery.final_states(view.log.entries)
    for item in scan.scan(paths):
        if isinstance(item, scan.Stranger):
            found.strangers.append((item.path, item.reason))
            continue
        path = paths.record(item.scope, item.record_id)
        better = view.better.get((item.scope, item.record_id))
        if better is not None and better.record is None:
            continue  # deleted; its file goes with the next write
        if item.record_id in found.present:
            found.twice.append((str(path), "the other scope has a record of this id too"))
            continue
        found.present.add(item.record_id)
        entry = logged.get((item.scope, item.record_id))
        is_logged = entry is not None and entry.record is not None
        _examine(found, path, item, is_logged)
    return found


def _examine(found: Examined, path: Path, item: scan.Found, is_logged: bool) -> None:
    try:
        data = files.read_file(path)
    except FileNotFoundError:
        return  # removed since it was listed
    except OSError as error:
        found.unreadable.append((str(path), error.strerror or str(error)))
        return
    except ValueError as error:
        (found.restorable if is_logged else found.damaged).append((str(path), str(error)))
        return
    try:
        record = parse_record(data, item.scope, item.record_id)
    except ValueError as error:
        if is_newer(data):
            found.newer.append((str(path), str(error)))
        else:
            (found.restorable if is_logged else found.damaged).append((str(path), str(error)))
        return
    found.sound += 1
    found.checksums[item.record_id] = crc32(data)
    _judge(found, str(path), record)


def _judge(found: Examined, path: str, record: Record) -> None:
    major = _major(record.document.get("version"))
    if major > _MAJOR:
        found.newer.append((path, f"version {record.document['version']!r:.20}"))
    elif major < _MAJOR:
        found.older.append((path, f"version {record.document.get('version')!r:.20}"))
    elif isinstance(record.document.get("content"), str):
        found.older.append((path, "content is a plain text"))
    elif tells_an_edit(record, hash_of(indexed_text(record.l0, record.l2))):
        found.edited.append((path, "the text is not the one of its contentHash"))


def is_newer(data: bytes) -> bool:
    """Tell whether the bytes of a record say that they are of a newer format than this program's.

    Such a record is not damaged, whatever it looks like.
    """
    try:
        document: Any = orjson.loads(data)
    except ValueError:
        return False
    return isinstance(document, dict) and _major(document.get("version")) > _MAJOR


def _major(version: object) -> int:
    """Return the first number of a version; 1 for records from before there was one."""
    first = version.partition(".")[0] if isinstance(version, str) else ""
    return int(first) if first.isascii() and first.isdigit() and len(first) < 6 else 1
