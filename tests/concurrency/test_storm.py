"""Many processes at once, killed at random: what was acknowledged is there, exactly once."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter

from openclaw_cli.memory.requests import PurgeRequest
from tests.concurrency.test_processes import start
from tests.support import Memory

SECONDS = float(os.environ.get("OPENCLAW_STORM_SECONDS", "15"))
SEED = os.environ.get("OPENCLAW_STORM_SEED", "1")
PROCESSES = 8
KEYS = ["editor", "tea", "city"]
PASSING = "somebody"
PATIENCE = ("--json", "--lock-timeout", "60")
#: Kind -> the command, given a text of its own and a key, and how often it comes.
COMMANDS = {
    "add": (lambda text, key: ("add", text, "--no-embed", *PATIENCE), 5),
    "merge": (
        lambda text, key: (
            "add", text, "--category", "preference", "--key", key, "--no-embed", *PATIENCE
        ),
        3,
    ),
    "search": (lambda text, key: ("search", "storm zxq", "--mode", "lexical", "--json"), 2),
    "list": (lambda text, key: ("list", "--limit", "1000", "--json"), 2),
    "index": (lambda text, key: ("index", "--no-embed", *PATIENCE), 1),
    "pass": (lambda text, key: ("add", text, "--user", PASSING, "--no-embed", *PATIENCE), 3),
    "delete": (lambda text, key: ("delete", "--user", PASSING, "--yes", *PATIENCE), 1),
    "purge": (lambda text, key: ("purge", "--user", PASSING, "--yes", *PATIENCE), 1),
}  # fmt: skip


def storm_text(number: int) -> str:
    """A text with a word of its own, long enough to be seen when half of it is missing."""
    return f"storm begins zx{number}q " + "and goes on " * 20 + "storm ends"


def is_whole(text: str) -> bool:
    return text.startswith("storm begins zx") and text.endswith("storm ends")


class Storm:
    """The processes that run, and what has been said of those that ended."""

    def __init__(self, state, chance: random.Random) -> None:
        self.state = state
        self.chance = chance
        self.running: list = []
        self.started = 0
        self.acknowledged: dict[str, set[str]] = {"add": set(), "merge": set()}
        self.ended: Counter[str] = Counter()

    def begin_one(self) -> None:
        names = list(COMMANDS)
        weights = [weight for _command, weight in COMMANDS.values()]
        (kind,) = self.chance.choices(names, weights)
        text = storm_text(self.started)
        self.started += 1
        words = COMMANDS[kind][0](text, self.chance.choice(KEYS))
        self.running.append((kind, text, start(self.state, "memory", *words)))

    def kill_one(self) -> None:
        os.kill(self.chance.choice(self.running)[2].pid, signal.SIGKILL)

    def collect(self, *, wait: bool = False) -> None:
        """Judge every process that has ended."""
        still = []
        for kind, text, process in self.running:
            if not wait and process.poll() is None:
                still.append((kind, text, process))
                continue
            out, err = process.communicate(timeout=120)
            self._judge(kind, text, process.returncode, out, err)
        self.running = still

    def _judge(self, kind: str, text: str, status: int, out: bytes, err: bytes) -> None:
        assert b"Traceback" not in err, err
        assert status in (0, -signal.SIGKILL), (kind, status, out, err)
        self.ended[f"{kind} killed" if status else kind] += 1
        if not out.endswith(b"}\n"):
            assert status, "a success says what it did"
            return
        document = json.loads(out)
        assert document["ok"], out
        if kind in self.acknowledged:
            self.acknowledged[kind].add(text)
        elif kind in ("search", "list"):
            rows = document["data"]["results" if kind == "search" else "items"]
            assert all(is_whole(row["l0"]) for row in rows)
            codes = {warning["code"] for warning in document.get("warnings", [])}
            wrong = {"record-missing", "record-damaged", "index-stale", "index-differs"}
            assert not codes & wrong, document


def test_a_storm_of_killed_processes_loses_nothing_acknowledged(tmp_path):
    state = tmp_path / "state"
    memory = Memory(state)
    memory.add(storm_text(10**6))
    storm = Storm(state, random.Random(SEED))
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        while len(storm.running) < PROCESSES:
            storm.begin_one()
        time.sleep(storm.chance.random() * 0.2)
        if storm.chance.random() < 0.4:
            storm.kill_one()
        storm.collect()
    storm.collect(wait=True)
    check(memory, storm.acknowledged)
    memory.service.purge(PurgeRequest(PASSING))
    files = [path for path in state.rglob("*") if path.is_file()]
    assert [path for path in files if PASSING.encode() in path.read_bytes()] == []
    check(memory, storm.acknowledged)
    assert storm.ended["add"] > SECONDS / 5
    assert sum(count for kind, count in storm.ended.items() if "killed" in kind) > SECONDS / 5


def check(memory: Memory, acknowledged: dict[str, set[str]]) -> None:
    """Every text once in the store, in a record or its history; the index proves clean."""
    memory.index()
    report = memory.index(verify=True)
    assert (report["damaged"], report["added"], report["updated"], report["removed"]) == (
        [], 0, 0, 0
    )  # fmt: skip
    status = memory.service.status()
    assert status.data["stale"] == []
    documents = [json.loads(path.read_bytes()) for path in memory.path("x").parent.glob("*.json")]
    assert status.data["records"] == len(documents)
    contents = [d["content"] for d in documents]
    history = [entry["content"] for d in documents for entry in d["history"]]
    texts = Counter(content["l0"] for content in [*contents, *history])
    assert all(count == 1 and is_whole(text) for text, count in texts.items()), texts
    assert acknowledged["add"] | acknowledged["merge"] <= texts.keys()
    slots = [document["key"] for document in documents if document["key"] is not None]
    assert len(slots) == len(set(slots))
    for content in contents:
        assert memory.found(content["l0"].split()[2], top_k=1) == [content["l0"]]
