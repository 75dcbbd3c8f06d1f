"""A context as the messages that a provider accepts as they are, and as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from openclaw_cli.errors import UsageError
from openclaw_cli.session.context.weighing import json_text
from openclaw_cli.session.schema import Message

if TYPE_CHECKING:
    from openclaw_cli.session.exchange import Call, Turn

FORMATS = ("json", "text", "openai", "anthropic")
#: What stands for the user's turn that has to come first where none is there, and where one has to
#: come at all.
BEGINNING = "(No message of a user stands before this.)"
NOTHING_SAID = "(No user has said anything yet.)"

Document = dict[str, Any]


def formatted(messages: Sequence[Message], form: str) -> Document:
    """Return the fields that say the messages in a format: ``messages``, and what stands apart.

    They begin with a system message or a user in every format. Raises `UsageError` when there is
    nothing that a provider would take.
    """
    if form == "openai":
        return {"messages": openai(messages)}
    if form == "anthropic":
        return anthropic(messages)
    if messages and messages[0].get("role") not in ("system", "user"):
        messages = [{"role": "user", "content": BEGINNING}, *messages]
    if form == "text":
        return {"messages": list(messages), "text": text(messages)}
    return {"messages": list(messages)}


def _turns(messages: Sequence[Message]) -> list[Turn]:
    from openclaw_cli.session.exchange import turns

    return turns(messages)


def openai(messages: Sequence[Message]) -> list[Document]:
    """Return messages for OpenAI's chat API: each call is answered right after it is made."""
    found: list[Document] = []
    for turn in _turns(messages):
        if turn.role == "assistant" and not found:
            found.append({"role": "user", "content": BEGINNING})
        if not turn.calls:
            found.append({"role": turn.role, "content": turn.text})
            continue
        made = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json_text(call.args)},
            }
            for call in turn.calls
        ]
        found.append({"role": "assistant", "content": turn.text or None, "tool_calls": made})
        found += [
            {"role": "tool", "tool_call_id": call.id, "content": call.result} for call in turn.calls
        ]
    if not found:
        raise _nothing()
    return found


def _nothing() -> UsageError:
    return UsageError(
        "there is nothing to give to a model: no message of the session says anything",
        hint="append what a user says first; --format json shows the messages as they are",
    )


def anthropic(messages: Sequence[Message]) -> Document:
    """Return ``messages`` for Anthropic's API, and ``system`` apart, None where there is none.

    User and assistant take turns, the user first; results stand first in the user's turn that
    follows their calls.
    """
    found = _turns(messages)
    system = "\n\n".join(turn.text for turn in found if turn.role == "system")
    made: list[Document] = []
    for turn in found:
        if turn.role == "system":
            continue
        if turn.role == "assistant" and not made:
            _say(made, "user", [_text(BEGINNING)])
        _say(made, turn.role, list(_blocks(turn)))
        if turn.calls:
            _say(made, "user", [_tool_result(call) for call in turn.calls])
    if not made and not system:
        raise _nothing()
    if not made:
        _say(made, "user", [_text(NOTHING_SAID)])
    return {"system": system or None, "messages": made}


def _say(made: list[Document], role: str, blocks: list[Document]) -> None:
    if made and made[-1]["role"] == role:
        made[-1]["content"] += blocks
    else:
        made.append({"role": role, "content": blocks})


def _blocks(turn: Turn) -> Iterable[Document]:
    if turn.text:
        yield _text(turn.text)
    for call in turn.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}


def _text(text: str) -> Document:
    return {"type": "text", "text": text}


def _tool_result(call: Call) -> Document:
    block = {"type": "tool_result", "tool_use_id": call.id, "content": call.result}
    return {**block, "is_error": True} if call.failed or not call.answered else block


def text(messages: Sequence[Message]) -> str:
    """Return the messages as text: who says what, calls and results named."""
    parts = []
    for turn in _turns(messages):
        lines = [f"{turn.role}: {turn.text}"] if turn.text else []
        for call in turn.calls:
            lines.append(f"assistant calls {call.name} ({call.id}): {json_text(call.args)}")
            kind = "fails" if call.failed else "returns"
            lines.append(f"{call.name} ({call.id}) {kind}: {call.result}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)
