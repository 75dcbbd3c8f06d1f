"""A disk that is full, read-only, forbidden or failing: one error; the same command works later.

Errors are injected at every durable step of every operation of tests/crash; a small real disk is
filled where the machine allows mounting.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
from pathlib import Path

import pytest

from openclaw_cli.errors import StorageError
from tests.crash.machine import Machine, Watch, unwatched
from tests.crash.operations import (
    OPERATIONS,
    Record,
    add_other,
    check_reading,
    check_recovery,
    check_state,
    check_whole,
    told,
    truth,
)

#: Which steps an error goes on to hit once it has occurred: a full disk still lets go of files.
_NEED_SPACE = {"create", "mkdir", "write", "symlink"}
_ALL = {*_NEED_SPACE, "fsync", "sync_all", "rename", "unlink", "rmdir", "truncate"}
LASTING: dict[int, set[str]] = {
    errno.ENOSPC: _NEED_SPACE,
    errno.EDQUOT: _NEED_SPACE,
    errno.EROFS: _ALL,
    errno.EIO: set(),
    errno.EACCES: set(),
}


#: A full and a failing disk first; what is forbidden takes the same ways.
CODES = [
    pytest.param(code, marks=() if code in (errno.ENOSPC, errno.EIO) else pytest.mark.thorough)
    for code in LASTING
]


def failing(number: int, code: int) -> Watch:
    """Fail the step, and the later ones that the error goes on to hit.

    A full or a failing disk takes half of a write before.
    """

    def watch(step, half):
        if step.number == number and code in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            half()
        if step.number == number or (step.number > number and step.kind in LASTING[code]):
            raise OSError(code, os.strerror(code))

    return watch


def fails(record: Record, folder: Path) -> bool:
    """Do the operation; tell whether it ended with the error that is due, saying where."""
    try:
        record.operation.run(record.memory(folder))
    except StorageError as error:
        return bool(error.path and error.hint)
    return False


def again(record: Record, folder: Path) -> None:
    """Do the operation again, unless all it was to acknowledge is there already."""
    memory = record.memory(folder)
    if not record.entries or truth(memory) != record.truths[-1]:
        record.operation.run(memory)
    check_state(truth(memory), record.truths[-1:])


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_an_error_at_any_step_leaves_the_store_as_before_or_after(record, code, folder):
    for step in record.steps:
        with told(record, errno.errorcode[code], step.number):
            least = record.least(step.number)
            memory = record.copy(folder)
            with Machine(folder, failing(step.number, code)).running():
                failed = fails(record, folder)
            check_reading(record, folder, least)
            assert truth(memory) in (record.truths[least:] if failed else record.truths[-1:])
            again(record, folder)
            check_recovery(record, folder, len(record.entries))


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_a_failed_sync_is_not_taken_for_done_the_next_time(record, folder, boot):
    """What the kernel could not write it forgets, and says so once: a second sync saves nothing."""
    rebooted = folder.with_name("rebooted")
    for step in record.steps:
        if step.kind != "fsync":
            continue
        with told(record, "failed sync", step.number):
            boot[:] = ["the first"]
            memory = record.copy(folder)
            disk = Machine(folder, failing(step.number, errno.EIO))
            with disk.running():
                failed = fails(record, folder)
                if (step.number, step.path.name) in record.commits:
                    assert failed
                    assert truth(memory) == record.truths[record.least(step.number)]
                assert failed or truth(memory) == record.truths[-1]
                disk.watch = unwatched
                again(record, folder)
                add_other(record, folder)
                record.memory(folder).index()
            disk.medium.after_power_cut(rebooted)
            boot[:] = ["the second"]
            check_whole(record, rebooted, len(record.entries))


# -- a real disk that is full ----------------------------------------------------------------------

PAGE = 4096
COMMANDS = {
    "add": ["add", "Otters hold hands while they sleep", "--id", "otter", "--no-embed"],
    "import": ["import", "{file}", "--no-embed"],
    "index": ["index", "--no-embed"],
}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of four megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode != 0:
        pytest.skip(f"mounting is not allowed: {done.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(place: Path, free: int) -> Path:
    """Fill the file system but for ``free`` bytes; return the file that takes the room."""
    ballast = place / "ballast"
    room = os.statvfs(place)
    ballast.write_bytes(bytes(max(0, room.f_bavail * room.f_frsize - free)))
    return ballast


def lines(first: int, count: int) -> str:
    texts = (f"note {n} about otter number {n} and its {n * n} friends" for n in range(count))
    return "\n".join(json.dumps({"id": f"n{first + n}", "text": t}) for n, t in enumerate(texts))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_real_disk_that_fills_up(command, small_disk, run_cli, tmp_path):
    def memory(*args, **options):
        return run_cli("--state-dir", small_disk / "state", "memory", *args, "--json", **options)

    memory("import", "-", "--no-embed", stdin=lines(0, 60))
    memory("index", "--no-embed")
    before = memory("import", "-", "--no-embed", stdin=lines(1000, 40)).data["total"]
    more = tmp_path / "more.jsonl"
    more.write_text(lines(2000, 300))
    args = [arg.format(file=more) for arg in COMMANDS[command]]
    expected = {"add": before + 1, "import": before + 300, "index": before}[command]
    failures = 0
    for pages in (0, 1, 2, 4, 8, 16, 32, 64, 128):
        ballast = fill(small_disk, pages * PAGE)
        run = memory(*args)
        total = memory("list").data["total"]
        ballast.unlink()
        if run.status == 0:
            break
        failures += 1
        assert (run.status, run.error["code"]) == (1, "storage")
        assert before <= total <= expected
    # One more line finds room in the log where a new file finds none.
    assert failures or [warning["code"] for warning in run.document["warnings"]] == [
        "record-behind"
    ]
    assert memory(*args).status == 0
    assert memory("index", "--verify", "--no-embed").data["failed"] == []
    assert memory("list").data["total"] == expected
    assert not (small_disk / "state" / "logs").exists(), "the program has crashed"
