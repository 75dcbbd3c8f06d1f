"""context.json: the summary of a history up to some message, derived and disposable."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import LockedError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Warning
from openclaw_cli.session.context.recent import Entry
from openclaw_cli.session.context.weighing import weigh
from openclaw_cli.session.schema import is_idx
from openclaw_cli.session.store import SessionStore
from openclaw_cli.store import fsio
from openclaw_cli.store.files import read_file

VERSION = 1
_HEAD = "[Summary of the conversation up to message {last}]\n{text}"


class Summary(NamedTuple):
    """What the messages up to idx ``last`` come to; ``end`` is the byte where the next begins.

    ``document`` is the whole file, fields of others included.
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
        return None, _unusable(files, error.strerror or str(error))
    except (ValueError, KeyError, TypeError):
        return None, _unusable(files, "it is damaged")
    if summary.last >= count:
        return None, _unusable(files, "it sums up messages that are not there")
    return summary, None


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
            fsio.write_file(files.context, encode(files, summary, store.now()))
            writer.save({"summaryCheckpoint": summary.last})
            return writer.warnings
    except LockedError as error:
        return [Warning("summary-not-kept", f"the summary is not kept: {error.message}")]


def encode(files: SessionFiles, summary: Summary, now: str) -> bytes:
    """Return the bytes of context.json."""
    document = {
        **summary.document,
        "version": VERSION,
        "sessionId": files.id,
        "summary": summary.text,
        "last": summary.last,
        "end": summary.end,
        "updatedAt": now,
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
