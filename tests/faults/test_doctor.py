"""Whatever happens to a file: doctor tells, changes nothing, and repairs it without losing any."""

from __future__ import annotations

import os
import random
import shutil
import signal
import tempfile
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from openclaw_cli.clock import Clock
from openclaw_cli.config import Config
from openclaw_cli.embed import catalog
from openclaw_cli.environment import Environment
from openclaw_cli.errors import OpenclawError
from openclaw_cli.ids import IdSource
from openclaw_cli.memory.doctor.checkup import Request, examine
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.paths import StatePaths
from openclaw_cli.store import fsio
from tests.faults import damage
from tests.faults.test_damage import Hang, Unsynced, deadline, hang
from tests.support import START, Memory

CASES = 400
CHUNKS = 10
#: Only the operator can right what these find: a record of another version, a link that leads out.
OPERATORS = {"places", "links", "configuration", "formats"}
SEED = os.environ.get("OPENCLAW_DAMAGE_SEED", "1")


@cache
def template() -> tuple[Path, dict[str, str], list[str]]:
    state = Path(tempfile.mkdtemp()) / "state"
    words = damage.build(state)
    return state, words, damage.targets(state)


@pytest.fixture
def folder(monkeypatch):
    """A folder in memory where there is one; the models are not hashed for every case."""
    template()
    monkeypatch.setattr(fsio, "disk", Unsynced())
    monkeypatch.setattr(catalog, "verify", lambda model: catalog.VerifyResult(model, ()))
    before = signal.signal(signal.SIGALRM, hang)
    memory = "/dev/shm"
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)
    signal.signal(signal.SIGALRM, before)


class Case:
    """One damaged copy of the template, and what is wrong with how doctor takes it."""

    def __init__(self, folder: Path, number: int) -> None:
        original, words, targets = template()
        pairs = list(product(targets, [*damage.BYTES, *damage.PLACES]))
        chance = random.Random(f"{SEED}/doctor/{number}")
        self.target, self.way = chance.choice(pairs)
        self.state = folder / "state"
        self.outside = folder / "outside"
        shutil.copytree(original, self.state, symlinks=True)
        self.memory = Memory(self.state)
        self.path = self.state / self.target
        self.healthy = {name: word for name, word in words.items() if not self._holds(name)}
        damage.damage(self.path, self.way, self.outside, chance)
        self.problems: list[str] = []

    def _holds(self, record_id: str) -> bool:
        paths = [self.memory.path(record_id, scope) for scope in ("user", "agent")]
        return any(path.exists() and path.is_relative_to(self.path) for path in paths)

    def doctor(self, *, fix: bool):
        paths = StatePaths(self.state)
        try:
            config = Config.load(paths.config, {})
        except OpenclawError:
            config = Config.defaults()
        clock = Clock(START)
        env = Environment(paths, config, clock, IdSource(clock), 5.0, "openclaw test")
        try:
            with deadline():
                return examine(env, Request(fix=fix))
        except (Hang, Exception) as error:
            self.problems.append(f"doctor, fix={fix}: {error!r}")
            return None

    def check(self) -> list[str]:
        outside = _tree(self.outside)
        before = _tree(self.state)
        found = self.doctor(fix=False)
        if _tree(self.state) != before:
            self.problems.append("a check has changed something")
        repaired = self.doctor(fix=True)
        again = self.doctor(fix=True)
        if _tree(self.outside) != outside:
            self.problems.append("something was written outside")
        if found is None or repaired is None or again is None:
            return self.problems
        left = [c for c in again.data["checks"] if not c["ok"]]
        if any(c["fixed"] for c in left):
            self.problems.append(f"repaired twice: {[c['name'] for c in left if c['fixed']]}")
        unfixed = {c["name"] for c in left}
        if not unfixed & OPERATORS:
            self.problems += [f"left: {c['name']}: {c['detail']}" for c in left]
        if not unfixed & {"places", "links", "configuration"}:
            self._check_records()
        return self.problems

    def _check_records(self) -> None:
        listing = self.memory.service.list(ListRequest(limit=None))
        found = self.memory.search(" ".join(["said", *self.healthy.values()]), top_k=50)
        for what, rows in ("listed", listing.data["items"]), ("found", found.data["results"]):
            missing = self.healthy.keys() - {row["id"] for row in rows}
            self.problems += [f"not {what}: {name}" for name in sorted(missing)]


def _tree(folder: Path) -> dict[Path, object]:
    return {
        path: (path.lstat().st_mode, path.lstat().st_mtime_ns, _content(path))
        for path in (folder, *folder.rglob("*"))
        if os.path.lexists(path)
    }


def _content(path: Path) -> object:
    if path.is_symlink():
        return os.readlink(path)
    return path.read_bytes() if path.is_file() else None


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_doctor_takes_every_damage(folder, chunk):
    wrong = []
    for number in range(chunk, CASES, CHUNKS):
        place = folder / str(number)
        case = Case(place, number)
        problems = case.check()
        if problems:
            wrong.append((number, case.target, case.way, problems))
        shutil.rmtree(place)
    assert not wrong, "\n".join(map(str, wrong))
