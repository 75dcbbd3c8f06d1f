"""What one line of a history holds: a message, damage, or several of both.

A line is a message, or damage that is reported and passed over; nothing raises for what a line
holds. Whole messages that share a line with damage, or with each other, are found in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from openclaw_cli.session.schema import LINE_LIMIT, ROLES, Message, decode, is_idx

_PADDING = b"\0 \t\r\n"
#: What editors put before a text, and append takes: no part of a message, and no damage.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: An escaped pair of surrogates, or one alone: half of a character that a program has cut.
_SURROGATES = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_REPLACEMENT = rb"\ufffd"
#: How a message may begin that stands in the middle of a line, and how often its length is read.
_BEGINNING = re.compile(rb'\{\s*"(?:idx|role|content|ts)"\s*:')
_EFFORT = 8
#: Messages that are looked for in one line: what it comes to has to fit into memory.
_MOST_HELD = 100_000
NOT_ALONE = "it shares its line with something else"
TOO_LONG = f"it is longer than {LINE_LIMIT >> 20} MiB"


class Line(NamedTuple):
    """One line of a history: its message, or the problem why it has none (or had to be mended).

    ``number`` counts from 1, 0 where the history was read from its end; ``at`` is its byte offset,
    ``raw`` its bytes, none for a line too long to hold. ``torn`` marks an unfinished write: bytes
    after the last line end that are no message. A damaged line that holds whole messages comes in
    parts, each with its own offset and bytes.
    """

    number: int
    at: int
    raw: bytes
    message: Message | None
    problem: str | None = None
    torn: bool = False

    @property
    def place(self) -> str:
        """Say where the line is."""
        return f"line {self.number}" if self.number else f"the line at byte {self.at}"

    @property
    def text(self) -> bytes:
        """The message as JSON that any reader takes, without what stands around it."""
        text = _stripped(self.raw)
        if b"\\ud" in text or b"\\uD" in text:
            return _SURROGATES.sub(_whole, text)
        return text


def parse(raw: bytes) -> tuple[Message | None, str | None]:
    """Return the message of a line, and what is wrong with the line.

    Zero bytes before a message, as a power cut leaves them, are passed over and told. Half a
    character in a text is read as the character that stands for what is unknown.
    """
    text = _stripped(raw)
    if not text:
        return None, "zero bytes" if b"\0" in raw else None
    value, reason = decode(text)
    if reason is not None and b"\\u" in text:
        value, again = decode(_SURROGATES.sub(_whole, text))
        reason = reason if again is not None else None
    if reason is not None:
        return None, f"no JSON: {reason}"
    if not isinstance(value, dict):
        return None, "no JSON object"
    if not is_idx(value.get("idx")):
        return None, "it has no idx"
    return value, "zero bytes around the message" if b"\0" in raw else None


def _stripped(raw: bytes) -> bytes:
    return raw.strip(_PADDING).removeprefix(_BYTE_ORDER_MARK).strip(_PADDING)


def _whole(found: re.Match[bytes]) -> bytes:
    return found[0] if found[1] is None else _REPLACEMENT


def lines_of(number: int, at: int, raw: bytes, *, finished: bool) -> list[Line]:
    """Return what the bytes of one line hold: none for a blank one, several where it is damaged.

    ``finished`` tells whether a line end follows or is included.
    """
    message, problem = parse(raw)
    if message is None and problem is None:
        return []
    if message is not None or problem == "zero bytes":
        torn = message is None and not finished
        return [Line(number, at, raw, message, problem, torn)]
    parts = _parts(number, at, raw)
    if parts[-1].message is None:
        parts[-1] = parts[-1]._replace(torn=not finished)
    return parts


def _parts(number: int, at: int, raw: bytes) -> list[Line]:
    """Return a damaged line as the whole messages that it holds, and what is between them."""
    cuts = [0]
    for start, end in _held(raw):
        cuts += [start, end]
    if len(cuts) > 1 and not raw[cuts[-1] :].strip(_PADDING):
        cuts.pop()  # the line end belongs to the last message
    parts = []
    for start, end in pairwise([*cuts, len(raw)]):
        part = raw[start:end]
        message, problem = parse(part)
        if message is not None:
            parts.append(Line(number, at + start, part, message, NOT_ALONE))
        elif problem is not None:
            parts.append(Line(number, at + start, part, None, problem))
    return parts


def _held(raw: bytes) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the whole messages that a damaged line holds.

    Quotation marks within a text are escaped, so that none is found in what a message quotes.
    """
    import json

    decoder = json.JSONDecoder(strict=False)
    text = raw.decode("latin-1")  # a character for each byte: JSON's own marks are the same
    done, effort, left = 0, _EFFORT * len(raw), _MOST_HELD
    for found in _BEGINNING.finditer(raw):
        start = found.start()
        if start < done:
            continue
        try:
            _value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            # Python counts the line ends before an error, which costs a little for each byte.
            effort -= 100 + error.pos - start + error.pos // 16
        except (ValueError, RecursionError):
            effort -= len(raw) - start
        else:
            effort -= end - start
            message, _problem = parse(raw[start:end])
            if message is not None and message.get("role") in ROLES:
                yield start, end
                done, left = end, left - 1
        if effort < 0 or not left:
            return
