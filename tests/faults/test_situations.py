"""What befalls a store in years: other boots, versions, copies, clocks, names and file systems."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter

import pytest

from openclaw_cli import ids
from openclaw_cli.errors import StorageError
from openclaw_cli.memory.requests import DeleteRequest, EditRequest, PurgeRequest
from openclaw_cli.store import fsio, recovery, wal
from tests.concurrency.test_processes import add, finished
from tests.support import Memory

TEXTS = ["Likes green tea", "Plays chess", "住在杭州"]


@pytest.fixture
def memory(tmp_path):
    return Memory(tmp_path / "state")


@pytest.fixture
def reboot(monkeypatch):
    return lambda: monkeypatch.setattr(ids, "boot_id", lambda: "another boot")


def check(memory: Memory, texts: list[str]) -> None:
    """All texts are there once and found; an index run proves the store clean."""
    memory.index()
    report = memory.index(verify=True)
    assert report["damaged"] == []
    assert report["added"] == report["updated"] == report["removed"] == 0
    assert Counter(memory.listed(limit=None)) == Counter(texts)
    assert memory.service.status().data["stale"] == []
    for text in texts:
        assert memory.found(text, top_k=1) == [text]


# -- the log is all there is -----------------------------------------------------------------------


def test_a_record_in_the_log_only_is_read_and_written_again(memory, reboot):
    memory.add(TEXTS[0])
    memory.index()
    added = [memory.add(text)["id"] for text in TEXTS[1:]]
    memory.path(added[0]).unlink()
    reboot()
    assert sorted(memory.listed()) == sorted(TEXTS)
    assert memory.found("chess") == ["Plays chess"]
    assert not memory.path(added[0]).exists()
    memory.add(TEXTS[0])
    check(memory, TEXTS)
    assert memory.path(added[0]).exists()


@pytest.mark.parametrize("folders", [["records"], ["records", "generations"]])
def test_a_log_alone_gives_every_record_that_it_holds(memory, reboot, folders):
    folded = memory.add("Folded long ago")["id"]
    memory.index()
    for text in TEXTS:
        memory.add(text)
    for name in folders:
        shutil.rmtree(memory.paths.root / name)
    if "generations" in folders:
        memory.paths.index.unlink()
    reboot()
    assert set(memory.listed()) == set(TEXTS)
    assert memory.found("chess") == ["Plays chess"]
    check(memory, TEXTS)
    assert not memory.path(folded).exists()


# -- an index of another version -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("member", "value"), [("format", 1), ("format", 99), ("tokenizer", "another/7")]
)
def test_an_index_of_another_version_is_told_and_rebuilt(memory, member, value):
    for text in TEXTS[:2]:
        memory.add(text, embed=True)
    memory.index(embed=True)
    memory.add(TEXTS[2])
    config = memory.paths.index / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_bytes()), member: value}))
    found = memory.search("tea 杭州")
    assert TEXTS[2] in [hit["l0"] for hit in found.data["results"]]
    (warning,) = (w for w in found.warnings if w.code == "index-stale")
    assert "openclaw memory index" in warning.message
    assert memory.index()["records"] == 3
    check(memory, TEXTS)


# -- a copy that was made while a writer ran -------------------------------------------------------

COPIERS = {
    "cp": lambda source, target: ["cp", "-r", source, target],
    "rsync": lambda source, target: ["rsync", "-a", f"{source}/", f"{target}/"],
    "tar": lambda source, target: [
        "sh", "-c", 'mkdir "$2"; tar -C "$1" -cf - . | tar -C "$2" -xf -', "sh", source, target
    ],
}  # fmt: skip
#: Adds and merges without end, with many checkpoints; says what it has acknowledged.
WRITER = """
import sys
from pathlib import Path
from itertools import count
from tests.support import Memory
memory = Memory(Path(sys.argv[1]))
for number in count():
    text = f"copied text zx{number}q"
    if number % 4:
        memory.add(text)
    else:
        memory.add(text, category="preference", key="slot")
    print(text, flush=True)
"""


@pytest.mark.parametrize("copier", COPIERS)
def test_a_copy_made_while_a_writer_runs_recovers(tmp_path, copier):
    if shutil.which(copier) is None:
        pytest.skip(f"{copier} is not installed")
    state = tmp_path / "state"
    state.mkdir()
    (state / "openclaw.json").write_text('{"memory": {"wal": {"maxEntries": 20}}}')
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(state)], stdout=subprocess.PIPE, text=True
    )
    try:
        for number in range(4):
            acknowledged = [writer.stdout.readline().strip() for _ in range(15)]
            target = tmp_path / f"copy{number}"
            # A file that goes away meanwhile is a failure to cp, not to us.
            command = COPIERS[copier](str(state), str(target))
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False, timeout=60)
            check_copy(Memory(target), acknowledged)
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=60)


def check_copy(copy: Memory, acknowledged: list[str]) -> None:
    copy.index()
    report = copy.index(verify=True)
    assert (report["damaged"], report["added"], report["removed"]) == ([], 0, 0)
    assert copy.service.status().data["stale"] == []
    documents = [json.loads(path.read_bytes()) for path in copy.path("x").parent.glob("*.json")]
    texts = [d["content"]["l0"] for d in documents]
    assert sorted(copy.listed(limit=None)) == sorted(texts)
    said = texts + [entry["content"]["l0"] for d in documents for entry in d["history"]]
    assert set(acknowledged) <= set(said)
    assert len(said) == len(set(said))
    assert copy.found(texts[-1], top_k=1) == [texts[-1]]


# -- clocks and names ------------------------------------------------------------------------------


def deleted(memory: Memory) -> None:
    memory.service.delete(DeleteRequest(("mem-1",)))


def edited_with_the_clock_back(memory: Memory) -> None:
    memory.later(days=-1)
    memory.service.edit(EditRequest("mem-1", l0="Plays go", embed=False))
    memory.later(days=1)


def purged(memory: Memory) -> None:
    memory.service.purge(PurgeRequest("u1"))


def said_anew(memory: Memory) -> None:
    deleted(memory)
    memory.imported([{"id": "mem-1", "content": "Plays go"}])


@pytest.mark.parametrize("boots", [1, 2])
@pytest.mark.parametrize("later", [deleted, edited_with_the_clock_back, purged, said_anew])
def test_a_log_that_is_older_than_the_rest_brings_nothing_back(memory, later, boots, reboot):
    """As a copy has it that took the log first and the rest when more had been done."""
    memory.add(TEXTS[0])
    memory.index()
    memory.add(TEXTS[1], id="mem-1", user="u1")
    older = memory.paths.wal.read_bytes()
    later(memory)
    memory.index()
    files = {path: path.read_bytes() for path in memory.paths.root.glob("records/*/*")}
    texts = memory.listed()
    memory.paths.wal.write_bytes(older)
    if boots == 2:
        reboot()
    assert memory.listed() == texts
    memory.add("One more")
    assert {path: path.read_bytes() for path in files} == files
    reboot()
    assert sorted(memory.listed()) == sorted([*texts, "One more"])
    check(memory, [*texts, "One more"])
    if later is purged:
        assert TEXTS[1].encode() not in memory.paths.wal.read_bytes()


@pytest.mark.parametrize("trusts", [True, False], ids=["the hint copied too", "no hint"])
@pytest.mark.parametrize("purges", [False, True])
def test_record_files_that_are_older_than_log_and_index_are_written_again(memory, purges, trusts):
    """As a copy has it that took the record files first and, more having been done, the rest."""
    memory.add(TEXTS[0], id="mem-1")
    memory.add("Goes later", id="mem-2", user="u1")
    memory.index()
    older = {path: path.read_bytes() for path in memory.paths.root.glob("records/*/*")}
    memory.later(hours=1)
    memory.add(TEXTS[1], id="mem-3")
    memory.service.edit(EditRequest("mem-1", l0=TEXTS[2], embed=False))
    if purges:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(wal, "keep_after", lambda *_args: None)
            memory.service.purge(PurgeRequest("u1"))
            log = memory.paths.wal.read_bytes()
    else:
        memory.service.delete(DeleteRequest(("mem-2",)))
        log = memory.paths.wal.read_bytes()
    memory.index()
    for path in memory.paths.root.glob("records/*/*"):
        path.unlink()
    for path, data in older.items():
        path.write_bytes(data)
    memory.paths.wal.write_bytes(log)
    if not trusts:
        memory.paths.applied.unlink()
    assert sorted(memory.listed()) == sorted(TEXTS[1:])
    memory.index()
    assert not memory.path("mem-2").exists()
    check(memory, TEXTS[1:])


def test_a_copy_in_the_log_of_a_damaged_record_outlives_the_cut(memory, monkeypatch):
    memory.add(TEXTS[0], id="mem-1")
    with monkeypatch.context() as patch:
        patch.setattr(wal, "keep_after", lambda *_args: None)  # stopped before the log was cut
        memory.index()
    memory.path("mem-1").write_bytes(b"{")
    assert memory.service.get(["mem-1"]).data["items"][0]["content"]["l0"] == TEXTS[0]
    memory.index()
    check(memory, TEXTS[:1])


def test_a_hint_that_outlived_log_and_index_is_no_proof(memory, monkeypatch):
    memory.add(TEXTS[0])
    memory.index()
    memory.paths.index.unlink()
    shutil.rmtree(memory.paths.generations)
    memory.paths.wal.unlink()
    with monkeypatch.context() as patch:

        def full(_paths, _entry):
            raise StorageError("no space")

        patch.setattr(recovery, "write_record", full)
        memory.add(TEXTS[1])
    assert sorted(memory.listed()) == sorted(TEXTS[:2])
    memory.index()
    check(memory, TEXTS[:2])


def test_a_clock_that_is_set_back_by_a_day_loses_nothing(run_cli, state_dir):
    def add_at(moment, text, *more):
        run = run_cli(
            "memory", "add", text, "--no-embed", "--json", "--now", f"2026-03-{moment}", *more
        )
        assert run.status == 0, run.err
        return run.data

    slot = ("--category", "preference", "--key", "drink")
    first = add_at("02T12:00:00Z", "Drinks tea", *slot)
    assert run_cli("memory", "index", "--no-embed").status == 0
    assert add_at("01T12:00:00Z", "Drinks coffee", *slot)["action"] == "merged"
    added = [add_at("01T12:00:00Z", text)["id"] for text in TEXTS]
    assert len(set(added)) == 3
    memory = Memory(state_dir)
    document = memory.document(first["id"])
    said = {document["content"]["l0"], *(e["content"]["l0"] for e in document["history"])}
    assert said == {"Drinks tea", "Drinks coffee"}
    check(memory, [document["content"]["l0"], *TEXTS])


def test_two_names_of_one_directory_are_one_store(tmp_path):
    state, alias = tmp_path / "state", tmp_path / "alias"
    state.mkdir()
    alias.symlink_to(state)
    texts = [f"said under two names zx{n}q" for n in range(8)]
    writers = [
        add((state, alias)[number % 2], text, "--lock-timeout", "60")
        for number, text in enumerate(texts)
    ]
    for writer in writers:
        finished(writer)
    assert sorted(Memory(alias).listed()) == texts
    check(Memory(state), texts)


# -- file systems that lack something --------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_links_is_told_and_keeps_the_records(memory, monkeypatch, number):
    class Unlinked(fsio.Disk):
        def symlink(self, target, link):
            raise OSError(number, os.strerror(number))

    for text in TEXTS:
        memory.add(text)
    with monkeypatch.context() as patch:
        patch.setattr(fsio, "disk", Unlinked())
        with pytest.raises(StorageError, match="does not allow symbolic links"):
            memory.index()
        assert sorted(memory.listed()) == sorted(TEXTS)
        assert memory.found("chess") == ["Plays chess"]
    check(memory, TEXTS)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told_and_keeps_the_records(memory, monkeypatch, number):
    fcntl = pytest.importorskip("fcntl")

    def flock(*_args):
        raise OSError(number, os.strerror(number))

    for text in TEXTS:
        memory.add(text)
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", flock)
        for command in (memory.index, lambda: memory.add("one more")):
            with pytest.raises(StorageError, match="cannot lock") as failure:
                command()
            assert "supports locks" in failure.value.hint
        assert sorted(memory.listed()) == sorted(TEXTS)
    check(memory, TEXTS)
