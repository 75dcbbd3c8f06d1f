"""Which state directory, agent, time and service a command works on."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from openclaw_cli.cli.registry import COMMANDS
from openclaw_cli.cli.render import Output
from openclaw_cli.clock import Clock, parse_when
from openclaw_cli.errors import StorageError, UsageError
from openclaw_cli.ids import IdSource
from openclaw_cli.paths import StatePaths, check_name, resolve_state_dir

if TYPE_CHECKING:
    import click

    from openclaw_cli.cli.progress import Reporter
    from openclaw_cli.config import Config
    from openclaw_cli.environment import Environment
    from openclaw_cli.memory.service import MemoryService
    from openclaw_cli.session.service import SessionService

DEFAULT_AGENT = "main"
DEFAULT_LOCK_TIMEOUT = 10.0


class Invocation:
    """One run of the program: the global options as given, and what follows from them.

    Nothing is opened or checked before it is asked for, so that ``config validate`` works with a
    broken configuration and ``--help`` without a home directory.
    """

    def __init__(self, argv: list[str]) -> None:
        self.given: dict[str, Any] = {}
        self.path = ""
        self.lines: Any = None
        self.paged = False
        options = argv[: argv.index("--")] if "--" in argv else argv
        self._scanned = frozenset(options)

    @property
    def output(self) -> Output:
        """How to speak; before the options are parsed, as the bare words suggest."""

        def wanted(name: str, *words: str) -> bool:
            return bool(self.given.get(name)) or not self._scanned.isdisjoint(words)

        return Output(
            json=wanted("json", "--json"),
            quiet=bool(self.given.get("quiet")),
            verbose=wanted("verbose", "--verbose", "-v"),
            no_color=bool(self.given.get("no_color")),
            now=lambda: self.clock.now(),
            pager=os.environ.get("PAGER", "less") if self.paged else "",
        )

    @property
    def schema(self) -> str:
        """The name of the JSON document of this command; ``error`` while none is known."""
        name = self.path.replace(" ", ".") if self.path in COMMANDS else "error"
        return f"openclaw.{name}/1"

    @cached_property
    def state(self) -> StatePaths:
        """The state directory and what lies in it; refuse a file in its place."""
        root = resolve_state_dir(self.given.get("state_dir"))
        there = next(folder for folder in (root, *root.parents) if os.path.lexists(folder))
        if not os.path.isdir(there):
            raise StorageError(
                f"{there} is not a directory",
                path=str(there),
                hint="give another --state-dir, or move the file away",
            )
        return StatePaths(root)

    @cached_property
    def agent(self) -> str:
        """The agent: ``--agent``, ``$OPENCLAW_AGENT``, or ``main``."""
        chosen = self.given.get("agent") or os.environ.get("OPENCLAW_AGENT") or DEFAULT_AGENT
        return check_name("agent", chosen)

    @property
    def agents(self) -> list[str]:
        """The agents a command works on: the chosen one, or all with ``--all-agents``."""
        return self.state.agent_ids() if self.all_agents else [self.agent]

    @property
    def all_agents(self) -> bool:
        """Tell whether ``--all-agents`` was given; refuse it together with ``--agent``."""
        if self.given.get("all_agents") and self.given.get("agent"):
            raise UsageError(
                "--agent and --all-agents exclude each other", hint="leave one of them out"
            )
        return bool(self.given.get("all_agents"))

    @cached_property
    def config(self) -> Config:
        """The configuration in force."""
        from openclaw_cli.config import Config

        return Config.load(self.state.config)

    @cached_property
    def clock(self) -> Clock:
        """The clock, fixed by ``--now``."""
        now = self.given.get("now")
        return Clock(parse_when(now, Clock().now(), option="--now")) if now else Clock()

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables of the environment."""
        return os.environ

    @property
    def editor(self) -> str:
        """The operator's editor: ``$VISUAL``, ``$EDITOR``, or vi."""
        return os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"

    @property
    def lock_timeout(self) -> float:
        """Seconds to wait for a lock."""
        return float(self.given.get("lock_timeout", DEFAULT_LOCK_TIMEOUT))

    def environment(self, state: StatePaths, config: Config) -> Environment:
        """Return what services need to know, for a state directory and a configuration."""
        from openclaw_cli.environment import Environment

        return Environment(
            state=state,
            config=config,
            clock=self.clock,
            ids=IdSource(self.clock),
            lock_timeout=self.lock_timeout,
            holder=f"openclaw {self.path}",
        )

    def memory(self, agent: str | None = None, *, embeds: bool = False) -> MemoryService:
        """Open the memory service of an agent (the chosen one by default).

        With ``embeds`` a configured provider or model that is not there is refused before anything
        is done, where it would otherwise only be a warning.
        """
        from openclaw_cli.memory.service import MemoryService

        service = MemoryService(self.environment(self.state, self.config), agent or self.agent)
        if embeds:
            _ = service.store.embedding
        return service

    def sessions(self, agent: str | None = None) -> SessionService:
        """Open the session service of an agent (the chosen one by default)."""
        from openclaw_cli.session.service import SessionService

        return SessionService(self.environment(self.state, self.config), agent or self.agent)

    def require_embedding(self) -> None:
        """Refuse a configured provider or model that is not there, for all agents alike."""
        self.memory(DEFAULT_AGENT, embeds=True)

    def progress(self) -> Reporter:
        """Return a context manager that shows progress on standard error."""
        from openclaw_cli.cli.progress import Reporter

        return Reporter(self.output, self.clock)

    def stdin(self) -> Any:
        """Return standard input as a binary stream; refuse a closed one."""
        if sys.stdin is None:
            raise UsageError("standard input is closed", hint="give a file or an argument")
        return sys.stdin.buffer


def current(ctx: click.Context) -> Invocation:
    """Return the invocation that a command belongs to."""
    return cast("Invocation", ctx.obj)
