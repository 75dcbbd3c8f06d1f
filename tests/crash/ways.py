"""The ways in which an operation can be stopped at one of its steps."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, Protocol

import pytest

from tests.crash import machine
from tests.crash.machine import Machine, Stop


class Record(Protocol):
    """An operation that can be done in a folder where what it needs has been prepared."""

    operation: Any

    def perform(self, folder: Path) -> object:
        """Do it."""


#: Of what a power cut happens to leave; each more costs some seconds.
SEEDS = range(1)

#: Does the operation in a folder, stopped at a step; returns the folder as it is afterwards.
Way = Callable[[Record, Path, int], Path]


def raised(record: Record, folder: Path, number: int) -> Path:
    """An exception that nothing expects, such as an interruption."""
    with Machine(folder, machine.raising(number)).running(), pytest.raises(Stop):
        record.perform(folder)
    return folder


def exited(record: Record, folder: Path, number: int) -> Path:
    """The process ends by itself, half-way through its step where that is a write."""
    with Machine(folder, machine.exiting(number)).running():
        status = machine.in_child(lambda: record.perform(folder))
    assert os.waitstatus_to_exitcode(status) == machine.STOPPED
    return folder


def killed(record: Record, folder: Path, number: int) -> Path:
    """Another process kills it without a warning."""
    ours, theirs = os.pipe()

    def kill(pid: int) -> None:
        os.close(theirs)
        assert os.read(ours, 1) == b"x"
        os.kill(pid, signal.SIGKILL)

    with Machine(folder, machine.waiting(number, theirs)).running():
        status = machine.in_child(lambda: record.perform(folder), kill)
    os.close(ours)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    return folder


def power_cut(record: Record, folder: Path, number: int, *, seed: int | None = None, more=None):
    """The machine stops and starts again; ``more`` is done between the program's end and that."""
    chance = None if seed is None else Random(f"{seed} {number} {record.operation}")
    disk = Machine(folder, machine.dying(number, torn=chance is not None))
    with disk.running(), suppress(Stop):
        record.perform(folder)
    disk.watch = machine.unwatched
    with disk.running():
        if more is not None:
            more(record, folder)
    rebooted = folder.with_name("rebooted")
    disk.medium.after_power_cut(rebooted, chance)
    return rebooted


def power_cut_at_random(seed: int) -> Way:
    return lambda record, folder, number: power_cut(record, folder, number, seed=seed)


STOPS: dict[str, Way] = {"raise": raised, "exit": exited, "kill": killed}
#: To be tried in the order of what they find; a death of its own is much like one by a signal.
WAYS = ("raise", "kill", pytest.param("exit", marks=pytest.mark.thorough))
POWER_CUTS: dict[str, Way] = {
    "power cut": power_cut,
    **{f"power cut, chance {seed}": power_cut_at_random(seed) for seed in SEEDS},
}
