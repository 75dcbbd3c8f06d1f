"""What a check of the doctor finds, and one agent's memory as the checks of a run see it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from openclaw_cli.environment import Environment
from openclaw_cli.errors import OpenclawError
from openclaw_cli.index.file.base import Base, open_base
from openclaw_cli.memory.doctor.examined import Examined, examine_records
from openclaw_cli.memory.store import Store
from openclaw_cli.result import Warning, counted
from openclaw_cli.store import locks, recovery, survey

OK = "ok"
#: Can be made right without losing anything, by ``doctor --fix`` or by the command of the hint.
FIXABLE = "fixable"
#: Something that was there cannot be read; it can only be set aside.
DAMAGED = "damaged"
_SHOWN = 3


class Fault(NamedTuple):
    """One thing that is wrong, and where."""

    path: str
    reason: str


class Check(NamedTuple):
    """The outcome of one check, of one agent or of the whole state directory."""

    name: str
    state: str
    detail: str
    agent: str | None = None
    faults: tuple[Fault, ...] = ()
    hint: str | None = None
    fixed: bool = False

    @property
    def key(self) -> tuple[str | None, str]:
        """What tells the check from every other one of a run."""
        return self.agent, self.name

    def document(self) -> dict[str, Any]:
        """Return the check as it stands in a JSON document."""
        return {
            "name": self.name,
            "agent": self.agent,
            "ok": self.state == OK,
            "state": self.state,
            "detail": self.detail,
            "fixed": self.fixed,
            "hint": self.hint,
            "faults": [fault._asdict() for fault in self.faults],
        }


def judged(
    name: str,
    sound: str,
    faults: Sequence[Fault],
    state: str,
    what: str,
    hint: str | None = None,
) -> Check:
    """Return the check that is ok with the detail ``sound``, or has ``faults`` and names the first.

    ``what`` says what is wrong, a # in it stands for the number of faults; ``hint`` what to do.
    """
    if not faults:
        return Check(name, OK, sound)
    said = what.replace("# faults", counted(len(faults), "fault"))
    said = said.replace("#", str(len(faults)))
    return Check(name, state, f"{said}: {named(faults)}", faults=tuple(faults), hint=hint)


def named(faults: Sequence[Fault]) -> str:
    """Return the first of ``faults`` in words, and how many more there are."""
    shown = "; ".join(f"{os.path.basename(path)}: {reason}" for path, reason in faults[:_SHOWN])
    return shown + (f"; and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else "")


def mebibytes(count: int) -> str:
    """Return a number of bytes in words."""
    return f"{count} bytes" if count < 1 << 20 else f"{count / (1 << 20):,.1f} MiB"


class Patient:
    """One agent as the checks of one run see it: each thing is read once, nothing is written."""

    def __init__(self, env: Environment, agent: str) -> None:
        self.env = env
        self.agent = agent
        self.store = Store(env, agent)
        self.paths = self.store.paths

    @cached_property
    def obstacle(self) -> OpenclawError | None:
        """Why the memory folder cannot be opened at all."""
        try:
            self.paths.exists()
        except OpenclawError as error:
            return error
        return None

    @property
    def has_memory(self) -> bool:
        """Tell whether there is a memory folder that can be opened."""
        return self.obstacle is None and self.paths.root.is_dir()

    @cached_property
    def items(self) -> list[survey.Item]:
        """Everything below the memory folder."""
        return list(survey.walk(self.paths.root))

    @cached_property
    def view(self) -> recovery.View:
        """The log, and what of it the record files lack."""
        return self.store.repository.view()

    @cached_property
    def opened(self) -> tuple[Base | None, str | None]:
        """The index, or None and the reason why there is none to use."""
        return open_base(self.paths)

    @cached_property
    def records(self) -> Examined:
        """Every record file, read."""
        return examine_records(self.paths, self.view)

    def mark(self) -> tuple[object, ...]:
        """Return what is another when somebody has written meanwhile."""
        found: list[object] = []
        for path in (self.paths.wal, self.paths.applied, self.paths.index):
            try:
                state = os.lstat(path)
            except OSError:
                found.append(None)
            else:
                found.append((state.st_ino, state.st_size, state.st_mtime_ns))
        return tuple(found)

    @cached_property
    def is_busy(self) -> bool:
        """Tell whether somebody writes right now: what is half done then is not left over."""
        return any(self.lock(path) for path in (self.paths.writer_lock, self.paths.indexer_lock))

    def lock(self, path: Path) -> bool:
        """Tell whether a lock is held."""
        try:
            seen = locks.look(path)
        except (OSError, ValueError, OpenclawError):
            return False  # the check of the locks tells
        return seen is not None and seen.held


#: Looks at an agent without writing; yields what it has found, sound or not.
AgentCheck = Callable[[Patient], Iterable[Check]]


class Part(NamedTuple):
    """What of an agent is checked together, and how that is repaired (where anything is).

    The repair gets the checks that are not ok, takes the locks it needs, and removes nothing that
    is not derived.
    """

    checks: Sequence[AgentCheck]
    repair: Callable[[Patient, Sequence[Check]], list[Warning]] | None = None
