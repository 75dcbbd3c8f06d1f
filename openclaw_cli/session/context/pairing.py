"""The pair rule: a tool call, those made with it and all their results are one unit.

A result belongs to the nearest message before it that makes a call of its id, for ids may be used
again. A result without such a message belongs to nothing, and no context shows it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from openclaw_cli.session.context.recent import WINDOW_BYTES, Entry
from openclaw_cli.session.context.weighing import Weight
from openclaw_cli.session.schema import Message, answered_call, calls_of

#: Messages with calls whose results may still come, when a history is read forwards.
_OPEN = 64


class Unit(NamedTuple):
    """Messages that stay together, in their order."""

    entries: tuple[Entry, ...]

    @property
    def place(self) -> int:
        """Where the first of them is."""
        return self.entries[0].place

    @property
    def role(self) -> str:
        """Who says the first of them."""
        return self.entries[0].role

    @property
    def weight(self) -> Weight:
        """What they take together."""
        return total(self.entries)

    @property
    def size(self) -> int:
        """How many bytes of history they are."""
        return sum(entry.size for entry in self.entries)


def total(entries: Sequence[Entry]) -> Weight:
    """Return what messages take together."""
    tokens = sum(entry.weight.tokens for entry in entries)
    return Weight(tokens, sum(entry.weight.estimated for entry in entries))


def made_calls(message: Message) -> list[str]:
    """Return the ids of the calls that results may answer: those of the assistant that have one."""
    if message.get("role") != "assistant":
        return []
    return [call_id for call_id in calls_of(message) if call_id]


class Backwards:
    """Makes units of a history read from its end: results wait for the message with their call.

    Of results that wait for ever, those that have waited longest are given up when they are more
    than a context can hold.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, list[Entry]] = {}
        self._size = 0

    def take(self, entry: Entry) -> Unit | None:
        """Return the unit that a message completes; None for a result, which waits."""
        call = answered_call(entry.message)
        if call is not None:
            if call:
                self._waiting.setdefault(call, []).append(entry)
                self._size += entry.size
                self._forget()
            return None
        found = [entry]
        for call_id in made_calls(entry.message):
            results = self._waiting.pop(call_id, [])
            self._size -= sum(result.size for result in results)
            found += results
        return Unit(tuple(sorted(found, key=_place)))

    def _forget(self) -> None:
        while self._size > WINDOW_BYTES and len(self._waiting) > 1:
            lost = self._waiting.pop(next(iter(self._waiting)))
            self._size -= sum(entry.size for entry in lost)


class Forwards:
    """Makes units of a history read from its beginning.

    Of messages with calls only the last ones are held open, for results that are late.
    """

    def __init__(self) -> None:
        self._open: OrderedDict[int, list[Entry]] = OrderedDict()
        self._maker: dict[str, int] = {}
        self._size = 0

    def take(self, entry: Entry) -> Iterator[Unit]:
        """Yield the units that are complete now that a message has come."""
        call = answered_call(entry.message)
        if call is not None:
            place = self._maker.get(call)
            if place is not None:
                self._open[place].append(entry)
                self._size += entry.size
        elif made := made_calls(entry.message):
            self._open[entry.place] = [entry]
            self._maker.update(dict.fromkeys(made, entry.place))
            self._size += entry.size
        else:
            yield Unit((entry,))
        while len(self._open) > _OPEN or (self._size > WINDOW_BYTES and len(self._open) > 1):
            yield self._close()

    def finish(self) -> Iterator[Unit]:
        """Yield the units that were still open."""
        while self._open:
            yield self._close()

    def _close(self) -> Unit:
        place, entries = self._open.popitem(last=False)
        self._size -= sum(entry.size for entry in entries)
        for call_id in made_calls(entries[0].message):
            if self._maker.get(call_id) == place:
                del self._maker[call_id]
        return Unit(tuple(entries))


def _place(entry: Entry) -> int:
    return entry.place
