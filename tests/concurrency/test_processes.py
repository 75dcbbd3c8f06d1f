"""Real processes at once: nothing acknowledged is lost, nobody waits for the indexer."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from openclaw_cli.store import wal
from tests.support import Memory

COMMAND = [sys.executable, "-m", "openclaw_cli"]


def start(state, *args, **options):
    return subprocess.Popen(
        [*COMMAND, "--state-dir", str(state), *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        **options,
    )


def finished(process, statuses=(0,)):
    out, err = process.communicate(timeout=120)
    assert process.returncode in statuses, (out, err)
    assert b"Traceback" not in err
    return out


def add(state, text, *more):
    return start(state, "memory", "add", text, "--no-embed", "--json", *more)


def test_eight_adds_at_the_same_moment_all_land(tmp_path):
    state = tmp_path / "state"
    processes = [add(state, f"thing number {n}", "--lock-timeout", "60") for n in range(8)]
    ids = {json.loads(finished(process))["data"]["id"] for process in processes}
    assert len(ids) == 8
    memory = Memory(state)
    assert len(memory.listed()) == 8
    assert [e.seq for e in wal.read(memory.paths.wal).entries] == list(range(1, 9))


def test_the_same_text_added_eight_times_at_once_is_stored_once(tmp_path):
    state = tmp_path / "state"
    processes = [add(state, "the same thing", "--lock-timeout", "60") for _ in range(8)]
    actions = [json.loads(finished(process))["data"]["action"] for process in processes]
    assert sorted(actions) == ["added", *["skipped"] * 7]


def test_one_slot_set_by_eight_processes_keeps_every_text(tmp_path):
    state = tmp_path / "state"
    options = ("--category", "preference", "--key", "editor", "--lock-timeout", "60")
    for process in [add(state, f"Uses editor {n}", *options) for n in range(8)]:
        finished(process)
    memory = Memory(state)
    (hit,) = memory.search("editor").data["results"]
    document = memory.document(hit["id"])
    texts = {document["content"]["l0"], *(e["content"]["l0"] for e in document["history"])}
    assert texts == {f"Uses editor {n}" for n in range(8)}


def test_a_lock_that_is_held_is_told_and_not_waited_for(tmp_path):
    state = tmp_path / "state"
    memory = Memory(state)
    memory.add("one")
    with memory.service.store.repository.writing():
        process = add(state, "two", "--lock-timeout", "0")
        error = json.loads(finished(process, (11,)))["error"]
    assert error["code"] == "locked"
    assert str(os.getpid()) in error["message"]
    finished(add(state, "two"))


def test_readers_and_writers_work_while_a_long_index_run_goes_on(tmp_path):
    state = tmp_path / "state"
    memory = Memory(state)
    memory.imported([{"text": f"The user has told story number {n} twice"} for n in range(400)])
    indexer = start(state, "memory", "index")
    deadline = time.monotonic() + 60
    while not memory.paths.generations.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    added = json.loads(finished(add(state, "said while indexing", "--lock-timeout", "2")))
    assert indexer.poll() is None, "the index run was over before the add; make it longer"
    searched = start(state, "memory", "search", "said indexing", "--mode", "lexical", "--json")
    hits = json.loads(finished(searched))["data"]["results"]
    assert hits[0]["id"] == added["data"]["id"]
    finished(indexer)
    assert memory.found("said indexing")[0] == "said while indexing"
    assert memory.service.status().data["records"] == 401


@pytest.mark.parametrize("seed", range(3))
def test_processes_killed_at_random_lose_nothing_acknowledged(tmp_path, seed):
    """Writers report each acknowledged text; killed or not, every reported one must be there."""
    chance = random.Random(seed)
    state = tmp_path / "state"
    memory = Memory(state)
    memory.add("the first")
    acknowledged, running = {"the first"}, []
    for number in range(24):
        text = f"kill test text {number}"
        kind = chance.random()
        if kind < 0.7:
            process = add(state, text, "--lock-timeout", "30")
        elif kind < 0.85:
            process = start(state, "memory", "index", "--no-embed")
        else:
            process = start(state, "memory", "search", "text", "--mode", "lexical")
        running.append((text, kind < 0.7, process, kind >= 0.85))
        time.sleep(chance.random() * 0.08)
        if chance.random() < 0.5:
            os.kill(chance.choice(running)[2].pid, signal.SIGKILL)
    for text, is_add, process, is_search in running:
        out, err = process.communicate(timeout=120)
        assert b"Traceback" not in err
        assert process.returncode in (0, 11, -signal.SIGKILL), err
        if is_search:
            assert process.returncode in (0, -signal.SIGKILL), err
        if is_add and out.endswith(b"\n") and json.loads(out)["ok"]:
            acknowledged.add(text)
    texts = memory.listed(limit=None)
    assert len(texts) == len(set(texts))
    assert acknowledged <= set(texts)
    memory.index(verify=True)
    assert memory.service.status().data["stale"] == []
    for text in acknowledged:
        assert memory.found(text, top_k=1) == [text]
    assert memory.index(verify=True)["damaged"] == []
