"""Sessions on a disk that is full or failing: one error, nothing between before and after."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from openclaw_cli.errors import OpenclawError
from openclaw_cli.result import Result
from openclaw_cli.store import fsio
from tests.crash.conftest import Unsynced
from tests.crash.machine import Machine
from tests.crash.session_operations import OPERATIONS, Record, check, recorded
from tests.faults.test_io_errors import CODES, failing

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


def succeeds(record: Record, folder: Path) -> bool:
    """Do the operation; tell whether it did all of it, or ended with an error that says so."""
    try:
        result = record.perform(folder)
    except OpenclawError as error:
        told = error
    else:
        return not isinstance(result, Result) or not _partly(result)
    assert told.exit_status in (1, 14), told
    assert told.hint
    return False


def _partly(result: Result) -> bool:
    """Tell whether an operation says that it did not do all of it."""
    left = any(warning.code == "still-active" for warning in result.warnings)
    return left or bool(result.data.get("failed"))


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_an_error_at_any_step_is_told_and_loses_nothing(record, code, folder):
    for step in record.steps:
        record.copy(folder)
        with Machine(folder, failing(step.number, code)).running():
            done = len(record.steps) + 1 if succeeds(record, folder) else 0
        try:
            check(record, folder, done, counted=True)
        except Exception as error:
            raise AssertionError(f"{record.operation}; {step}: {error}") from error
