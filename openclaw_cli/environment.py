"""What a command brings along: where the state lies, its configuration, the clock, the patience."""

from __future__ import annotations

from typing import NamedTuple

from openclaw_cli.clock import Clock
from openclaw_cli.config import Config
from openclaw_cli.ids import IdSource
from openclaw_cli.paths import StatePaths


class Environment(NamedTuple):
    """Everything outside a store that its operations depend on.

    ``lock_timeout`` is in seconds, ``holder`` is told to processes that wait for our lock.
    """

    state: StatePaths
    config: Config
    clock: Clock
    ids: IdSource
    lock_timeout: float
    holder: str
