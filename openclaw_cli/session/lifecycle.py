"""The lifecycle of a session and of its runs, as data: the one place that says what may follow."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from openclaw_cli.errors import TransitionError


class Table(NamedTuple):
    """What may follow what: ``allowed`` maps each state to those that may come after it."""

    name: str
    first: str
    allowed: Mapping[str, tuple[str, ...]]

    @property
    def states(self) -> tuple[str, ...]:
        """Every state there is."""
        return tuple(self.allowed)

    def check(self, current: str, wanted: str, *, whose: str) -> None:
        """Raise `TransitionError` naming what is allowed unless ``wanted`` may follow."""
        following = self.allowed.get(current, ())
        if wanted in following:
            return
        known = ", ".join(following) or "nothing"
        raise TransitionError(
            f"{whose}: {self.name} {current} cannot become {wanted}",
            hint=f"after {current} may come: {known}",
            details={"from": current, "to": wanted, "allowed": list(following)},
        )


STATUS = Table(
    "status",
    "active",
    {
        "active": ("dormant", "archived"),
        "dormant": ("active", "archived"),
        "archived": ("active",),
    },
)

_ENDED = ("completed", "failed")
_WAITING = ("paused", "blocked", "budget-limited")

RUN_STATE = Table(
    "run state",
    "idle",
    {
        "idle": ("running",),
        "running": ("idle", "continuing", *_WAITING, *_ENDED),
        "continuing": ("running", "idle", *_WAITING, *_ENDED),
        "paused": ("running", "continuing", "idle", *_ENDED),
        "blocked": ("running", "continuing", "paused", "idle", *_ENDED),
        "budget-limited": ("running", "continuing", "paused", "idle", *_ENDED),
        "completed": ("running", "idle"),
        "failed": ("running", "idle"),
    },
)


class Patience(NamedTuple):
    """How long a session stays as it is without a message."""

    idle: timedelta
    archive: timedelta

    def due(self, status: str, silent: timedelta) -> str | None:
        """Return the status that ``silent`` time since the last message calls for, None to stay.

        A silence below zero is that of a clock which was set back: it calls for nothing.
        """
        if status != "archived" and silent >= self.idle + self.archive:
            return "archived"
        if status == "active" and silent >= self.idle:
            return "dormant"
        return None
