"""checkpoint.json: how far a run has come, written after each batch of tool calls."""

from __future__ import annotations

import errno
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import orjson

from openclaw_cli.clock import Clock
from openclaw_cli.errors import InvalidTextError, StorageError, UsageError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session.schema import TOO_DEEP, decode, is_idx, is_time, too_deep
from openclaw_cli.session.store import SessionStore, Writer
from openclaw_cli.store import fsio
from openclaw_cli.store.files import read_file
from openclaw_cli.store.fsio import reporting

#: The kind of checkpoint that a session can be resumed from.
KIND = "tool_batch"
READY = "ready_to_resume"
STATES = (READY, "completed", "failed")
#: Bytes of a checkpoint: it tells about calls and does not hold what they return.
LIMIT = 8 << 20
#: Seconds to wait before writing again after a failure that may pass.
BACK_OFF = (0.1, 0.2)
_PASSING = {
    *(errno.EIO, errno.EAGAIN, errno.EINTR, errno.EBUSY, errno.ETIMEDOUT),
    *(errno.ESTALE, errno.ENOMEM, errno.ENFILE, errno.EMFILE),
}

Checkpoint = dict[str, Any]

#: Every field that is known, with its value where nothing is said, in the order of the file.
_FIELDS: Mapping[str, object] = {
    "checkpointId": None,
    "kind": KIND,
    "state": None,
    "sequence": None,
    "iteration": 0,
    "historyCount": None,
    "correlationId": None,
    "createdAtUtc": None,
    "persistedAtUtc": None,
    "lastResumeAttemptAtUtc": None,
    "completedAtUtc": None,
    "completionReason": None,
    "toolCalls": [],
}
_NUMBERS = ("sequence", "iteration", "historyCount")
_TIMES = ("createdAtUtc", "persistedAtUtc", "lastResumeAttemptAtUtc", "completedAtUtc")
_CALL_TEXTS = ("toolName", "resultStatus", "failureCode")
_CALL_NUMBERS = ("durationMs", "argumentsBytes", "resultBytes")


class Stored(NamedTuple):
    """What stands in checkpoint.json: a checkpoint, or damaged bytes and the reason, or nothing."""

    checkpoint: Checkpoint | None = None
    damaged: bytes | None = None
    problem: str | None = None


def read_document(stream: BinaryIO) -> Checkpoint:
    """Return the checkpoint that a stream holds as JSON; raises `InvalidTextError` for another."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise InvalidTextError(
            f"the checkpoint has more than {LIMIT >> 20} MiB",
            hint="name the calls; what they return belongs to the messages",
        )
    if not data.strip():
        raise UsageError("no checkpoint given", hint="give it as JSON on standard input")
    document, reason = decode(data.removeprefix(b"\xef\xbb\xbf"))
    if reason is None:
        reason = problem(document)
    if reason is not None:
        raise InvalidTextError(
            f"the checkpoint: {reason}", hint="correct it and give it again: nothing was stored"
        )
    return cast("Checkpoint", document)


def problem(document: object) -> str | None:
    """Return why a document is no checkpoint, None when it is one."""
    if not isinstance(document, dict):
        return "it is no JSON object"
    if too_deep(document):
        return f"it is {TOO_DEEP}"
    for name in ("checkpointId", "kind"):
        value = document.get(name, _FIELDS[name])
        if not isinstance(value, str) or not value.strip():
            return f"{name} is not a text"
    if document.get("state") not in STATES:
        return f"state is not one of {', '.join(STATES)}"
    return _wrong_field(document) or _wrong_calls(document.get("toolCalls") or [])


def _wrong_field(document: Checkpoint) -> str | None:
    for name in _NUMBERS:
        if not is_idx(document.get(name, _FIELDS[name])):
            return f"{name} is not a whole number from 0 on"
    for name in _TIMES:
        if document.get(name) is not None and not is_time(document[name]):
            return f"{name} is not an ISO-8601 time with a zone"
    for name in ("correlationId", "completionReason"):
        if document.get(name) is not None and not isinstance(document[name], str):
            return f"{name} is not a text"
    return None


def _wrong_calls(calls: object) -> str | None:
    if not isinstance(calls, list):
        return "toolCalls is not a list"
    for number, call in enumerate(calls):
        where = f"toolCalls[{number}]"
        if not isinstance(call, dict):
            return f"{where} is no object"
        if not isinstance(call.get("callId"), str) or not call["callId"]:
            return f"{where} has no callId"
        for name in _CALL_TEXTS:
            if call.get(name) is not None and not isinstance(call[name], str):
                return f"{where}: {name} is not a text"
        for name in _CALL_NUMBERS:
            if call.get(name) is not None and not _is_amount(call[name]):
                return f"{where}: {name} is not a number from 0 on"
    return None


def _is_amount(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and value >= 0


def read(files: SessionFiles) -> Stored:
    """Return what stands in checkpoint.json."""
    try:
        with reporting("read", files.checkpoint):
            try:
                data = read_file(files.checkpoint)
            except FileNotFoundError:
                return Stored()
    except ValueError as error:
        return Stored(None, b"", str(error))
    document, reason = decode(data)
    reason = f"no JSON: {reason}" if reason else problem(document)
    if reason is not None:
        return Stored(None, data, reason)
    return Stored(document)


def store_checkpoint(store: SessionStore, files: SessionFiles, given: Checkpoint) -> Result:
    """Store a checkpoint; it is on disk when this returns.

    One with a lower sequence than that of the stored one is refused. Of a stored one with the same
    id, what the new one does not say is kept.
    """
    with store.writing(files) as writer:
        stored = read(files)
        checkpoint = _merged(stored.checkpoint, given)
        checkpoint["createdAtUtc"] = checkpoint["createdAtUtc"] or store.now()
        checkpoint["persistedAtUtc"] = store.now()
        _keep_damaged(writer, stored)
        save(files, checkpoint, store.env.clock)
    warnings = [*writer.warnings]
    if checkpoint["kind"] != KIND:
        said = f"kind {checkpoint['kind']!r} is not {KIND}: it cannot be resumed from"
        warnings.append(Warning("unknown-kind", said))
    data = {"sessionId": files.id, "checkpoint": checkpoint}
    return Result("session.checkpoint", data, tuple(warnings))


def _merged(stored: Checkpoint | None, given: Checkpoint) -> Checkpoint:
    if stored is None:
        return {**_FIELDS, **given}
    if given["sequence"] < stored["sequence"]:
        raise UsageError(
            f"sequence {given['sequence']} is lower than the stored {stored['sequence']}",
            hint="a later checkpoint is stored already, and stays as it is",
            details={"stored": stored["sequence"], "given": given["sequence"]},
        )
    if given["checkpointId"] != stored["checkpointId"]:
        return {**_FIELDS, **given}
    said = {name: value for name, value in given.items() if value is not None}
    return {**_FIELDS, **given, **stored, **said}


def _keep_damaged(writer: Writer, stored: Stored) -> None:
    """Set what is no checkpoint aside before it is replaced."""
    if stored.damaged is None:
        return
    path = writer.files.checkpoint
    kept = fsio.move_aside(path, "bad", writer.store.stamp())
    said = f"the damaged checkpoint.json was kept in {kept.name}"
    writer.warnings.append(Warning("set-aside", said, str(kept)))


def save(files: SessionFiles, checkpoint: Checkpoint, clock: Clock) -> None:
    """Write a checkpoint durably; after a failure that may pass, twice more."""
    data = orjson.dumps(checkpoint, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    _write(files.checkpoint, data, clock)


def _write(path: Path, data: bytes, clock: Clock) -> None:
    for pause in (*BACK_OFF, None):
        try:
            fsio.write_file(path, data)
            return
        except StorageError as error:
            cause = error.__cause__
            if pause is None or not isinstance(cause, OSError) or cause.errno not in _PASSING:
                raise
            clock.sleep(pause)
