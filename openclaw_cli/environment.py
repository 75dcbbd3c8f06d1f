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

    def nearest_agent(self, agent: str, first: str) -> str:
        """Return the hint for an agent that is not there; ``first`` is what makes the first one."""
        from difflib import get_close_matches

        agents = self.state.agent_ids()
        close = get_close_matches(agent, agents, 1)
        if close:
            return f"did you mean --agent {close[0]}?"
        known = ", ".join(agents[:8])
        return f"agents are: {known}" if known else f"the first `openclaw {first}` makes it"
