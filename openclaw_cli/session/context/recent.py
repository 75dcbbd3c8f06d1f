"""A history as a context needs it: the system prompt from its beginning, the rest from its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import MOST_WARNINGS, Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.context.weighing import Weight, weigh
from openclaw_cli.session.lines import Line
from openclaw_cli.session.listing import damage_warning
from openclaw_cli.session.schema import ROLES, Message
from openclaw_cli.session.transcript import History

#: Bytes of history lines that a context may hold: more than any model takes in.
WINDOW_BYTES = 12 << 20
#: System messages at the beginning that are the prompt; further ones are messages like others.
_PROMPT_MESSAGES = 32


class Entry(NamedTuple):
    """A message, its place in the history (a byte offset), what it weighs and its bytes there."""

    place: int
    message: Message
    weight: Weight
    size: int

    @property
    def role(self) -> str:
        """Who says it."""
        return str(self.message["role"])


@dataclass(slots=True)
class Recent:
    """An open history. ``prompt`` are the system messages that it begins with."""

    files: SessionFiles
    history: History | None
    prompt: tuple[Entry, ...] = ()
    start: int = 0
    damage: dict[int, Warning] = field(default_factory=dict)

    def backward(self) -> Iterator[Entry]:
        """Yield what follows the prompt, the newest message first.

        A packed history is read from its beginning once, and only its end is held; what lies
        before that comes down to the last message of a user.
        """
        if self.history is None:
            return
        if self.history.packed:
            yield from _end_of(self.forward())
            return
        for line in self.history.backward():
            if line.at < self.start:
                return
            entry = self._entry(line)
            if entry is not None:
                yield entry

    def forward(self, start: int | None = None) -> Iterator[Entry]:
        """Yield what follows the prompt, or byte ``start`` if a line begins there, in order."""
        if self.history is None:
            return
        source = self.history.source
        begin = self.start if start is None else start
        if start:
            source.seek(start - 1)
            begin = start if source.read(1) == b"\n" else self.start
        source.seek(begin)
        for line in self.history.forward():
            entry = self._entry(line)
            if entry is not None:
                yield entry

    def _entry(self, line: Line) -> Entry | None:
        if line.problem is not None and not line.torn and len(self.damage) < MOST_WARNINGS:
            self.damage[line.at] = damage_warning(self.files, line._replace(number=0))
        message = line.message
        if message is None or message.get("role") not in ROLES:
            return None
        return Entry(line.at, message, weigh(message), len(line.raw))

    def find_prompt(self) -> None:
        """Read the system messages at the beginning, and note where they end."""
        prompt: list[Entry] = []
        self.start = 0
        for entry in self.forward(0):
            if entry.role != "system" or len(prompt) == _PROMPT_MESSAGES:
                break
            prompt.append(entry)
            self.start = entry.place + entry.size
        self.prompt = tuple(prompt)

    @property
    def warnings(self) -> list[Warning]:
        """The damage met on the way, each once."""
        return list(self.damage.values())


def _end_of(entries: Iterator[Entry]) -> Iterator[Entry]:
    held: deque[Entry] = deque()
    size, user = 0, None
    for entry in entries:
        held.append(entry)
        size += entry.size
        if entry.role == "user":
            user = entry
        while size > WINDOW_BYTES and len(held) > 1:
            size -= held.popleft().size
    first = held[0].place if held else 0
    yield from reversed(held)
    if user is not None and user.place < first:
        yield user


@contextmanager
def reading(files: SessionFiles) -> Iterator[Recent]:
    """Open the history of a session, its prompt read."""
    with transcript.opened(files) as history:
        recent = Recent(files, history)
        recent.find_prompt()
        yield recent
