"""Messages whose text is empty: what they hold instead, in a few words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from openclaw_cli.session.context.weighing import text_of
from openclaw_cli.session.schema import Message

#: Fields in which programs keep what is sent besides a text.
_FIELDS = (
    "attachments",
    "attachment",
    "media",
    "files",
    "file",
    "images",
    "image",
    "photos",
    "photo",
    "audio",
    "voice",
    "videos",
    "video",
    "documents",
    "document",
    "sticker",
    "location",
    "contact",
    "poll",
)
_GENERAL = frozenset({"attachments", "attachment", "media", "files", "file"})
_KINDS = ("type", "kind", "mimeType", "mime_type", "contentType")
_NAMES = ("name", "fileName", "file_name", "filename", "title", "path", "url")
_SHOWN, _CHARACTERS = 10, 80
NO_TEXT = "[message without text]"


def words(message: Message) -> str:
    """Return what a message says: its text, or in brackets what it holds; "" if that is nothing.

    A user has sent something even where nobody knows what.
    """
    text = text_of(message).strip()
    if text:
        return text
    held = list(_held(message))
    if not held:
        return NO_TEXT if message.get("role") == "user" else ""
    shown = [label for label in held[:_SHOWN] if label]
    more = len(held) - len(shown) if len(held) > 1 else 0
    if more:
        shown.append(f"{more} more" if shown else str(more))
    kind = "attachment" if len(held) == 1 else "attachments"
    return f"[{kind}: {', '.join(shown)}]" if shown else f"[{kind}]"


def _held(message: Message) -> Iterator[str]:
    """Yield a label for each thing that a message holds, "" for one of which nothing is known."""
    for field in _FIELDS:
        value = message.get(field)
        for each in value if isinstance(value, list) else [value]:
            if each:
                yield _label(each) or ("" if field in _GENERAL else field.removesuffix("s"))


def _label(value: Any) -> str:
    if isinstance(value, str):
        return _short(value)
    if not isinstance(value, dict):
        return ""
    kind = next((value[name] for name in _KINDS if isinstance(value.get(name), str)), "")
    name = next((value[name] for name in _NAMES if isinstance(value.get(name), str)), "")
    return " ".join(filter(None, (_short(kind), _short(name))))


def _short(text: str) -> str:
    """Return a name or an address on one line; nothing for what is the content itself."""
    if text.startswith("data:") or len(text) > 2000:
        return ""
    line = " ".join(text.replace("[", "(").replace("]", ")").split())
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…"
