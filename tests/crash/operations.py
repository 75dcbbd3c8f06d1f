"""The table of operations that are stopped, and what must be so afterwards.

A later operation is one more line of `OPERATIONS`. Every record's text holds its id as a word, and
the word "common".
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_cli.errors import NotFoundError, StorageError
from openclaw_cli.memory.doctor.checkup import Request, examine
from openclaw_cli.memory.requests import (
    DeleteRequest,
    EditRequest,
    IndexRequest,
    ListRequest,
    PurgeRequest,
)
from openclaw_cli.paths import SCOPES
from openclaw_cli.store import recovery, tombstones, wal
from openclaw_cli.transfer.migration.migrator import migrate_store
from openclaw_cli.transfer.migration.rollback import rollback_store
from tests.crash.machine import Machine, Step
from tests.support import START, Memory

OTHER = "otter"
FORGOTTEN = "user-u1"
FOREIGN = "agents/main/sessions/sessions.json"


def text(name: str, more: str = "said once") -> str:
    return f"common ground of {name}, {more}"


def add(memory: Memory, name: str, more: str = "said once", **options) -> None:
    memory.add(text(name, more), **{"id": name, **options})


# -- what there is before --------------------------------------------------------------------------


def nothing(memory: Memory) -> None:
    """Not even the state directory is there."""


def logged(memory: Memory) -> None:
    """Records in the log, no index yet."""
    for name in ("ant", "bee"):
        add(memory, name)


def stocked(memory: Memory, *, embed: bool = False) -> None:
    """Records of several kinds, with fields and history of others, in index and log."""
    for name in ("ant", "bee", "cow"):
        add(memory, name)
    add(memory, "dog", category="preference", key="editor")
    add(memory, "eel", category="lesson", key="build")
    for path in memory.paths.root.glob("records/*/*.json"):
        document = json.loads(path.read_bytes())
        history = [{"content": {"l0": "earlier"}, "reason": "x"}]
        path.write_text(json.dumps({**document, "mood": {"glad": [1, None]}, "history": history}))
    memory.index(embed=embed)
    for name in ("fox", "gnu"):
        add(memory, name, embed=embed)
    foreign = memory.state / FOREIGN
    foreign.parent.mkdir()
    foreign.write_text("of another program")


def vectorised(memory: Memory) -> None:
    stocked(memory, embed=True)
    memory.index(embed=True)


def edited(memory: Memory) -> None:
    """A record changed, one removed, one added by hand."""
    stocked(memory)
    memory.edit("ant", text("ant", "changed by hand"))
    memory.path("bee").unlink()
    document = {**memory.document("cow"), "id": "hen", "contentHash": None}
    document["content"] = {"l0": text("hen"), "l2": text("hen")}
    memory.path("hen").write_text(json.dumps(document))


def small_log(memory: Memory) -> None:
    """A log that is folded as soon as it has more than two entries."""
    stocked(memory)
    settings = {"memory": {"wal": {"maxEntries": 2}}}
    (memory.state / "openclaw.json").write_text(json.dumps(settings))


def torn(memory: Memory) -> None:
    """What a killed writer left: half a line of the log, a record that was never written."""
    stocked(memory)
    memory.path("gnu").unlink()
    memory.paths.applied.unlink()
    with memory.paths.wal.open("ab") as log:
        log.write(b'{"crc":"')


def of_older_format(memory: Memory) -> None:
    """Records of format 1.x in index and log, among others."""
    stocked(memory)
    for path in [*memory.paths.root.glob("records/*/[abe]*.json")]:
        document = {"id": path.stem, "content": text(path.stem, "of old"), "fleas": 3}
        path.write_text(json.dumps({**document, "createdAt": "2025-01-01T00:00:00Z"}))
    memory.index()


def migrated(memory: Memory) -> None:
    """Records that have been migrated, whose originals are kept."""
    of_older_format(memory)
    migrate(memory)


def damaged(memory: Memory) -> None:
    """A record file that the log can write again."""
    stocked(memory)
    memory.path("gnu").write_bytes(b"{")


def sickly(memory: Memory) -> None:
    """A damaged record that the log knows, damaged lines, and what killed writers have left."""
    stocked(memory)
    memory.service.delete(DeleteRequest(("bee",)))
    memory.path("gnu").write_bytes(b"{")
    memory.paths.tombstones.write_bytes(b"#\n")
    with memory.paths.wal.open("ab") as log:
        log.write(b'{"crc":"0"}\n{"crc":"')
    (memory.paths.root / ".wal.jsonl.tmp-1").write_bytes(b"{")
    left = memory.paths.generations / "999"
    left.mkdir()
    (left / "bm25.idx").write_bytes(b"{")


def forgettable(memory: Memory) -> None:
    """Memories of a user in index, log, history, insights, and in files that were set aside."""
    stocked(memory)
    add(memory, "rat", user=FORGOTTEN, category="preference", key="tea")
    add(memory, "rex", "of late", user=FORGOTTEN, category="preference", key="tea")
    insight = {"category": "insight", "scope": "user", "createdAt": "2026-01-01T00:00:00Z"}
    past = {"content": {"l0": text("rat")}, "fields": {"userId": FORGOTTEN}, "by": "rat"}
    memory.imported(
        [
            {**insight, "id": "owl", "content": {"l0": text("owl")}, "evidence": ["rat"]},
            {**insight, "id": "yew", "content": {"l0": text("yew")}, "evidence": ["rat", "ant"]},
            {"id": "zho", "content": {"l0": text("zho")}, "history": [past]},
        ]
    )
    memory.index()
    add(memory, "tit", user=FORGOTTEN)
    line = json.dumps({"userId": FORGOTTEN, "text": text("rat")})
    memory.paths.wal.with_name("wal.jsonl.torn-1").write_text(f"of others\n{line}\n")
    memory.path("gnu").with_suffix(".json.bad-1").write_text(line)


def deleted(memory: Memory) -> None:
    """Two records deleted, one of which the index holds."""
    stocked(memory)
    deleting(memory)


def edited_before(memory: Memory) -> None:
    """A record with a past of its own."""
    stocked(memory)
    memory.service.edit(EditRequest("cow", l0=text("cow", "said twice"), embed=False))


# -- what is done ----------------------------------------------------------------------------------


def index(**options) -> Callable[[Memory], object]:
    return lambda memory: memory.index(**options)


def adding(name: str, *more: str, **options) -> Callable[[Memory], object]:
    return lambda memory: add(memory, name, *more, **options)


def importing(*names: str, **options) -> Callable[[Memory], object]:
    lines = [{"id": name, "content": text(name, "imported"), "fleas": 3} for name in names]
    return lambda memory: memory.imported(lines, **options)


def old_version(memory: Memory) -> None:
    """Import a version of a record that is older than the one there is, over it."""
    line = {"id": "ant", "content": text("ant", "of old"), "createdAt": "2020-01-01T00:00:00Z"}
    memory.imported([line], on_conflict="overwrite")


def editing(memory: Memory) -> None:
    memory.service.edit(EditRequest("bee", l0=text("bee", "corrected"), tags=("x",), embed=False))


def undoing(memory: Memory) -> None:
    memory.service.undo("cow", embed=False)


def deleting(memory: Memory) -> None:
    memory.service.delete(DeleteRequest(("ant", "fox")))


def purging(memory: Memory) -> None:
    memory.service.purge(PurgeRequest(FORGOTTEN))


def migrate(memory: Memory) -> None:
    migrate_store(memory.service)


def roll_back(memory: Memory) -> None:
    rollback_store(memory.service)


def repairing(memory: Memory) -> None:
    """What one agent's repair could not do is a warning, so that the others' go on."""
    for warning in examine(memory.service.store.env, Request(fix=True)).warnings:
        if warning.code == "not-fixed":
            raise StorageError(warning.message, path=warning.path, hint="run doctor again")


def recalling(memory: Memory) -> None:
    memory.search("common ground", touch=True, top_k=3)


@dataclass(frozen=True)
class Operation:
    """``steps`` is the least number of durable steps it takes; ``mode`` how it is searched.

    ``forgets`` lists what no file may hold afterwards, ``deletes`` the ids that are known as those
    of deleted records.
    """

    name: str
    prepare: Callable[[Memory], object]
    run: Callable[[Memory], object]
    steps: int
    mode: str = "lexical"
    forgets: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


PREFERENCE = {"id": "doe", "category": "preference", "key": "editor"}
LESSON = {"id": "elk", "category": "lesson", "key": "build"}

OPERATIONS = (
    Operation("first add", nothing, adding("yak"), 28),
    Operation("add", stocked, adding("yak"), 7),
    Operation("merge, latest wins", stocked, adding("dog", "now", **PREFERENCE), 7),
    Operation("merge, append", stocked, adding("eel", "now", **LESSON), 7),
    Operation(
        "import in batches", stocked, importing("rat", "sow", "tit", "ant", "uri", "vet", "wax"), 28
    ),
    Operation("import over newer", stocked, old_version, 7),
    Operation("recall", stocked, recalling, 12),
    Operation("first index", logged, index(), 34),
    Operation("index", stocked, index(), 37),
    Operation("index after editing", edited, index(), 46),
    Operation("index of a damaged record", damaged, index(), 45),
    Operation("rebuild", stocked, index(rebuild=True), 37),
    Operation("re-embed", vectorised, index(embed=True, reembed=True), 48, "hybrid"),
    Operation("automatic checkpoint", small_log, adding("yak"), 45),
    Operation("edit", stocked, editing, 7),
    Operation("undo", edited_before, undoing, 7),
    Operation("delete", stocked, deleting, 6, deletes=("ant", "fox")),
    Operation("index after deleting", deleted, index(), 41, deletes=("ant", "fox")),
    Operation(
        "purge",
        forgettable,
        purging,
        60,
        forgets=(FORGOTTEN, text("rat"), text("rex", "of late"), text("tit"), '"rat"', '"tit"'),
    ),
    Operation("doctor --fix", sickly, repairing, 84),
    Operation("add after a crash", torn, adding("yak"), 19),
    Operation("migrate", of_older_format, migrate, 60),
    Operation("roll a migration back", migrated, roll_back, 60),
)


# -- what must be so -------------------------------------------------------------------------------

State = dict[str, dict]


def truth(memory: Memory) -> State:
    """Return every record there is, by files and log alone."""
    view = memory.service.store.repository.view()
    logged = recovery.final_states(view.log.entries)
    files = {(s, path.stem) for s in SCOPES for path in memory.paths.records(s).glob("[!.]*.json")}
    found = {}
    for scope, name in files | view.better.keys():
        try:
            record = view.record(scope, name)
            document = record and record.document
        except ValueError:
            document = logged[scope, name].record
        if document is not None:
            found[name] = document
    return found


def reading(memory: Memory, mode: str = "lexical") -> State:
    """Return every record that listing and searching show, each of them once."""
    try:
        rows = memory.service.list(ListRequest(limit=None)).data["items"]
    except NotFoundError:
        return {}
    view = memory.service.store.repository.view()
    found = {row["id"]: view.readable(row["scope"], row["id"], []) for row in rows}
    listed = {name: record.document for name, record in found.items()}
    assert len(listed) == len(rows), "listed twice"
    assert all(row["l0"] == found[row["id"]].l0 for row in rows)
    hits = memory.search("common ground", mode, top_k=100).data["results"]
    assert sorted(hit["id"] for hit in hits) == sorted(listed), "found is not what is listed"
    return listed


def after(state: State, entries: list[wal.Entry | wal.Purge]) -> State:
    changed = dict(state)
    for entry in entries:
        if isinstance(entry, wal.Purge):
            for _scope, name, _replaced in entry.gone:
                changed.pop(name, None)
        elif entry.record is None:
            changed.pop(entry.record_id, None)
        else:
            changed[entry.record_id] = entry.record
    return changed


@dataclass
class Record:
    """An operation as it goes when nothing stops it.

    ``acknowledged`` lists how many steps had been taken when so many ``entries`` were safe.
    """

    operation: Operation
    template: Path
    steps: list[Step] = field(default_factory=list)
    entries: list[wal.Entry | wal.Purge] = field(default_factory=list)
    acknowledged: list[tuple[int, int]] = field(default_factory=list)
    truths: list[State] = field(default_factory=list)
    readings: list[State] = field(default_factory=list)

    def copy(self, folder: Path) -> Memory:
        """Make a fresh copy of the prepared state in ``folder``."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, folder, symlinks=True)
        return self.memory(folder)

    def memory(self, folder: Path) -> Memory:
        memory = Memory(folder / "state", moment=START)
        memory.later(hours=1)
        return memory

    def perform(self, folder: Path) -> None:
        """Do the operation in a folder where it has been prepared."""
        self.operation.run(self.memory(folder))

    @property
    def commits(self) -> set[tuple[int, str]]:
        """The syncs that acknowledge entries, by their number and the name of the file."""
        return {
            (step.number, step.path.name)
            for step in self.steps
            if step.kind == "fsync" and self.least(step.number + 1) > self.least(step.number)
        }

    def least(self, stopped: int) -> int:
        """Return how many entries are acknowledged when step ``stopped`` is not taken."""
        return max([0, *(count for steps, count in self.acknowledged if steps < stopped)])


def recorded(operation: Operation, folder: Path, monkeypatch) -> Record:
    """Prepare ``operation``, run it undisturbed and note all that can be compared later."""
    record = Record(operation, folder / "template")
    record.template.mkdir(parents=True)
    operation.prepare(Memory(record.template / "state"))
    memory = record.copy(folder / "whole")
    before, read_before = truth(memory), reading(memory)
    append = wal.append

    def noting(path, log, entries):
        append(path, log, entries)
        record.entries += entries
        record.acknowledged.append((len(machine.steps), len(record.entries)))

    with monkeypatch.context() as patch, Machine(folder / "whole").running() as machine:
        patch.setattr(wal, "append", noting)
        operation.run(memory)
    record.steps = machine.steps
    record.truths = [after(before, record.entries[:n]) for n in range(len(record.entries) + 1)]
    record.readings = [after(read_before, record.entries[:n]) for n in range(len(record.truths))]
    record.readings.append(reading(memory))
    assert truth(memory) == record.truths[-1]
    return record


@contextmanager
def told(record: Record, way: str, number: int) -> Iterator[None]:
    """Say at which step of what a check has failed."""
    at = record.steps[number - 1] if number <= len(record.steps) else "the end"
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{record.operation}; {way} at {at}: {error}") from error


_ORDINARY = re.compile(
    r"records/(user|agent)(/[a-z]+\.json)?|index|generations(/\d+(/[\w.-]+)?)?"
    r"|records|wal\.jsonl|wal\.applied|writer\.lock|indexer\.lock|tombstones\.jsonl"
    r"|records\.bak(/(user|agent)(/[a-z]+\.json)?)?"
    r"|(wal|tombstones)\.jsonl\.(torn|bad)-\w+(\.\d+)?|records/user/gnu\.json\.bad-\w+"
)


def check_reading(record: Record, folder: Path, least: int) -> None:
    """Readers see a state that existed, before anything has recovered, and change nothing."""
    memory = record.memory(folder)
    before = _tree(folder)
    check_state(reading(memory), record.readings[least:])
    assert _tree(folder) == before, "reading has changed a file"


def add_other(record: Record, folder: Path) -> None:
    add(record.memory(folder), OTHER, category="case")


def check_recovery(record: Record, folder: Path, least: int) -> None:
    """After the next write and index run everything is there, once, found, and nothing else."""
    add_other(record, folder)
    memory = record.memory(folder)
    memory.index()
    check_whole(record, folder, least)
    _check_files(memory)


def check_whole(record: Record, folder: Path, least: int, *, other: bool = True) -> None:
    """A state that existed is there, found, sound, with the other record, and nothing else."""
    memory = record.memory(folder)
    found = truth(memory)
    check_state(reading(memory, record.operation.mode), [found])
    changed = [e.record_id for e in record.entries if isinstance(e, wal.Entry)]
    for name in {OTHER, *changed} & found.keys():
        hits = [hit["id"] for hit in memory.search(name).data["results"]]
        assert hits == [name], f"{name} is not found by its own word"
    if other:
        assert found.pop(OTHER)["content"]["l0"] == text(OTHER)
    check_state(found, record.truths[least:])
    result = memory.service.index(IndexRequest(verify=True, embed=False))
    assert (result.warnings, result.data["damaged"]) == ((), [])
    assert memory.service.status().data["stale"] == []
    _check_forgotten(record, memory, found)


def complaints(memory: Memory) -> dict[str, dict]:
    """Return what doctor says of the checks that are not ok."""
    checks = examine(memory.service.store.env, Request()).data["checks"]
    return {check["name"]: check for check in checks if check["state"] != "ok"}


def check_healed(record: Record, folder: Path, least: int, usual: Collection[str]) -> None:
    """A state that existed is there, nothing forgotten is, and doctor says no more than usual."""
    memory = record.memory(folder)
    found = truth(memory)
    check_state(found, record.truths[least:])
    _check_forgotten(record, memory, found)
    said = complaints(memory)
    assert said.keys() <= usual, said


def _check_forgotten(record: Record, memory: Memory, found: State) -> None:
    if found == record.truths[-1]:
        log = memory.service.store.repository.view().log
        for name in record.operation.deletes:
            assert tombstones.was_deleted(memory.paths.tombstones, log, name), name
        left = [path for path in memory.state.rglob("*") if path.is_file()]
        for forgotten in record.operation.forgets:
            holding = [path for path in left if forgotten.encode() in path.read_bytes()]
            assert holding == [], (
                f"{forgotten} is still there: {[(p, p.read_bytes()) for p in holding]}"
            )


def check_state(found: State, allowed: list[State]) -> None:
    """Fail with what is different from the last of the states allowed."""
    wanted = allowed[-1]
    wrong = [n for n in found.keys() | wanted.keys() if found.get(n) != wanted.get(n)]
    assert found in allowed, [(name, found.get(name), wanted.get(name)) for name in wrong]


def _check_files(memory: Memory) -> None:
    root = memory.paths.root
    left = [str(p.relative_to(root)) for p in root.rglob("*")]
    assert not [name for name in left if not _ORDINARY.fullmatch(name)], "left behind"
    assert [path.name for path in memory.paths.generations.iterdir()] == [
        memory.paths.index.resolve().name
    ]
    if memory.path("gnu").exists():
        assert (memory.state / FOREIGN).read_text() == "of another program"


def _tree(folder: Path) -> dict[Path, bytes | str | None]:
    return {
        path: path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in folder.rglob("*")
    }
