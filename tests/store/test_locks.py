"""Locks: one holder at a time, and those who wait are told who it is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from openclaw_cli.clock import Clock
from openclaw_cli.errors import LockedError
from openclaw_cli.store import locks

HOLD = """
import sys, time
from pathlib import Path
from openclaw_cli.clock import Clock
from openclaw_cli.store import locks
with locks.hold(Path(sys.argv[1]), clock=Clock(), timeout=5, holder="openclaw memory index"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_held_lock_names_its_holder(tmp_path, holder):
    with (
        pytest.raises(LockedError, match=rf"process {holder.pid} \(openclaw memory index\)"),
        locks.hold(tmp_path / "lock", clock=Clock(), timeout=0, holder="x"),
    ):
        pass


def test_a_killed_holder_leaves_nothing_locked(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locks.hold(tmp_path / "lock", clock=Clock(), timeout=0, holder="x"):
        pass


def test_a_lock_can_be_taken_again_after_it_was_let_go(tmp_path):
    for _ in range(3):
        with locks.hold(tmp_path / "lock", clock=Clock(), timeout=0, holder="x"):
            pass
