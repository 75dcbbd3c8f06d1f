"""What two providers accept as messages, from their published rules; nothing of ours is used."""

from __future__ import annotations

import json
import re

_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_ANTHROPIC_ID = re.compile(r"^[a-zA-Z0-9_-]+$")


def check_openai(messages: list[dict]) -> None:
    """Fail unless the chat completions API of OpenAI would take these messages."""
    assert isinstance(messages, list)
    assert messages, "at least one message"
    assert messages[0]["role"] in ("system", "user")
    open_calls: list[str] = []
    for message in messages:
        role = message["role"]
        if role != "tool":
            assert not open_calls, "a call is not answered before the next message"
        if role in ("system", "user"):
            assert set(message) == {"role", "content"}
            _filled(message["content"])
        elif role == "assistant":
            open_calls = _openai_assistant(message)
        else:
            assert role == "tool", role
            assert set(message) == {"role", "content", "tool_call_id"}
            assert message["tool_call_id"] in open_calls, "a result without its call, or a second"
            open_calls.remove(message["tool_call_id"])
            _filled(message["content"])
    assert not open_calls, "a call is not answered"


def _openai_assistant(message: dict) -> list[str]:
    assert set(message) <= {"role", "content", "tool_calls"}
    if "tool_calls" not in message:
        _filled(message["content"])
        return []
    if message["content"] is not None:
        _filled(message["content"])
    assert message["tool_calls"], "an empty list is refused"
    for call in message["tool_calls"]:
        assert set(call) == {"id", "type", "function"}
        assert call["type"] == "function"
        assert 1 <= len(call["id"]) <= 40
        assert set(call["function"]) == {"name", "arguments"}
        assert _NAME.match(call["function"]["name"])
        assert isinstance(call["function"]["arguments"], str)
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    ids = [call["id"] for call in message["tool_calls"]]
    assert len(set(ids)) == len(ids), "two calls of one id"
    return ids


def check_anthropic(messages: list[dict], system: str | None) -> None:
    """Fail unless the messages API of Anthropic would take these messages and this system."""
    if system is not None:
        _filled(system)
    assert messages, "at least one message"
    assert messages[0]["role"] == "user"
    due: list[str] = []
    seen: set[str] = set()
    for before, message in zip([None, *messages], messages, strict=False):
        assert set(message) == {"role", "content"}
        assert before is None or before["role"] != message["role"], "roles alternate"
        blocks = message["content"]
        assert isinstance(blocks, list)
        assert blocks, "content is not empty"
        if message["role"] == "user":
            _anthropic_user(blocks, due)
            due = []
        else:
            assert message["role"] == "assistant"
            due = _anthropic_assistant(blocks, seen)
    assert not due, "a tool_use has no tool_result"


def _anthropic_user(blocks: list[dict], due: list[str]) -> None:
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert sorted(results) == sorted(due), "each tool_use has one tool_result right after it"
    kinds = [block["type"] for block in blocks]
    assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result"), "results come first"
    for block in blocks:
        if block["type"] == "text":
            assert set(block) == {"type", "text"}
            _filled(block["text"])
        else:
            assert set(block) <= {"type", "tool_use_id", "content", "is_error"}
            assert block.get("is_error", True) in (True, False)
            _filled(block["content"])


def _anthropic_assistant(blocks: list[dict], seen: set[str]) -> list[str]:
    ids = []
    for block in blocks:
        if block["type"] == "text":
            assert set(block) == {"type", "text"}
            _filled(block["text"])
            assert block["text"] == block["text"].rstrip(), "no white space at the end"
            continue
        assert block["type"] == "tool_use", block["type"]
        assert set(block) == {"type", "id", "name", "input"}
        assert _ANTHROPIC_ID.match(block["id"])
        assert block["id"] not in seen, "ids of tool_use are unique"
        assert _NAME.match(block["name"])
        assert isinstance(block["input"], dict)
        seen.add(block["id"])
        ids.append(block["id"])
    kinds = [block["type"] for block in blocks]
    if "tool_use" in kinds:
        assert "text" not in kinds[kinds.index("tool_use") :], "nothing is said after a tool_use"
    return ids


def _filled(content: object) -> None:
    assert isinstance(content, str)
    assert content.strip(), "content is not empty"
