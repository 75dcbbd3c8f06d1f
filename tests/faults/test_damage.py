"""Whatever happens to a file: a result or a clear error, healthy records stay, `index` heals."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import tempfile
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path

import pytest

from openclaw_cli.errors import EXIT_DONE, EXIT_FAILED, EXIT_USAGE, OpenclawError
from openclaw_cli.memory.embedding import Embedding
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.store import fsio
from tests.faults import damage
from tests.support import Memory

CASES = 2200
CHUNKS = 20
SEED = os.environ.get("OPENCLAW_DAMAGE_SEED", "1")
SECONDS = 5
MEGABYTES = 200

COMMANDS = {
    "search": lambda memory: memory.search("quincea tea"),
    "search hybrid": lambda memory: memory.search("tea", "hybrid", explain=True),
    "search touching": lambda memory: memory.search("greyhounds emacs 测试", touch=True),
    "list": lambda memory: memory.listed(),
    "get": lambda memory: memory.service.get(sorted(template()[1])),
    "status": lambda memory: memory.service.status(),
    "add": lambda memory: memory.add("Said afterwards"),
    "add merging": lambda memory: memory.add("Writes with ed quinceh", **damage.SLOT),
    "index": lambda memory: memory.index(),
}
#: Folders; a file in the place of one is in the way of everything.
FOLDERS = ("records", "user", "agent", "generations")
STALE = {"index-stale", "index-differs", "record-missing"}


class Hang(BaseException):
    """A command that does not come back."""


def hang(*_args):
    raise Hang


class Unsynced(fsio.Disk):
    """A disk that does not wait: what is proven here does not depend on it."""

    def fsync(self, fd):
        pass

    def sync_all(self, _folder):
        return True


@cache
def template():
    """The template store, the word of each record, what can be damaged, and vectors of a query."""
    state = Path(tempfile.mkdtemp()) / "state"
    words = damage.build(state)
    embedding = Memory(state).service.store.embedding
    vectors = {model.name: embedding.query(model, "tea") for model in embedding.catalog.models}
    return state, words, damage.targets(state), vectors


@pytest.fixture
def folder(monkeypatch):
    """A folder in memory where there is one; no command in it loads a model or hangs for ever."""
    vectors = template()[3]
    monkeypatch.setattr(Embedding, "query", lambda _self, model, _text: vectors[model.name])
    monkeypatch.setattr(fsio, "disk", Unsynced())
    before = signal.signal(signal.SIGALRM, hang)
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)
    signal.signal(signal.SIGALRM, before)


@contextmanager
def deadline():
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@cache
def documented(command: str) -> set[int]:
    module = import_module(f"openclaw_cli.cli.commands.memory_{command}")
    return {EXIT_DONE, EXIT_FAILED, EXIT_USAGE, *module.EXITS}


class Case:
    """One damaged copy of the template, and what is wrong with how the program takes it."""

    def __init__(self, folder: Path, number: int) -> None:
        original, words, targets, _vectors = template()
        pairs = list(product(targets, [*damage.BYTES, *damage.PLACES]))
        self.target, self.way = pairs[number % len(pairs)]
        self.chance = random.Random(f"{SEED}/{number}")
        self.path = folder / "state" / self.target
        self.outside = folder / "outside"
        shutil.copytree(original, folder / "state", symlinks=True)
        self.memory = Memory(folder / "state")
        self.healthy = {name: word for name, word in words.items() if not self._holds(name)}
        damage.damage(self.path, self.way, self.outside, self.chance)
        self.problems: list[str] = []

    def _holds(self, record_id: str) -> bool:
        paths = [self.memory.path(record_id, scope) for scope in ("user", "agent")]
        return any(path.exists() and path.is_relative_to(self.path) for path in paths)

    def check(self) -> list[str]:
        """Run all commands in some order, then heal the store; return every problem."""
        before = self._written_outside()
        for name in self.chance.sample(list(COMMANDS), len(COMMANDS)):
            self._run(name)
        if self._run("index") is not None and self._is_in_the_way():
            damage.remove(self.path)
        failures = [error for error in (self._run("index"), self._run("index")) if error]
        self.problems += [f"index does not heal: {error!r}" for error in failures]
        if self._written_outside() != before:
            self.problems.append("something was written outside")
        if not failures:
            self._check_records()
        return self.problems

    def _run(self, name: str) -> BaseException | None:
        try:
            with deadline():
                COMMANDS[name](self.memory)
        except OpenclawError as error:
            if error.exit_status not in documented(name.partition(" ")[0]):
                self.problems.append(f"{name}: undocumented status of {error!r}")
            return error
        except (Hang, Exception) as error:
            self.problems.append(f"{name}: {error!r}")
            return error
        return None

    def _is_in_the_way(self) -> bool:
        """Tell whether something stands there that only the operator can take away."""
        strange = self.way in damage.PLACES or self.path.name in FOLDERS
        return os.path.lexists(self.path) and (strange or self.path.name == "openclaw.json")

    def _written_outside(self) -> list[tuple[Path, bytes]]:
        found = [self.outside, *self.outside.rglob("*")] if self.outside.exists() else []
        return sorted((path, path.read_bytes()) for path in found if path.is_file())

    def _check_records(self) -> None:
        """Every healthy record is listed and found by its word; nothing is called gone or stale."""
        listing = self.memory.service.list(ListRequest(limit=None))
        found = self.memory.search(" ".join(["said", *self.healthy.values()]), top_k=50)
        for what, rows in ("listed", listing.data["items"]), ("found", found.data["results"]):
            missing = self.healthy.keys() - {row["id"] for row in rows}
            self.problems += [f"not {what}: {name}" for name in sorted(missing)]
        codes = {warning.code for warning in (*listing.warnings, *found.warnings)} & STALE
        # A record file that cannot be read is a file that the index cannot account for.
        self.problems += sorted(codes - {"index-differs"} if "records" in self.target else codes)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damage_costs_no_healthy_record_and_derived_data_heals(folder, chunk):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    problems = []
    for number in range(chunk, CASES, CHUNKS):
        case_folder = folder / str(number)
        case_folder.mkdir()
        case = Case(case_folder, number)
        problems += [f"{number}: {case.target}, {case.way}: {text}" for text in case.check()]
        shutil.rmtree(case_folder)
    assert not problems, "\n".join(problems)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024


def test_every_kind_of_file_is_damaged_in_every_way():
    kinds = {Path(name).name.partition(".")[0] for name in template()[2]}
    assert {"wal", "bm25", "metadata", "lookup", "files", "config", "vectors", "index"} <= kinds
    assert {"insights", "openclaw", "writer", "indexer", "mem-quincea", "records"} <= kinds
    assert max(2000, len(template()[2]) * (len(damage.BYTES) + len(damage.PLACES))) <= CASES
