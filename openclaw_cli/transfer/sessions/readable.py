"""Transcripts for people: Markdown, or one HTML page that needs nothing else and runs nothing.

What messages say is shown as it was written. In Markdown it is quoted line by line inside a fence
that it cannot close; in HTML every character that could be markup is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any, Protocol

import orjson

from openclaw_cli.session.schema import Message, Meta

_FACTS = (
    ("sessionId", "session"),
    ("channel", "channel"),
    ("chatId", "chat"),
    ("userId", "user"),
    ("model", "model"),
    ("createdAt", "begun"),
    ("lastActiveAt", "last active"),
    ("messageCount", "messages"),
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}h1{font-size:1.4rem;border-bottom:1px solid #ccc}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:0 1rem;color:#555}dd{margin:0}"
    "article{margin:1rem 0;padding:.5rem 1rem;border-left:4px solid #999;background:#f6f6f6}"
    "article.user{border-color:#27c}article.assistant{border-color:#2a5}"
    "article.tool{border-color:#b70}header{color:#555;font-size:.85rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:.25rem 0}"
    "pre.code{font:14px/1.4 ui-monospace,monospace;background:#eee;padding:.5rem}"
)
_FENCE = re.compile(r"^```[^\n`]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


class Form(Protocol):
    """One kind of transcript, made piece by piece."""

    def begin(self, titles: Sequence[str]) -> bytes:
        """Return what stands before the first session."""

    def session(self, meta: Meta) -> bytes:
        """Return the heading of a session."""

    def message(self, message: Message) -> bytes:
        """Return one message."""

    def end(self) -> bytes:
        """Return what stands after the last message."""


def _clean(text: object) -> str:
    """Return a text without characters that no page should hold: controls and overrides."""
    return _CONTROLS.sub("\ufffd", str(text))


def _facts(meta: Meta) -> list[tuple[str, str]]:
    named = [(label, meta.get(name)) for name, label in _FACTS]
    return [(label, _clean(value)) for label, value in named if value is not None]


def _head(message: Message) -> list[str]:
    """Return who says something, when, and in answer to what."""
    sender = message.get("sender")
    user = sender.get("userId") if isinstance(sender, dict) else None
    parts = [f"#{message['idx']}", message.get("role"), user, message.get("ts")]
    if message.get("toolCallId"):
        parts.append(f"answers {message['toolCallId']}")
    return [" ".join(_clean(part).split()) for part in parts if part]


def _said(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return _clean(content)
    return "" if content is None else _clean(_json(content))


def _calls(message: Message) -> list[tuple[str, str]]:
    """Return the tool calls of a message: which, and with what."""
    calls = message.get("toolCalls")
    found = []
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            name = f"calls {call.get('name')} ({call.get('id')})"
            args = call.get("args")
            text = args if isinstance(args, str) else _json(args)
            found.append((" ".join(_clean(name).split()), _clean(text)))
    return found


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


class Markdown:
    """Markdown: headings of ours, and what was said in fences that it cannot leave."""

    def begin(self, titles: Sequence[str]) -> bytes:
        """Return nothing: each session has a heading of its own."""
        _ = titles
        return b""

    def session(self, meta: Meta) -> bytes:
        """Return the title and what is known of the session."""
        title = " ".join(_clean(meta.get("title") or meta["sessionId"]).split())
        facts = "".join(f"- {name}: {_inline(value)}\n" for name, value in _facts(meta))
        return _encoded(f"# {_inline(title)}\n\n{facts}\n")

    def message(self, message: Message) -> bytes:
        """Return one message under a heading of its own."""
        parts = [f"## {_inline(' · '.join(_head(message)))}\n\n"]
        said = _said(message)
        if said:
            parts.append(_fenced(said))
        for name, args in _calls(message):
            parts.append(f"{_inline(name)}\n\n{_fenced(args)}")
        return _encoded("".join(parts))

    def end(self) -> bytes:
        """Return nothing."""
        return b""


def _inline(text: str) -> str:
    """Return a text on one line in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|&~-])", r"\\\1", " ".join(text.split()))


def _fenced(text: str) -> str:
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}\n\n"


class Html:
    """One page: no script, nothing fetched; a policy in the page forbids both as well."""

    def begin(self, titles: Sequence[str]) -> bytes:
        """Return the head of the page."""
        title = escape(_clean(titles[0] if len(titles) == 1 else f"{len(titles)} sessions"))
        return _encoded(
            "<!DOCTYPE html>\n<html><head><meta charset='utf-8'>\n"
            "<meta http-equiv='Content-Security-Policy'"
            " content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
            "<meta name='viewport' content='width=device-width'>\n"
            f"<title>{title}</title>\n<style>{_STYLE}</style></head><body>\n"
        )

    def session(self, meta: Meta) -> bytes:
        """Return the title and what is known of the session."""
        title = escape(_clean(meta.get("title") or meta["sessionId"]))
        facts = "".join(
            f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in _facts(meta)
        )
        return _encoded(f"<h1>{title}</h1>\n<dl>{facts}</dl>\n")

    def message(self, message: Message) -> bytes:
        """Return one message."""
        role = message.get("role")
        kind = role if role in ("user", "assistant", "tool", "system") else "other"
        head = escape(" · ".join(_head(message)))
        calls = "".join(
            f"<div>{escape(name)}</div><pre class='code'>{escape(args)}</pre>"
            for name, args in _calls(message)
        )
        said = _blocks(_said(message))
        return _encoded(f"<article class='{kind}'><header>{head}</header>{said}{calls}</article>\n")

    def end(self) -> bytes:
        """Return the end of the page."""
        return b"</body></html>\n"


def _blocks(text: str) -> str:
    """Return a text as paragraphs, what stands in fences as code."""
    parts = []
    end = 0
    for match in _FENCE.finditer(text):
        parts.append(_paragraph(text[end : match.start()]))
        parts.append(f"<pre class='code'>{escape(match[1])}</pre>")
        end = match.end()
    parts.append(_paragraph(text[end:]))
    return "".join(parts)


def _paragraph(text: str) -> str:
    shown = text.strip("\n")
    return f"<pre>{escape(shown)}</pre>" if shown.strip() else ""


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


FORMS: dict[str, Form] = {"markdown": Markdown(), "html": Html()}
