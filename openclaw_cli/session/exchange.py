"""Stored messages as turns in which every tool call stands with its one result."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from openclaw_cli.session.context.attachments import words
from openclaw_cli.session.schema import Message, answered_call, too_deep

#: What stands for the result of a call that has none, and for a result that says nothing.
NO_RESULT = "(no result: the call was interrupted, or its result is not recorded)"
NO_OUTPUT = "(no output)"

#: What both providers take: OpenAI ids of up to 40 characters, Anthropic ones of these characters.
_ID = r"[a-zA-Z0-9_-]{1,40}"
_NAME = r"[a-zA-Z0-9_-]{1,64}"


@dataclass(slots=True)
class Call:
    """A tool call with an id and a name that providers take, and the results it has got."""

    id: str
    name: str
    args: dict[str, Any]
    results: list[str] = field(default_factory=list)
    answered: bool = False
    failed: bool = False

    @property
    def result(self) -> str:
        """The result; of several the different ones after each other."""
        if not self.answered:
            return NO_RESULT
        return "\n\n".join(dict.fromkeys(self.results)) or NO_OUTPUT


@dataclass(slots=True)
class Turn:
    """What one of system, user and assistant says, and the calls that the assistant makes."""

    role: str
    text: str
    calls: list[Call] = field(default_factory=list)


def turns(messages: Sequence[Message]) -> list[Turn]:
    """Return the turns of messages in order; results move to their calls.

    What holds nothing and calls nothing is left out unless a user says it, and so is a result
    without its call. Where several users speak, each text says who.
    """
    named = len({_sender(message) for message in messages} - {None}) > 1
    found: list[Turn] = []
    latest: dict[str, list[Call]] = {}
    ids: set[str] = set()
    for message in messages:
        answered = answered_call(message)
        if answered is not None:
            _answer(latest.get(answered), message)
            continue
        turn = Turn(str(message["role"]), words(message))
        if turn.role == "assistant":
            turn.calls = _calls(message, ids, latest)
        elif turn.role == "user" and named and turn.text and "idx" in message:
            turn.text = f"[{_sender(message) or 'unknown'}] {turn.text}"
        if turn.text or turn.calls:
            found.append(turn)
    return found


def failed(message: Message) -> bool:
    """Tell whether a tool result says of itself that the tool has failed."""
    if message.get("role") != "tool":
        return False
    if message.get("isError") is True or message.get("error"):
        return True
    return message.get("resultStatus") in ("failed", "error", "timeout")


def _sender(message: Message) -> str | None:
    """Return who says a message, on one line: the name, if there is one, and the id."""
    sender = message.get("sender")
    if message.get("role") != "user" or not isinstance(sender, dict):
        return None
    user, name = sender.get("userId"), sender.get("name")
    if not isinstance(user, str) or not user.strip():
        return None
    known = f"{name} ({user})" if isinstance(name, str) and name.strip() else user
    return " ".join(known.replace("[", "(").replace("]", ")").split())


def _answer(calls: list[Call] | None, message: Message) -> None:
    """Give a result to the call of its id: to the first without one where several share it."""
    if not calls:
        return
    call = next((call for call in calls if not call.answered), calls[-1])
    text = words(message)
    if text:
        call.results.append(text)
    call.failed = failed(message)
    call.answered = True


def _calls(message: Message, ids: set[str], latest: dict[str, list[Call]]) -> list[Call]:
    stored = message.get("toolCalls")
    made: dict[str, list[Call]] = {}
    calls = []
    for each in stored if isinstance(stored, list) else ():
        given = each.get("id") if isinstance(each, dict) else None
        if not isinstance(given, str) or not given:
            continue
        call = Call(_id(given, ids), _name(each.get("name")), arguments(each.get("args")))
        ids.add(call.id)
        calls.append(call)
        made.setdefault(given, []).append(call)
    latest.update(made)
    return calls


def _id(given: str, taken: set[str]) -> str:
    """Return an id that is as given where it can be, and else made of it and its number."""
    if re.fullmatch(_ID, given) and given not in taken:
        return given
    number = 0
    while (made := f"call_{_digest(f'{number} {given}', 24)}") in taken:
        number += 1
    return made


def _name(given: object) -> str:
    """Return the name of a tool as given where it can be, else what is left of it and a digest."""
    name = given if isinstance(given, str) and given else "tool"
    if re.fullmatch(_NAME, name):
        return name
    kept = re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:55]
    return f"{kept}_{_digest(name, 8)}"


def _digest(text: str, length: int) -> str:
    from hashlib import sha256

    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def arguments(given: object) -> dict[str, Any]:
    """Return the arguments of a call as an object, whatever was stored: text that is JSON read."""
    value = given
    if isinstance(given, str):
        try:
            value = orjson.loads(given) if given.strip() else {}
        except orjson.JSONDecodeError:
            value = given
    if too_deep(value):
        value = "(arguments nested too deeply to be written)"
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"input": value}
