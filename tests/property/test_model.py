"""Any sequence of operations, crashes among them, against a dictionary of what must be there."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from openclaw_cli import ids
from openclaw_cli.memory.indexing.checkpoint import writing
from openclaw_cli.memory.requests import DeleteRequest, EditRequest, ListRequest, PurgeRequest
from openclaw_cli.store import fsio
from tests.crash.conftest import Unsynced
from tests.crash.machine import Machine, Stop, dying
from tests.support import Memory

KEYS = st.sampled_from(["editor", "tea", "city"])
RUNS = st.sampled_from([{}, {"rebuild": True}, {"verify": True}])
CHOICE = st.integers(0, 1000)
OWNER = "user-1"
#: The log is folded by itself after so many lines.
ENTRIES = 6

pytestmark = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="paths of descriptors are read from /proc"
)


class Model(RuleBasedStateMachine):
    """``expected`` maps the id of each record to its text, which ends with a word of its own.

    What was done by hand is counted in ``by_hand`` until `memory index` takes it up: only then must
    reading commands agree with the dictionary.
    """

    def __init__(self) -> None:
        super().__init__()
        memory = "/dev/shm"
        self.folder = tempfile.TemporaryDirectory(
            dir=memory if os.access(memory, os.W_OK) else None
        )
        self.root = Path(self.folder.name)
        self.boot = 1
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(ids, "boot_id", lambda: f"boot {self.boot}")
        self.patch.setattr(fsio, "disk", Unsynced())
        self.expected: dict[str, str] = {}
        self.slots: dict[str, str] = {}
        self.owned: set[str] = set()
        self.by_hand = self.removed_by_hand = False
        self.count = 0
        self.memory = Memory(self.root / "state")

    def teardown(self) -> None:
        self.patch.undo()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.memory.state.mkdir()
        limits = {"memory": {"wal": {"maxEntries": ENTRIES}}}
        (self.memory.state / "openclaw.json").write_text(json.dumps(limits))
        self._done(self._adding())

    def _text(self) -> str:
        self.count += 1
        # A word that no stemmer shortens and no tokenizer divides.
        word = "".join("bcdfghjklm"[int(digit)] for digit in str(self.count))
        return f"Something to remember zx{word}q"

    def _recover(self) -> None:
        """Let what a crash has left be finished, as any writing command does."""
        with writing(self.memory.service.store):
            pass

    def _any(self, choice: int) -> str:
        return sorted(self.expected)[choice % len(self.expected)]

    # -- what a command does: the call, and the dictionary after it --------------------------------

    def _adding(self):
        text = self._text()
        name = f"mem-{self.count}"
        user = OWNER if self.count % 3 == 0 else None
        if user:
            self.owned.add(name)
        return lambda: self.memory.add(text, id=name, user=user), {**self.expected, name: text}

    def _merging(self, key):
        text = self._text()
        options = {"category": "preference", "key": key, "id": f"mem-{self.count}"}
        name = self.slots.get(key)
        if name not in self.expected:
            name = self.slots[key] = options["id"]
        return lambda: self.memory.add(text, **options), {**self.expected, name: text}

    def _importing(self, number):
        texts = {f"imp-{self.count + 1}": self._text() for _ in range(number)}
        lines = [{"id": name, "text": text} for name, text in texts.items()]
        return lambda: self.memory.imported(lines), self.expected | texts

    def _indexing(self, options):
        return lambda: self.memory.index(**options), self.expected

    def _editing(self, name):
        text = self._text()
        request = EditRequest(name, l0=text, embed=False)
        return lambda: self.memory.service.edit(request), {**self.expected, name: text}

    def _deleting(self, *names):
        left = {name: text for name, text in self.expected.items() if name not in names}
        return lambda: self.memory.service.delete(DeleteRequest(names)), left

    def _purging(self):
        left = {name: text for name, text in self.expected.items() if name not in self.owned}
        return lambda: self.memory.service.purge(PurgeRequest(OWNER)), left

    def _done(self, work) -> None:
        call, self.expected = work
        call()

    # -- commands ----------------------------------------------------------------------------------

    @rule()
    def add(self) -> None:
        self._done(self._adding())

    @rule(key=KEYS)
    def merge(self, key) -> None:
        self._done(self._merging(key))

    @rule(number=st.integers(1, 5))
    def import_batch(self, number) -> None:
        self._done(self._importing(number))

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected)
    def edit(self, choice) -> None:
        self._done(self._editing(self._any(choice)))

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected)
    def edit_and_undo(self, choice) -> None:
        name = self._any(choice)
        before = self.expected
        self._done(self._editing(name))
        self.memory.service.undo(name, embed=False)
        self.expected = before

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected and not self.by_hand)
    def delete(self, choice) -> None:
        self._done(self._deleting(*{self._any(choice), self._any(choice // 2)}))

    @rule()
    @precondition(lambda self: not self.by_hand)
    def purge(self) -> None:
        self._done(self._purging())

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected)
    def add_again(self, choice) -> None:
        """The same id and text once more changes nothing."""
        name = self._any(choice)
        assert self.memory.add(self.expected[name], id=name)["action"] == "skipped"

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected)
    def touch(self, choice) -> None:
        self.memory.search(self.expected[self._any(choice)], touch=True, top_k=3)

    @rule(options=RUNS)
    def index(self, options) -> None:
        report = self.memory.index(**options)
        self.by_hand = self.removed_by_hand = False
        assert report["damaged"] == []
        assert report["records"] == len(self.expected)

    @rule(hours=st.integers(-30, 30))
    def let_time_pass(self, hours) -> None:
        """Clocks are set back, too."""
        self.memory.later(hours=hours)

    # -- by hand -----------------------------------------------------------------------------------

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected)
    def rewrite(self, choice) -> None:
        self._recover()
        name = self._any(choice)
        self.expected[name] = self._text()
        self.memory.edit(name, self.expected[name])
        self.by_hand = True

    @rule(choice=CHOICE)
    @precondition(lambda self: self.expected)
    def remove(self, choice) -> None:
        self._recover()
        name = self._any(choice)
        del self.expected[name]
        self.memory.path(name).unlink()
        self.by_hand = self.removed_by_hand = True

    @rule()
    def write(self) -> None:
        text = self._text()
        name = f"note-{self.count}"
        document = {"id": name, "content": {"l0": text}}
        self.memory.path(name).write_text(json.dumps(document))
        self.expected[name] = text
        self.by_hand = True

    # -- crashes -----------------------------------------------------------------------------------

    @rule(
        number=st.integers(1, 60),
        torn=st.booleans(),
        power_cut=st.booleans(),
        kind=st.sampled_from(["add", "merge", "import", "index", "edit", "delete", "purge"]),
        key=KEYS,
        options=RUNS,
        choice=CHOICE,
    )
    @precondition(lambda self: self.expected and not self.removed_by_hand)
    def crash(self, number, torn, power_cut, kind, key, options, choice) -> None:
        """Stop at a durable step: every record is as before, or as after the command.

        The log writes again what was lost, and cannot know of what was removed by hand.
        """
        work, after = {
            "add": self._adding,
            "merge": lambda: self._merging(key),
            "import": lambda: self._importing(4),
            "index": lambda: self._indexing(options),
            "edit": lambda: self._editing(self._any(choice)),
            "delete": lambda: self._deleting(self._any(choice)),
            "purge": self._purging,
        }[kind]()
        disk = Machine(self.root, dying(number, torn=torn))
        acknowledged = False
        with disk.running(), suppress(Stop):
            work()
            acknowledged = True
        if power_cut:
            self.boot += 1
            disk.medium.after_power_cut(self.root)
        if self.by_hand:
            self.memory.index()
            self.by_hand = False
        if acknowledged:
            self.expected = after
            return
        before, self.expected = self.expected, self._listed()
        for name in before.keys() | after.keys() | self.expected.keys():
            assert self.expected.get(name) in (before.get(name), after.get(name))

    # -- what must hold ----------------------------------------------------------------------------

    def _listed(self) -> dict[str, str]:
        listing = self.memory.service.list(ListRequest(limit=None))
        return {item["id"]: item["l0"] for item in listing.data["items"]}

    @invariant()
    @precondition(lambda self: not self.by_hand)
    def agrees(self) -> None:
        assert self._listed() == self.expected
        status = self.memory.service.status()
        assert status.data["records"] == len(self.expected)
        assert [warning for warning in status.warnings if warning.code != "torn-tail"] == []
        for name, text in self.expected.items():
            hits = self.memory.search(text.rpartition(" ")[2], top_k=3).data["results"]
            assert [hit["id"] for hit in hits] == [name]


TestModel = Model.TestCase
TestModel.settings = settings(
    max_examples=80,
    stateful_step_count=25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
