"""A file that has grown far beyond what it can hold costs itself alone, and no memory."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys

import pytest

from openclaw_cli.errors import InvalidTextError
from openclaw_cli.store import checksummed, files, tombstones, wal
from openclaw_cli.store.traces import Traces
from tests.session.support import Sessions, said
from tests.support import Memory

HUGE = 1200 << 20
ROOM = 1 << 30
FLOOD = 200_000
GROWING = [
    "memory/records/user/mem-a.json",
    "memory/wal.jsonl",
    "memory/wal.applied",
    "memory/tombstones.jsonl",
    "memory/vectors.partial",
    "memory/generations/1/config.json",
    "sessions/s0/meta.json",
    "sessions/s0/checkpoint.json",
    "sessions/s0/context.json",
    "sessions/s0/branches/draft.json",
    "sessions/catalog.jsonl",
]
COMMANDS = [
    ["memory", "list", "--json"],
    ["memory", "search", "tea", "--mode", "lexical"],
    ["memory", "add", "Said afterwards", "--no-embed"],
    ["memory", "export"],
    ["session", "list"],
    ["session", "context", "s0", "--budget", "1000"],
    ["session", "branches", "s0"],
    ["session", "append", "s0", "--role", "user", "--content", "later"],
    ["session", "resume", "s0"],
    ["session", "verify"],
    ["doctor", "--quiet"],
    ["memory", "index", "--no-embed"],
]


@pytest.fixture(scope="module")
def stocked(tmp_path_factory):
    state = tmp_path_factory.mktemp("stocked") / "state"
    memory = Memory(state)
    for name in ("a", "b", "gone"):
        memory.add(f"Likes tea {name}", id=f"mem-{name}")
    memory.service.delete(delete("mem-gone"))
    memory.index()
    memory.add("Likes coffee", id="mem-c")
    sessions = Sessions(state)
    sessions.new("s0", channel="tg")
    sessions.append("s0", "hello", said("ho", "assistant"))
    return state


def delete(name):
    from openclaw_cli.memory.requests import DeleteRequest

    return DeleteRequest((name,))


def little_room():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run(state, *args):
    return subprocess.run(
        [sys.executable, "-m", "openclaw_cli", "--state-dir", state, *args],
        capture_output=True,
        text=True,
        preexec_fn=little_room,
        timeout=60,
        check=False,
    )


def grow(path):
    path.parent.mkdir(exist_ok=True)
    with open(path, "ab") as file:
        file.truncate(HUGE)


@pytest.mark.parametrize("name", GROWING)
def test_a_file_of_zeros_costs_itself_alone(name, stocked, tmp_path):
    state = tmp_path / "state"
    shutil.copytree(stocked, state, symlinks=True)
    grow(state / "agents/main" / name)
    for command in COMMANDS:
        done = run(state, *command)
        assert done.returncode in (0, 3, 14), (command, done.stderr)
        assert "MemoryError" not in done.stderr
        if command[1] in ("list", "search") and command[0] == "memory":
            assert "Likes tea b" in done.stdout, command
    assert not list(state.glob("logs/crash-*"))
    healed = run(state, "memory", "list").stdout
    assert all(text in healed for text in ("Likes tea b", "Likes coffee", "Said afterwards"))
    # Nothing of it takes room, wherever it is kept.
    assert sum(p.lstat().st_blocks for p in state.rglob("*")) * 512 < 64 << 20


def test_a_large_record_is_damaged_and_written_again_from_the_log(stocked, tmp_path):
    state = tmp_path / "state"
    shutil.copytree(stocked, state, symlinks=True)
    memory = Memory(state)
    grow(memory.path("mem-a"))
    grow(memory.path("mem-c"))
    damaged = memory.index()["damaged"]
    assert [os.path.basename(item["path"]) for item in damaged] == ["mem-a.json", "mem-c.json"]
    assert {item["reason"] for item in damaged} == {"larger than 256 MiB, which no sound one is"}
    assert memory.listed() == ["Likes coffee", "Likes tea b"]
    assert len(list(memory.path("mem-c").parent.glob("mem-c.json.bad-*"))) == 1


def test_what_is_too_large_to_be_read_again_is_not_acknowledged(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LIMIT", 1 << 16)
    memory = Memory(tmp_path / "state")
    memory.add("x" * (60 << 10), id="mem-a")
    with pytest.raises(InvalidTextError, match="larger than"):
        memory.add("y" * (70 << 10), id="mem-b")
    assert len(memory.listed()) == 1


def test_lines_are_those_of_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_BLOCK", 8)
    path = tmp_path / "lines"
    for data in (b"", b"\n", b"a", b"a\n\nbc\n", b"0123456789" * 3 + b"\nx\n", b"01234567\n8"):
        path.write_bytes(data)
        with open(path, "rb") as source:
            found = list(files.lines(source.fileno()))
        raws = [line.raw for line in found]
        assert raws == data.split(b"\n")[: len(raws)]
        assert b"".join(data[line.begin : line.end] for line in found) == data
        assert all(data[line.begin : line.end].endswith(b"\n") == line.ended for line in found)


def test_a_line_that_is_none_is_passed_over_and_kept_whole(tmp_path):
    path = tmp_path / "wal.jsonl"
    entries = [wal.Entry(n, "put", "user", f"r{n}", {"n": n}) for n in (1, 2)]
    sound = [wal.encode_entry(entry) for entry in entries]
    path.write_bytes(wal.header(0) + sound[0] + bytes(5 << 20) + b"\n" + sound[1])
    log = wal.read(path)
    assert list(log.entries) == entries
    assert log.damaged.named == ((3, "not a log entry"),)
    kept = log.damaged.kept(path, "now")
    assert kept.read_bytes() == bytes(5 << 20) + b"\n"


def test_a_large_log_of_sound_entries_is_read(tmp_path):
    path = tmp_path / "wal.jsonl"
    text = "x" * (3 << 20)
    entries = [wal.Entry(n, "put", "user", f"r{n}", {"text": text}) for n in range(1, 8)]
    wal.append(path, wal.Wal(), entries)
    assert list(wal.read(path).entries) == entries


def test_tombstones_outlive_a_line_of_zeros_among_them(tmp_path):
    path = tmp_path / "tombstones.jsonl"
    lines = [
        wal.encode_line({"of": tombstones.digest(name), "hashes": [], "user": None})
        for name in ("a", "b")
    ]
    path.write_bytes(lines[0] + bytes(3 << 20) + b"\n" + lines[1])
    assert set(tombstones.read(path)) == {tombstones.digest("a"), tombstones.digest("b")}
    found = checksummed.inspect(path)
    checksummed.mend(path, found, "now")
    assert path.read_bytes() == b"".join(lines)


def test_traces_at_the_end_of_a_large_file_are_found(tmp_path):
    path = tmp_path / "kept"
    with open(path, "wb") as file:
        file.truncate(20 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"She keeps two greyhounds")
    assert Traces((), ["She keeps two greyhounds"]).are_in(path)
    assert not Traces((), ["She keeps three greyhounds"]).are_in(path)


def test_a_purge_takes_what_is_set_aside_however_large(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LIMIT", 1 << 16)
    memory = Memory(tmp_path / "state")
    memory.add("She keeps two greyhounds", user="u1")
    aside = memory.paths.root / "records/user/mem-x.json.bad-20260101T000000Z"
    aside.write_bytes(bytes(1 << 20) + b"She keeps two greyhounds")
    other = aside.with_name("mem-y.json.bad-20260101T000000Z")
    other.write_bytes(bytes(1 << 20) + b"of others")
    from openclaw_cli.memory.requests import PurgeRequest

    memory.service.purge(PurgeRequest("u1"))
    assert not aside.exists()
    assert other.exists()


def test_many_damaged_lines_are_named_up_to_twenty_and_counted(stocked, tmp_path):
    state = tmp_path / "state"
    shutil.copytree(stocked, state, symlinks=True)
    with open(Memory(state).paths.wal, "ab") as log:
        log.write(b"\n" * FLOOD)
    for command, status in (("list", 0), ("export", 0), ("index", 3)):
        more = ["--no-embed"] if command == "index" else []
        done = run(state, "--verbose", "memory", command, *more)
        told = [line for line in done.stderr.splitlines() if "of the write-ahead log" in line]
        assert len(told) == 21, command
        assert f"and {FLOOD - 20} more damaged lines" in told[-1]
        assert done.returncode == status
    assert run(state, "memory", "list").stderr == ""
    (kept,) = Memory(state).paths.root.glob("wal.jsonl.bad-*")
    assert kept.read_bytes() == b"\n" * FLOOD


def test_many_damaged_lines_cost_little_memory(tmp_path):
    import tracemalloc

    path = tmp_path / "wal.jsonl"
    path.write_bytes(wal.header(0) + b"\n" * (1 << 18))
    tracemalloc.start()
    log = wal.read(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert log.damaged.total == 1 << 18
    assert held < 1 << 16
    assert peak < 16 << 20


def test_a_warning_is_told_once_by_one_command(stocked, tmp_path):
    state = tmp_path / "state"
    shutil.copytree(stocked, state, symlinks=True)
    with open(Memory(state).paths.wal, "ab") as log:
        log.write(b"damage\n")
    done = run(state, "memory", "add", "Something else", "--no-embed")
    assert done.stderr.count("not a log entry") == 1


def lose(memory, name):
    """Flip a bit of the log line of a record whose file has gone."""
    lines = memory.paths.wal.read_bytes().splitlines(keepends=True)
    number = next(n for n, line in enumerate(lines) if name.encode() in line)
    lines[number] = lines[number].replace(b"coffee", b"coffef")
    memory.paths.wal.write_bytes(b"".join(lines))
    memory.path(name).unlink()
    return number + 1, lines[number]


@pytest.mark.parametrize("more", [[], ["--quiet"], ["--all-agents", "--quiet"]])
def test_index_fails_for_an_acknowledged_line_that_is_damaged(more, stocked, tmp_path):
    state = tmp_path / "state"
    shutil.copytree(stocked, state, symlinks=True)
    memory = Memory(state)
    number, line = lose(memory, "mem-c")
    listed = run(state, "memory", "list")
    assert (listed.returncode, "checksum mismatch" in listed.stderr) == (0, True)
    done = run(state, "memory", "index", "--no-embed", *more)
    (kept,) = memory.paths.root.glob("wal.jsonl.bad-*")
    assert done.returncode == 3
    assert f"line {number} of the write-ahead log: checksum mismatch; kept in {kept}" in done.stderr
    assert kept.read_bytes() == line
    assert run(state, "memory", "index", "--no-embed").returncode == 0
    doctor = run(state, "doctor")
    assert (doctor.returncode, "kept: 1 set aside" in doctor.stdout) == (0, True)


def test_index_fails_for_a_damaged_line_in_a_log_without_any_other(tmp_path):
    memory = Memory(tmp_path / "state")
    memory.add("Likes tea")
    memory.index()
    with open(memory.paths.wal, "ab") as log:
        log.write(b"damage\n")
    assert [item["path"] for item in memory.index()["failed"]] == [str(memory.paths.wal)]
    assert memory.index()["failed"] == []


def test_a_write_that_was_never_acknowledged_is_no_failure(tmp_path):
    memory = Memory(tmp_path / "state")
    memory.add("Likes tea")
    with open(memory.paths.wal, "ab") as log:
        log.write(b'{"crc":"0000')
    assert memory.index()["failed"] == []
    assert len(list(memory.paths.root.glob("wal.jsonl.torn-*"))) == 1


def test_what_stands_behind_a_hole_is_read(tmp_path):
    path = tmp_path / "wal.jsonl"
    entries = [wal.Entry(n, "put", "user", f"r{n}", {"n": n}) for n in (1, 2)]
    sound = [wal.encode_entry(entry) for entry in entries]
    path.write_bytes(wal.header(0) + sound[0])
    with open(path, "ab") as file:
        file.truncate(64 << 20)
        file.write(b"\n" + sound[1])
    assert list(wal.read(path).entries) == entries
    assert files.holds(path, [b'"id":"r2"'])
    assert not files.holds(path, [b'"id":"r3"'])
