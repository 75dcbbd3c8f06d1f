"""What session metadata and a message are, as JSON documents; unknown fields survive."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeGuard

import orjson

from openclaw_cli.clock import parse_time
from openclaw_cli.session.lifecycle import RUN_STATE, STATUS
from openclaw_cli.store import jsonl

ROLES = ("user", "assistant", "tool", "system")
#: Bytes of the longest message: a longer line is damage, and is passed over in bounded memory.
LINE_LIMIT = 32 << 20
#: The largest number of messages or tokens, and the largest cost: sums stop there. Every program
#: that reads JSON holds it exactly.
MOST = 1 << 53
#: Levels of nesting of a document: whoever shows it wraps it in some more, and not all can be
#: written that can be read.
DEPTH = 240
TOO_DEEP = f"nested more than {DEPTH} levels deep"

Meta = dict[str, Any]
Message = dict[str, Any]

#: Counters that sum up the history: the metadata caches them.
COUNTERS = (
    "messageCount",
    "totalInputTokens",
    "totalOutputTokens",
    "totalCacheReadTokens",
    "totalCacheWriteTokens",
    "totalCost",
)
_TEXTS = ("agentId", "channel", "chatId", "userId", "model", "title", "parentSessionId")
_TIMES = ("createdAt", "lastActiveAt")
_LISTS = ("tags", "childSessionIds")


def new_meta(session_id: str, agent: str, now: str) -> Meta:
    """Return the metadata of a session that begins ``now``."""
    return {
        "sessionId": session_id,
        "agentId": agent,
        "channel": None,
        "chatId": None,
        "userId": None,
        "createdAt": now,
        "lastActiveAt": now,
        **dict.fromkeys(COUNTERS, 0),
        "status": STATUS.first,
        "runState": RUN_STATE.first,
        "model": None,
        "summaryCheckpoint": None,
        "title": None,
        "tags": [],
        "overrides": {},
        "goal": None,
        "backgroundRun": None,
        "parentSessionId": None,
        "childSessionIds": [],
    }


#: The members of metadata that have a meaning here; all others are kept as they are.
KNOWN = frozenset(new_meta("", "", ""))


def encode_meta(meta: Meta) -> bytes:
    """Return the bytes of meta.json: indented, so that it can be read and edited by hand."""
    return orjson.dumps(meta, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode(raw: bytes) -> tuple[Any, str | None]:
    """Return the value of a JSON text, or None and why it has none that can be kept and shown."""
    value, reason = jsonl.decode(raw)
    if len(raw) > 2 * DEPTH and reason is None and too_deep(value, raw):
        return None, TOO_DEEP
    return value, reason


def too_deep(value: object, raw: bytes | None = None) -> bool:
    """Tell whether a value (read from ``raw``) is nested too deeply to be kept and shown."""
    return jsonl.nests_deeper(value, DEPTH, raw)


def parse_meta(data: bytes) -> tuple[Meta, list[str]]:
    """Return the sound fields of meta.json, and what is wrong with it.

    A file that is no JSON object has no sound field at all. A field that cannot be used is left
    out, so that it can be had from elsewhere.
    """
    document, reason = jsonl.decode(data)
    if reason is not None:
        return {}, ["it is empty" if not data.strip(b"\0 \r\n\t") else f"it is no JSON: {reason}"]
    if not isinstance(document, dict):
        return {}, ["it is no JSON object"]
    return sound_fields(document, data)


def sound_fields(document: Meta, raw: bytes | None = None) -> tuple[Meta, list[str]]:
    """Return the fields of metadata (read from ``raw``) that can be used, and what is wrong."""
    deep = too_deep(document, raw)
    sound, problems = {}, []
    for name, value in document.items():
        reason = _meta_problem(name, value)
        if reason is None and deep and too_deep([value]):
            reason = f"is {TOO_DEEP}"
        if reason is None:
            sound[name] = value
        else:
            problems.append(f"{name} {reason}")
    return sound, problems


def _meta_problem(name: str, value: object) -> str | None:
    """Return why a field of metadata cannot be used, None when it can."""
    if name == "messageCount" and type(value) is int and value > 1 << 53:
        return "is more than a history can have"
    if name in COUNTERS:
        sound = _is_count(value, whole=name != "totalCost")
        return None if sound else "is not a number from 0 to 2^53"
    if name in _TEXTS:
        return None if value is None or isinstance(value, str) else "is not a text"
    if name in _TIMES:
        return None if is_time(value) else "is not an ISO-8601 time with a zone"
    if name in _LISTS:
        sound = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return None if sound else "is not a list of texts"
    table = {"status": STATUS, "runState": RUN_STATE}.get(name)
    if table is not None and value not in table.states:
        return f"is not one of {', '.join(table.states)}"
    return None


def _is_count(value: object, *, whole: bool = True) -> bool:
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
        return False
    return 0 <= value <= MOST


def is_time(value: object) -> bool:
    """Tell whether ``value`` is a text that names a moment."""
    if not isinstance(value, str):
        return False
    try:
        parse_time(value)
    except ValueError:
        return False
    return True


class Totals(NamedTuple):
    """What messages add to the counters of their session, besides their number."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0

    def plus(self, message: Message) -> Totals:
        """Return the totals with one more message; numbers that make no sense count for nothing."""
        tokens = _number(message, "tokens")
        spoken = message.get("role") == "assistant"
        return Totals(
            min(self.input + (0 if spoken else tokens), MOST),
            min(self.output + (tokens if spoken else 0), MOST),
            min(self.cache_read + _number(message, "cacheReadTokens"), MOST),
            min(self.cache_write + _number(message, "cacheWriteTokens"), MOST),
            min(round(self.cost + _cost(message), 9), MOST),
        )

    def and_also(self, more: Totals) -> Totals:
        """Return the sum of both."""
        return Totals(
            self.input + more.input,
            self.output + more.output,
            self.cache_read + more.cache_read,
            self.cache_write + more.cache_write,
            self.cost + more.cost,
        )

    def added_to(self, meta: Meta) -> Meta:
        """Return the counters of ``meta`` with these totals added."""
        names = COUNTERS[1:]
        sums = {
            name: min(meta.get(name, 0) + more, MOST)
            for name, more in zip(names, self, strict=True)
        }
        return {**sums, "totalCost": round(sums["totalCost"], 9)}


def _number(message: Message, name: str) -> int:
    value = message.get(name)
    return value if isinstance(value, int) and _is_count(value) else 0


def _cost(message: Message) -> float:
    value = message.get("cost")
    return float(value) if isinstance(value, int | float) and _is_count(value, whole=False) else 0


def is_idx(value: object) -> TypeGuard[int]:
    """Tell whether ``value`` can be the place of a message in its history."""
    return type(value) is int and 0 <= value < 1 << 53


def message_problem(message: object) -> str | None:
    """Return why a message cannot be appended, None when it can."""
    if not isinstance(message, dict):
        return "not a JSON object"
    if too_deep(message):
        return TOO_DEEP
    role = message.get("role")
    if role not in ROLES:
        return f"role {_shown(role)} is not one of {', '.join(ROLES)}"
    return (
        _content_problem(message)
        or _calls_problem(message.get("toolCalls"))
        or _field_problem(message)
    )


def _content_problem(message: Message) -> str | None:
    content = message.get("content")
    if isinstance(content, str):
        return None
    if content is None and message["role"] == "assistant" and message.get("toolCalls"):
        return None
    return "content is missing" if content is None else "content is not a text"


def _calls_problem(calls: object) -> str | None:
    if calls is None:
        return None
    if not isinstance(calls, list):
        return "toolCalls is not a list"
    for call in calls:
        if not isinstance(call, dict) or not isinstance(call.get("id"), str) or not call["id"]:
            return "a tool call has no id"
        if not isinstance(call.get("name"), str) or not call["name"]:
            return f"tool call {_shown(call['id'])} has no name"
    return None


def _field_problem(message: Message) -> str | None:
    if message.get("ts") is not None and not is_time(message["ts"]):
        return f"ts {_shown(message['ts'])} is not an ISO-8601 time with a zone"
    if message.get("tokens") is not None and not _is_count(message["tokens"]):
        return "tokens is not a whole number from 0 to 2^53"
    for name in ("cacheReadTokens", "cacheWriteTokens", "cost"):
        # Other kinds of value are fields of the caller's own, and count for nothing.
        if isinstance(message.get(name), int | float) and message[name] > MOST:
            return f"{name} is larger than 2^53"
    if message.get("toolCallId") is not None and not isinstance(message["toolCallId"], str):
        return "toolCallId is not a text"
    sender = message.get("sender")
    if sender is None:
        return None
    if not isinstance(sender, dict) or not isinstance(sender.get("userId"), str):
        return "sender is not an object with a userId"
    return None


def _shown(value: object) -> str:
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def calls_of(message: Message) -> list[str]:
    """Return the ids of the tool calls that a message makes; none where the field is odd."""
    calls = message.get("toolCalls")
    if not isinstance(calls, list):
        return []
    made = [call.get("id") for call in calls if isinstance(call, dict)]
    return [call_id for call_id in made if isinstance(call_id, str)]


def answered_call(message: Message) -> str | None:
    """Return the id of the tool call that a message answers; "" for a result that names none."""
    if message.get("role") != "tool":
        return None
    call_id = message.get("toolCallId")
    return call_id if isinstance(call_id, str) else ""
