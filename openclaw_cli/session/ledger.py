"""The ledger of tokens: a line a turn, appended durably, read as far as it is sound."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import InvalidTextError
from openclaw_cli.result import Warning
from openclaw_cli.session.schema import decode, is_time
from openclaw_cli.session.store import SessionStore
from openclaw_cli.store import files as reading
from openclaw_cli.store import fsio, locks
from openclaw_cli.store.fsio import reporting
from openclaw_cli.store.newfile import NewFile

Turn = dict[str, Any]

TOKENS = ("InputTokens", "OutputTokens", "CacheReadTokens", "CacheWriteTokens")
_TEXTS = ("CorrelationId", "SessionId", "ChannelId", "ProviderId", "ModelId")
#: Bytes of the longest line: a longer one is no turn.
LONGEST = 1 << 20
_PIECE = 1 << 16
_LARGEST = 1 << 53


class Line(NamedTuple):
    """One line of the ledger: its bytes, and its turn or the problem why it has none.

    ``raw`` is none for a line too long to hold; ``torn`` marks an unfinished write at the end.
    """

    number: int
    at: int
    raw: bytes
    turn: Turn | None
    problem: str | None = None
    torn: bool = False


def turn_problem(turn: object) -> str | None:
    """Return why a turn cannot be counted, None when it can."""
    if not isinstance(turn, dict):
        return "no JSON object"
    if not isinstance(turn.get("SessionId"), str) or not turn["SessionId"]:
        return "SessionId is missing"
    for name in _TEXTS:
        if turn.get(name) is not None and not isinstance(turn[name], str):
            return f"{name} is not a text"
    for name in TOKENS:
        if not _is_count(turn.get(name, 0)):
            return f"{name} is not a whole number from 0 on"
    if not is_time(turn.get("TimestampUtc")):
        return "TimestampUtc is not an ISO-8601 time with a zone"
    if not isinstance(turn.get("IsEstimated", False), bool):
        return "IsEstimated is not true or false"
    return _parts_problem(turn.get("EstimatedInputTokensByComponent"))


def _parts_problem(parts: object) -> str | None:
    if parts is None or (isinstance(parts, dict) and all(map(_is_count, parts.values()))):
        return None
    return "EstimatedInputTokensByComponent is not an object of whole numbers from 0 on"


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def checked(data: bytes, now: str) -> Turn:
    """Return the turn of a JSON text with every field; raises `InvalidTextError` for another one.

    Fields that are not known are kept.
    """
    value, reason = decode(data.removeprefix(b"\xef\xbb\xbf").strip())
    if reason is not None:
        raise InvalidTextError(f"no JSON: {reason}", hint="give one JSON object")
    if isinstance(value, dict):
        value = {"TimestampUtc": now, **{k: v for k, v in value.items() if v is not None}}
    problem = turn_problem(value)
    if problem is None and not any(name in value for name in TOKENS):
        problem = f"none of {', '.join(TOKENS)} is given"
    if problem is not None:
        raise InvalidTextError(
            f"the turn cannot be recorded: {problem}",
            hint='at least: {"SessionId":"...","ModelId":"...","InputTokens":1,"OutputTokens":1}',
        )
    empty = {**dict.fromkeys(_TEXTS), **dict.fromkeys(TOKENS, 0)}
    return {**empty, "EstimatedInputTokensByComponent": None, "IsEstimated": False, **value}


def record(store: SessionStore, turn: Turn) -> list[Warning]:
    """Append one turn: it is on disk when this returns. A torn end is set aside."""
    line = orjson.dumps(turn) + b"\n"
    if len(line) > LONGEST:
        raise InvalidTextError(f"the turn is longer than {LONGEST >> 20} MiB")
    path = store.paths.ledger
    store.paths.exists()
    fsio.make_folder(path.parent)
    env = store.env
    with locks.hold(
        store.paths.ledger_lock, clock=env.clock, timeout=env.lock_timeout, holder=env.holder
    ):
        warnings, before = _mended(store, path)
        fsio.append(path, before + line)
    return warnings


def _mended(store: SessionStore, path: Path) -> tuple[list[Warning], bytes]:
    """Set an unfinished write aside; return what to write before the next line."""
    source = reading.open_existing(path)
    if source is None:
        return [], b""
    with os.fdopen(source, "rb", buffering=0) as file:
        size = os.fstat(source).st_size
        start = _last_line(source, size)
        if start == size:
            return [], b""
        tail = os.pread(source, LONGEST, start) if size - start <= LONGEST else b""
        if tail and turn_problem(decode(tail.strip())[0]) is None:
            return [], b"\n"
        kept = fsio.free_name(path, "torn", store.stamp())
        with NewFile(kept) as target:
            file.seek(start)
            while piece := file.read(_PIECE):
                target.write(piece)
    fsio.sync_folder(path.parent)
    fsio.cut(path, start)
    message = f"an unfinished write of {size - start} bytes in the ledger was kept in {kept.name}"
    return [Warning("torn-tail", message, str(kept))], b""


def _last_line(fd: int, end: int) -> int:
    """Return where the bytes after the last line end begin."""
    while end > 0:
        start = max(0, end - _PIECE)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a ledger, which need not exist; blank ones are left out."""
    fd = reading.open_existing(path)
    if fd is None:
        return
    number = at = 0
    with reporting("read", path), os.fdopen(fd, "rb", buffering=_PIECE) as source:
        while raw := source.readline(LONGEST + 1):
            number += 1
            length, is_long = len(raw), len(raw) > LONGEST
            while is_long and not raw.endswith(b"\n") and (more := source.readline(_PIECE)):
                length, raw = length + len(more), more
            if is_long:
                yield Line(number, at, b"", None, f"it is longer than {LONGEST >> 20} MiB")
            elif raw.strip(b"\0 \t\r\n") or b"\0" in raw:
                yield _line(number, at, raw)
            at += length


def _line(number: int, at: int, raw: bytes) -> Line:
    value, reason = decode(raw.strip(b"\0 \t\r\n"))
    problem = f"no JSON: {reason}" if reason else turn_problem(value)
    turn = value if problem is None else None
    return Line(number, at, raw, turn, problem, turn is None and not raw.endswith(b"\n"))
