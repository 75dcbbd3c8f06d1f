"""The sliding window: from the end of a history as much as fits, prompt and last user kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openclaw_cli.errors import UsageError
from openclaw_cli.session.context.pairing import Backwards, Unit, total
from openclaw_cli.session.context.recent import WINDOW_BYTES, Entry, Recent
from openclaw_cli.session.context.weighing import Weight, text_of


class Window(NamedTuple):
    """The messages of a context in their order, the prompt first, and what they take.

    ``limited`` tells that it is the memory of this program, not the budget, that left some out.
    """

    entries: tuple[Entry, ...]
    limited: bool = False

    @property
    def weight(self) -> Weight:
        """What the messages take together."""
        return total(self.entries)


class Lead(NamedTuple):
    """A message that stands for all messages up to idx ``last``: a summary."""

    entry: Entry
    last: int


def sliding(recent: Recent, budget: int, *, needed: int = 0, lead: Lead | None = None) -> Window:
    """Return the end of a history within ``budget`` tokens.

    The newest ``needed`` units are taken in any case. With a ``lead`` only what it does not stand
    for is taken, and the last message of a user. Raises `UsageError` naming the least budget when
    not even the prompt, the lead, that message and what is needed fit.
    """
    first = recent.prompt if lead is None else (*recent.prompt, lead.entry)
    last = -1 if lead is None else lead.last
    tail = _Tail(budget - total(first).tokens, needed)
    pairs = Backwards()
    for entry in recent.backward():
        covered = entry.message["idx"] <= last
        if tail.done or (tail.user is not None and covered):
            break
        if tail.full or covered:
            if entry.role == "user":
                tail.take_user(Unit((entry,)))
            continue
        unit = pairs.take(entry)
        if unit is not None:
            tail.take(unit)
    tail.check(budget)
    units = tail.kept if lead is not None else begun(tail.kept)
    return Window((*first, *in_order(units)), tail.limited)


def begun(units: Sequence[Unit]) -> Sequence[Unit]:
    """Return units from the first on in which a user says something; without one, all of them.

    What the assistant has said before a picture, say, goes with it.
    """
    begin = min((unit.place for unit in units if _speaks(unit)), default=0)
    return [unit for unit in units if unit.place >= begin]


def _speaks(unit: Unit) -> bool:
    return unit.role == "user" and bool(text_of(unit.entries[0].message).strip())


def in_order(units: Sequence[Unit]) -> list[Entry]:
    """Return the messages of units in the order of the history."""
    entries = [entry for unit in units for entry in unit.entries]
    return sorted(entries, key=lambda entry: entry.place)


def least_budget(least: int, budget: int) -> UsageError:
    """Return the error for a budget that cannot hold what has to be there."""
    return UsageError(
        f"a budget of {budget} tokens cannot hold the system prompt and the last user message",
        hint=f"give --budget {least} or more",
        details={"budget": budget, "least": least},
    )


class _Tail:
    """Units from the end while there is room; the last user's message takes its room from them."""

    def __init__(self, room: int, needed: int) -> None:
        self.room = room
        self.space = WINDOW_BYTES
        self.needed = needed
        self.kept: list[Unit] = []
        self.user: Unit | None = None
        self.full = False
        self.limited = False

    @property
    def done(self) -> bool:
        """Tell whether nothing further is wanted."""
        return self.full and self.user is not None

    def take(self, unit: Unit) -> None:
        """Take the next unit if there is room, else be full; the last user's one always."""
        if unit.role == "user" and self.user is None:
            self.take_user(unit)
        elif len(self.kept) < self.needed or self._fits(unit):
            self._keep(unit)
        else:
            self.full = True
            self.limited = unit.weight.tokens <= self.room

    def take_user(self, unit: Unit) -> None:
        """Take the last message of a user; the oldest units after it give way."""
        if self.user is not None:
            return
        self.user = unit
        while not self._fits(unit) and len(self.kept) > self.needed:
            gone = self.kept.pop()
            self.room += gone.weight.tokens
            self.space += gone.size
            self.full = True
        self._keep(unit)

    def _fits(self, unit: Unit) -> bool:
        return unit.weight.tokens <= self.room and unit.size <= self.space

    def _keep(self, unit: Unit) -> None:
        self.kept.append(unit)
        self.room -= unit.weight.tokens
        self.space -= unit.size

    def check(self, budget: int) -> None:
        """Raise `UsageError` when what must be there has been too much."""
        if self.room < 0:
            raise least_budget(budget - self.room, budget)
