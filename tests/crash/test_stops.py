"""Stopped at any durable step in any way, nothing acknowledged is lost and nothing is half done."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.crash import machine
from tests.crash.machine import Machine, Stop
from tests.crash.operations import (
    OPERATIONS,
    Record,
    add_other,
    check_reading,
    check_recovery,
    check_whole,
    told,
)

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="paths of descriptors are read from /proc"
)

#: Of what a power cut happens to leave; each more costs some seconds.
SEEDS = range(1)

#: Does the operation in a folder, stopped at a step; returns the folder as it is afterwards.
Way = Callable[[Record, Path, int], Path]


def raised(record: Record, folder: Path, number: int) -> Path:
    """An exception that nothing expects, such as an interruption."""
    with Machine(folder, machine.raising(number)).running(), pytest.raises(Stop):
        record.operation.run(record.memory(folder))
    return folder


def exited(record: Record, folder: Path, number: int) -> Path:
    """The process ends by itself, half-way through its step where that is a write."""
    with Machine(folder, machine.exiting(number)).running():
        status = machine.in_child(lambda: record.operation.run(record.memory(folder)))
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
        status = machine.in_child(lambda: record.operation.run(record.memory(folder)), kill)
    os.close(ours)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    return folder


def power_cut(record: Record, folder: Path, number: int, *, seed: int | None = None, more=None):
    """The machine stops and starts again; ``more`` is done between the program's end and that."""
    chance = None if seed is None else Random(f"{seed} {number} {record.operation}")
    disk = Machine(folder, machine.dying(number, torn=chance is not None))
    with disk.running(), suppress(Stop):
        record.operation.run(record.memory(folder))
    disk.watch = machine.unwatched
    with disk.running():
        if more is not None:
            more(record, folder)
    rebooted = folder.with_name("rebooted")
    disk.medium.after_power_cut(rebooted, chance)
    return rebooted


def power_cut_at_random(seed: int) -> Way:
    return lambda record, folder, number: power_cut(record, folder, number, seed=seed)


def recover(record: Record, folder: Path) -> None:
    add_other(record, folder)
    record.memory(folder).index()


STOPS: dict[str, Way] = {"raise": raised, "exit": exited, "kill": killed}
POWER_CUTS: dict[str, Way] = {
    "power cut": power_cut,
    **{f"power cut, chance {seed}": power_cut_at_random(seed) for seed in SEEDS},
}


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_an_operation_takes_at_least_its_steps(record):
    assert len(record.steps) >= record.operation.steps
    assert record.least(len(record.steps) + 1) == len(record.entries)


@pytest.mark.parametrize("way", STOPS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_process_stopped_at_any_step_loses_nothing(record, way, folder):
    for step in record.steps:
        with told(record, way, step.number):
            record.copy(folder)
            left = STOPS[way](record, folder, step.number)
            least = record.least(step.number)
            check_reading(record, left, least)
            check_recovery(record, left, least)


@pytest.mark.parametrize("way", POWER_CUTS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_power_cut_at_any_step_loses_nothing_synced(record, way, folder, boot):
    for number in range(1, len(record.steps) + 2):
        with told(record, way, number):
            boot[:] = ["the first"]
            record.copy(folder)
            left = POWER_CUTS[way](record, folder, number)
            boot[:] = ["the second"]
            least = record.least(number)
            check_reading(record, left, least)
            check_recovery(record, left, least)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_what_is_added_after_a_stop_outlives_a_power_cut(record, folder, boot):
    for number in range(1, len(record.steps) + 2):
        with told(record, "stop, add, power cut", number):
            boot[:] = ["the first"]
            record.copy(folder)
            left = power_cut(record, folder, number, more=add_other)
            boot[:] = ["the second"]
            record.memory(left).index()
            check_whole(record, left, record.least(number))


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_what_is_indexed_after_a_stop_outlives_a_power_cut(record, folder, boot):
    for number in range(1, len(record.steps) + 2):
        with told(record, "stop, add, index, power cut", number):
            boot[:] = ["the first"]
            record.copy(folder)
            left = power_cut(record, folder, number, more=recover)
            boot[:] = ["the second"]
            check_whole(record, left, record.least(number))
