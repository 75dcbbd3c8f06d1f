"""context.json: the summary of a history up to some message, derived and disposable."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import LockedError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.context.recent import Entry
from openclaw_cli.session.context.weighing import weigh
from openclaw_cli.session.schema import is_idx
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.transcript import History
from openclaw_cli.store import fsio
from openclaw_cli.store.files import open_regular, read_file

VERSION = 1
#: Why a file that is no summary at all is not used.
DAMAGED = "it is damaged"
#: The code of the warning about a file that may be a sound one.
UNREADABLE = "summary-unreadable"
#: Bytes before the end of what is summed up that are compared: most histories are no longer.
_COMPARED = 16 << 20
_PIECE = 1 << 20
_HEAD = "[Summary of the conversation up to message {last}]\n{text}"


class Summary(NamedTuple):
    """What the messages up to idx ``last`` come to; ``end`` is the byte where the next begins.

    ``document`` is the whole file, fields of others included; ``before`` in it tells whether the
    history is still the one that was summed up.
    """

    text: str
    last: int
    end: int
    document: dict[str, Any]

    def entry(self) -> Entry:
        """Return the summary as a message of a context.

        A user says it, for what users have said must not get the weight of a system prompt.
        """
        content = _HEAD.format(last=self.last, text=self.text)
        message = {"role": "user", "content": content, "summaryUpTo": self.last}
        return Entry(-1, message, weigh(message), len(content))


def read(files: SessionFiles, count: int) -> tuple[Summary | None, Warning | None]:
    """Return the summary that a session has, if it fits a history of ``count`` messages.

    One that cannot be used is as good as none; the warning says why.
    """
    try:
        document = orjson.loads(read_file(files.context))
        summary = _parse(document)
    except FileNotFoundError:
        return None, None
    except OSError as error:
        problem = _unusable(files, error.strerror or str(error))
        return None, problem._replace(code=UNREADABLE)
    except (ValueError, KeyError, TypeError):
        return None, _unusable(files, DAMAGED)
    reason = _misfit(files, summary, count)
    return (summary, None) if reason is None else (None, _unusable(files, reason))


def _misfit(files: SessionFiles, summary: Summary, count: int) -> str | None:
    """Return why a summary is not one of this history, None when it is."""
    whose = summary.document.get("sessionId", files.id)
    if whose != files.id:
        return f"it is of the session {str(whose)[:128]}"
    if summary.last >= count:
        return "it sums up messages that are not there"
    # One written by hand, or before this was noted, does not say what it has summed up.
    known = summary.document.get("before")
    if known is None or known == _found(files, summary.end) or is_waiting(files, summary):
        return None
    return "the messages that it sums up have been changed since"


def is_waiting(files: SessionFiles, summary: Summary) -> bool:
    """Tell whether a summary fits as it was before a repair that was cut short."""
    before = summary.document.get("repaired")
    if not isinstance(before, dict) or not is_idx(before.get("end")):
        return False
    if summary.document.get("before") == _found(files, summary.end):
        return False
    return bool(before.get("before") == _found(files, before["end"]))


def _found(files: SessionFiles, end: int) -> dict[str, int]:
    with transcript.opened(files) as history:
        return _before(history, end)


def _before(history: History | None, end: int) -> dict[str, int]:
    """Return what tells whether the history is still the same up to a place, at a bounded cost."""
    crc, size = 0, min(end, _COMPARED)
    left = size
    if history is not None:
        history.source.seek(end - size)
        while left and (piece := history.source.read(min(_PIECE, left))):
            crc, left = zlib.crc32(piece, crc), left - len(piece)
    return {"bytes": size - left, "crc": crc}


def _parse(document: Any) -> Summary:
    text, last, end = document["summary"], document["last"], document["end"]
    if not isinstance(text, str) or not text.strip() or not is_idx(last) or not is_idx(end):
        raise ValueError("a field of the wrong kind")
    return Summary(text, last, end, document)


def _unusable(files: SessionFiles, reason: str) -> Warning:
    return Warning(
        "summary-unusable",
        f"session {files.id}: context.json is not used: {reason}",
        str(files.context),
    )


def keep(store: SessionStore, files: SessionFiles, summary: Summary) -> list[Warning]:
    """Write a summary and note in the metadata how far it goes, unless there is a further one.

    Who else writes to the session for too long keeps the summary from being kept, not from being
    used.
    """
    try:
        with store.writing(files) as writer:
            other, _problem = read(files, writer.meta["messageCount"])
            if other is not None and other.last >= summary.last:
                return writer.warnings
            data = encode(files, summary, store.now())
            fsio.write_file(files.context, data)
            writer.save({"summaryCheckpoint": summary.last})
            return writer.warnings
    except LockedError as error:
        return [Warning("summary-not-kept", f"the summary is not kept: {error.message}")]


def encode(files: SessionFiles, summary: Summary, now: str, history: Path | None = None) -> bytes:
    """Return the bytes of context.json; ``history`` is one that takes the place of this one."""
    if history is None:
        before = _found(files, summary.end)
    else:
        with os.fdopen(open_regular(history), "rb") as source:
            before = _before(History(source, False), summary.end)
    document = {
        **summary.document,
        "version": VERSION,
        "sessionId": files.id,
        "summary": summary.text,
        "last": summary.last,
        "end": summary.end,
        "before": before,
        "updatedAt": now,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
