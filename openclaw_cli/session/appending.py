"""``session append``: messages checked, numbered, and appended with one lock and one fsync."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import orjson

from openclaw_cli.errors import DamagedError, InvalidTextError, OpenclawError, UsageError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import MOST_WARNINGS, Result, Warning
from openclaw_cli.session import catalog, transcript
from openclaw_cli.session.lines import TOO_LONG, Line
from openclaw_cli.session.listing import damage_warning
from openclaw_cli.session.schema import (
    LINE_LIMIT,
    Message,
    Totals,
    answered_call,
    calls_of,
    is_idx,
    message_problem,
)
from openclaw_cli.session.store import SessionStore, Writer
from openclaw_cli.session.transcript import Tail
from openclaw_cli.store import jsonl

#: Bytes that one command takes in: it holds them all until every line is known to be good.
BATCH_LIMIT = 256 << 20
#: How far back the call of a tool result is looked for: whichever of the two comes first.
LOOK_BACK = 200
LOOK_BACK_BYTES = 4 << 20


class Draft(NamedTuple):
    """One message to append: its JSON object after the idx, and what matters of its content.

    ``call`` is the id of the tool call that it answers, "" if it names none, None if it is no
    result; ``calls`` are those that it makes.
    """

    body: bytes
    totals: Totals
    calls: tuple[str, ...]
    call: str | None


def read_batch(stream: BinaryIO, now: str) -> list[Draft]:
    """Return the messages of JSON Lines.

    Raises `InvalidTextError` with the number of the first bad line: then nothing is appended.
    """
    drafts = []
    for number, raw in _lines(stream):
        value, reason = jsonl.decode(raw)
        reason = f"no JSON: {reason}" if reason else message_problem(value)
        if reason is None:
            try:
                drafts.append(draft(value, now))
                continue
            except InvalidTextError as error:
                reason = error.message
        raise InvalidTextError(
            f"line {number}: {reason}",
            hint="correct the line and give them all again: nothing was appended",
            details={"line": number},
        )
    if not drafts:
        raise UsageError(
            "no message given", hint="give --role and --content, or JSON Lines on standard input"
        )
    return drafts


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    total, number = 0, 0
    while raw := stream.readline(LINE_LIMIT + 1):
        number += 1
        total += len(raw)
        if total > BATCH_LIMIT:
            raise InvalidTextError(
                f"line {number}: more than {BATCH_LIMIT >> 20} MiB of messages at once",
                hint="give them in parts, for example with split -l 10000",
            )
        text = raw.removeprefix(b"\xef\xbb\xbf").strip()
        if len(text) > LINE_LIMIT:
            raise InvalidTextError(
                f"line {number}: {TOO_LONG}",
                hint="keep such content in a file and its name in the message",
            )
        if text:
            yield number, text


def draft(message: Message, now: str) -> Draft:
    """Return a sound message ready to append; its own idx, if any, gives way to the next one."""
    fields = {name: value for name, value in message.items() if name != "idx"}
    if fields.get("ts") is None:
        fields["ts"] = now
    try:
        body = orjson.dumps(fields)
    except orjson.JSONEncodeError as error:
        raise InvalidTextError(f"it cannot be stored: {error}") from error
    if len(body) > LINE_LIMIT - 32:
        raise InvalidTextError(TOO_LONG)
    return Draft(body, Totals().plus(message), tuple(calls_of(message)), answered_call(message))


def checked(message: Message, now: str) -> Draft:
    """Return one message ready to append; raises `InvalidTextError` for one that is not sound."""
    reason = message_problem(message)
    if reason is not None:
        raise InvalidTextError(reason)
    return draft(message, now)


def append(store: SessionStore, files: SessionFiles, drafts: list[Draft]) -> Result:
    """Append messages; they are on disk when this returns. The session is active again.

    Metadata that cannot be written then are a warning: the messages are stored, and who were told
    otherwise would append them again.
    """
    with store.writing(files) as writer:
        if os.path.lexists(files.packed):
            from openclaw_cli.session.archive import unpack

            unpack(writer)
        tail = writer.loaded.tail or Tail(next_idx=writer.meta["messageCount"])
        # The metadata are ahead of a history that has lost its end: no idx is given again.
        first = max(tail.next_idx, writer.meta["messageCount"])
        _check_room(files, first + len(drafts) - 1)
        warnings = _unanswered(files, drafts, first) + [
            damage_warning(files, line) for line in tail.damage
        ]
        # From here on the catalogue knows that it must ask, wherever this process is killed.
        store.catalog.add(catalog.mark_line(files.id))
        writer.mend()
        lines = [
            b'{"idx":%d,%b\n' % (idx, draft.body[1:]) for idx, draft in enumerate(drafts, first)
        ]
        transcript.append(files, writer.loaded.tail or tail, lines)
        warnings += _settle(writer, drafts, first)
    data = {
        "sessionId": files.id,
        "appended": len(drafts),
        "firstIdx": first,
        "lastIdx": first + len(drafts) - 1,
        "messageCount": writer.meta["messageCount"],
    }
    return Result("session.append", data, (*writer.warnings, *warnings))


def _check_room(files: SessionFiles, last: int) -> None:
    """Raise `DamagedError` where a message would get an idx that no reader takes."""
    if is_idx(last):
        return
    raise DamagedError(
        f"session {files.id}: no message can have idx {last}: the history has come to its end",
        path=str(files.history),
        hint="go on in a new session: openclaw session new",
    )


def _settle(writer: Writer, drafts: list[Draft], first: int) -> list[Warning]:
    """Bring the metadata up to what has been acknowledged; return what is to be told if not."""
    totals = Totals()
    for each in drafts:
        totals = totals.and_also(each.totals)
    changes: dict[str, Any] = {
        **totals.added_to(writer.meta),
        "messageCount": first + len(drafts),
        "lastActiveAt": writer.store.now(),
        "status": "active",
    }
    try:
        writer.save(changes, settled=False)
    except OpenclawError as error:
        said = (
            f"the messages are stored; only the metadata could not be brought up to them"
            f" ({error.message}): the next change does that"
        )
        return [Warning("meta-behind", said, str(writer.files.meta))]
    return []


def _unanswered(files: SessionFiles, drafts: list[Draft], first: int) -> list[Warning]:
    """Return a warning for each tool result whose call is not found, in a bounded look back."""
    made: set[str] = set()
    missing: list[tuple[int, str]] = []
    for idx, each in enumerate(drafts, first):
        if each.call is not None and each.call not in made:
            missing.append((idx, each.call))
        made.update(each.calls)
    if not missing:
        return []
    earlier, looked = _calls_before(files)
    warnings = [
        Warning(
            "call-missing",
            f"message {idx}: "
            + (
                f"no call {call[:80]} in the {looked} messages before the batch"
                if call
                else "a tool result that names no call"
            ),
        )
        for idx, call in missing
        if call not in earlier
    ]
    return _shortened(warnings)


def _shortened(warnings: list[Warning]) -> list[Warning]:
    more = len(warnings) - MOST_WARNINGS
    if more <= 0:
        return warnings
    return [
        *warnings[:MOST_WARNINGS],
        Warning("call-missing", f"{more} more tool results without their call"),
    ]


def _calls_before(files: SessionFiles) -> tuple[set[str], int]:
    """Return the calls made in the newest messages, and how many of these were looked at."""
    calls: set[str] = set()
    looked = 0
    with transcript.opened(files) as history:
        if history is None:
            return calls, looked
        for message in _recent(history.backward(), history.size):
            calls.update(calls_of(message))
            looked += 1
    return calls, looked


def _recent(lines: Iterable[Line], size: int) -> Iterator[Message]:
    found = 0
    for line in lines:
        if line.message is not None:
            yield line.message
            found += 1
        if found == LOOK_BACK or size - line.at > LOOK_BACK_BYTES:
            return
