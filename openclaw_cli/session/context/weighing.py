"""How many tokens a message takes: what it says itself, else an estimate."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from openclaw_cli.session.schema import MOST, Message
from openclaw_cli.text.estimate import token_estimate

#: What the role and the marks around a message take.
OVERHEAD = 4


class Weight(NamedTuple):
    """A number of tokens, and how many of them are estimated."""

    tokens: int = 0
    estimated: int = 0

    def plus(self, other: Weight) -> Weight:
        """Return the sum of both."""
        return Weight(self.tokens + other.tokens, self.estimated + other.estimated)


def weigh(message: Message) -> Weight:
    """Return what a message takes; a stored count of 0 or of nonsense is not believed."""
    stored = message.get("tokens")
    if type(stored) is int and 0 < stored <= MOST:
        return Weight(stored, 0)
    found = OVERHEAD + token_estimate(text_of(message))
    calls = message.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            found += token_estimate(str(call.get("name", ""))) + token_estimate(
                json_text(call.get("args", {}))
            )
    return Weight(found, found)


def text_of(message: Message) -> str:
    """Return what a message says; content that is no text as text, parts of content joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part.get("text") for part in content]
        if all(isinstance(text, str) for text in texts):
            return "\n".join(map(str, texts))
    return json_text(content)


def json_text(value: object) -> str:
    """Return a value as compact JSON, a text as it is."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # nested too deeply to be written
        return "{}"
