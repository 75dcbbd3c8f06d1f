"""A session operation stopped at any durable step leaves what was, or what it was to make."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from openclaw_cli.store import fsio
from tests.crash.conftest import Unsynced
from tests.crash.machine import Machine, Stop, dying
from tests.crash.session_operations import (
    OPERATIONS,
    REPEATABLE,
    Record,
    Sessions,
    check,
    read,
    recorded,
)
from tests.crash.ways import POWER_CUTS, STOPS, WAYS, power_cut

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="paths of descriptors are read from /proc"
)


@pytest.fixture
def record(operation, records, tmp_path_factory, monkeypatch) -> Record:
    """The undisturbed run of ``operation``."""
    monkeypatch.setattr(fsio, "disk", Unsynced())
    name = f"session {operation.name}"
    if name not in records:
        records[name] = recorded(operation, tmp_path_factory.mktemp("operation"))
    return records[name]


@contextmanager
def told(record: Record, way: str, number: int) -> Iterator[None]:
    """Say at which step of what a check has failed."""
    at = record.steps[number - 1] if number <= len(record.steps) else "the end"
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{record.operation}; {way} at {at}: {error}") from error


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_an_operation_takes_at_least_its_steps(record):
    assert len(record.steps) >= record.operation.steps


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_process_stopped_at_any_step_loses_nothing(record, way, folder):
    for step in record.steps:
        with told(record, way, step.number):
            record.copy(folder)
            left = STOPS[way](record, folder, step.number)
            check(record, left, step.number, counted=True)


@pytest.mark.parametrize("way", POWER_CUTS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_power_cut_at_any_step_loses_nothing_synced(record, way, folder):
    for number in range(1, len(record.steps) + 2):
        with told(record, way, number):
            record.copy(folder)
            left = POWER_CUTS[way](record, folder, number)
            check(record, left, number, counted=False)


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_what_is_acknowledged_after_a_stop_outlives_a_power_cut(record, folder):
    for number in range(1, len(record.steps) + 2):
        seen: dict[str, list] = {}

        def go_on(record, folder, seen=seen):
            sessions = record.sessions(folder)
            sessions.new("otter")
            for name in [row["sessionId"] for row in sessions.listed()]:
                sessions.append(name, "after all")
                seen[name] = sessions.messages(name)

        with told(record, "stop, go on, power cut", number):
            record.copy(folder)
            left = record.sessions(power_cut(record, folder, number, more=go_on))
            assert {name: left.messages(name) for name in seen} == seen


def _ends(sessions: Sessions) -> tuple:
    """Return what there is in the end: sessions, ledger, and nothing left half made."""
    root = sessions.paths.agent
    left = [p.name for p in root.rglob(".*")]
    ledger = sessions.paths.ledger.read_bytes() if sessions.paths.ledger.exists() else b""
    holding = [p.name for p in root.rglob("*") if p.is_file() and b"of u1" in p.read_bytes()]
    return read(sessions, twice=True), ledger, left, holding


@pytest.mark.parametrize("operation", REPEATABLE, ids=str)
def test_what_was_stopped_at_any_step_is_done_again_to_its_end(
    operation, tmp_path, folder, monkeypatch
):
    monkeypatch.setattr(fsio, "disk", Unsynced())
    record = Record(operation, tmp_path)
    operation.prepare(Sessions(tmp_path / "state"))
    record.copy(folder)
    with Machine(folder).running() as machine:
        record.perform(folder)
    record.steps = machine.steps
    assert len(record.steps) >= operation.steps
    wanted = _ends(record.sessions(folder))
    for step in record.steps:
        with told(record, "dying", step.number):
            record.copy(folder)
            with Machine(folder, dying(step.number)).running(), pytest.raises(Stop):
                record.perform(folder)
            record.perform(folder)
            assert _ends(record.sessions(folder)) == wanted
