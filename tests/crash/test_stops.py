"""Stopped at any durable step in any way, nothing acknowledged is lost and nothing is half done."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.crash.machine import Machine, Stop, raising
from tests.crash.operations import (
    OPERATIONS,
    Record,
    add_other,
    check_healed,
    check_reading,
    check_recovery,
    check_whole,
    complaints,
    repairing,
    told,
)
from tests.crash.ways import POWER_CUTS, STOPS, WAYS, power_cut
from tests.support import Memory

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="paths of descriptors are read from /proc"
)

#: What brings a store in order without a further write.
HEALING = (Memory.index, pytest.param(repairing, marks=pytest.mark.thorough))


def recover(record: Record, folder: Path) -> None:
    add_other(record, folder)
    record.memory(folder).index()


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_an_operation_takes_at_least_its_steps(record):
    assert len(record.steps) >= record.operation.steps
    assert record.least(len(record.steps) + 1) == len(record.entries)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_process_stopped_at_any_step_loses_nothing(record, way, folder):
    for step in record.steps:
        with told(record, way, step.number):
            record.copy(folder)
            left = STOPS[way](record, folder, step.number)
            least = record.least(step.number)
            check_reading(record, left, least)
            check_recovery(record, left, least)


def after_each_stop(record: Record, folder: Path, check: Callable[[Memory, int], None]) -> None:
    """Stop at each step and call ``check`` with the store, if there is one, and what is safe."""
    for step in record.steps:
        with told(record, "raise", step.number):
            record.copy(folder)
            STOPS["raise"](record, folder, step.number)
            memory = record.memory(folder)
            if memory.paths.root.is_dir():
                check(memory, record.least(step.number))


@pytest.mark.parametrize("heal", HEALING, ids=("index", "doctor"))
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_an_index_run_or_doctor_alone_finishes_what_was_stopped(record, heal, folder):
    usual = {*complaints(record.copy(folder))}
    record.perform(folder)
    usual |= {*complaints(record.memory(folder))}

    def check(memory: Memory, least: int) -> None:
        heal(memory)
        check_healed(record, folder, least, usual)

    after_each_stop(record, folder, check)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_recovery_that_is_stopped_as_well_loses_nothing(record, folder):
    chance = Random(f"twice {record.operation}")

    def check(memory: Memory, least: int) -> None:
        with Machine(folder, raising(chance.randint(1, 30))).running(), suppress(Stop):
            memory.index()
        memory.index()
        check_whole(record, folder, least, other=False)

    after_each_stop(record, folder, check)


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
