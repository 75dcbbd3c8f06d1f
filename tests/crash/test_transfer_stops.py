"""Exports, migrations of files and of the older layout, stopped at every durable step."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from openclaw_cli.cli import pictures
from openclaw_cli.cli.charts import Bar, Chart
from openclaw_cli.errors import NotFoundError
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.transfer.exporter import ExportRequest, export_memories
from openclaw_cli.transfer.migration.files import migrate_file, rollback_file
from openclaw_cli.transfer.migration.migrator import migrate_store
from openclaw_cli.transfer.migration.rollback import rollback_store
from openclaw_cli.transfer.migration.upgrading import Upgrader
from tests.crash import machine
from tests.crash.machine import Machine, Stop
from tests.support import Memory

pytestmark = [
    pytest.mark.skipif(
        not os.path.isdir("/proc/self/fd"), reason="paths of descriptors are read from /proc"
    ),
    pytest.mark.usefixtures("laboratory"),
]

OLDER = Path(__file__).parents[1] / "compat" / "data"
WAYS = ("raise", "die", "torn", "power cut", "power cut, by chance")

Check = Callable[[Path, str], object]


def every_stop(template: Path, folder: Path, boot, work: Callable[[Path], object], check: Check):
    """Do ``work`` on a copy of ``template``, stopped at each step in each way; check what is left.

    Returns how many steps there are.
    """

    def fresh() -> Path:
        for left in (folder, folder.with_name("rebooted")):
            shutil.rmtree(left, ignore_errors=True)
        shutil.copytree(template, folder, symlinks=True)
        boot[:] = ["the first"]
        return folder

    with Machine(fresh()).running() as whole:
        work(folder)
    check(folder, "the end")
    for number in range(1, len(whole.steps) + 1):
        for way in WAYS:
            watch = machine.raising(number) if way == "raise" else machine.dying(
                number, torn=way in ("torn", "power cut, by chance")
            )  # fmt: skip
            disk = Machine(fresh(), watch)
            with disk.running(), suppress(Stop):
                work(folder)
            left = folder
            if way.startswith("power cut"):
                left = folder.with_name("rebooted")
                chance = Random(number) if "chance" in way else None
                disk.medium.after_power_cut(left, chance)
                boot[:] = ["the second"]
            try:
                check(left, way)
            except Exception as error:
                raise AssertionError(f"{way} at {whole.steps[number - 1]}: {error}") from error
    return len(whole.steps)


def memory_in(folder: Path) -> Memory:
    return Memory(folder / "state")


# -- export ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("there_before", [False, True])
def test_an_export_stopped_anywhere_is_whole_or_not_there(tmp_path, folder, boot, there_before):
    template = tmp_path / "template"
    template.mkdir()
    memory = memory_in(template)
    for name in ("ant", "bee"):
        memory.add(f"About the {name}", id=name)
    if there_before:
        (template / "out.json").write_text("precious")
    request = ExportRequest(template / "good.json")
    export_memories(memory.service, request)
    good = (template / "good.json").read_bytes()
    (template / "good.json").unlink()

    def work(folder):
        request = ExportRequest(folder / "out.json", force=there_before)
        export_memories(memory_in(folder).service, request)

    def check(folder, way):
        out = folder / "out.json"
        allowed = [good, b"precious" if there_before else None]
        assert (out.read_bytes() if out.exists() else None) in allowed
        if way in ("raise", "the end"):
            names = {entry.name for entry in folder.iterdir()} - {"out.json", "state"}
            assert not names, "a part of a file is left"
        if way == "the end":
            assert out.read_bytes() == good

    assert every_stop(template, folder, boot, work, check) >= 4


# -- a file ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("there_before", [False, True])
def test_a_picture_stopped_anywhere_is_whole_or_not_there(
    tmp_path, folder, boot, there_before, monkeypatch
):
    # Set anew by the program, put back after the test.
    for name in ("MPLCONFIGDIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "notes"))
    template = tmp_path / "template"
    template.mkdir()
    charts = [Chart("memories by category", "memories", [Bar("event", (3,))])]
    pictures.save(tmp_path / "good.svg", "main", charts, force=False)
    good = (tmp_path / "good.svg").read_bytes()
    if there_before:
        (template / "out.svg").write_text("precious")

    def work(folder):
        pictures.save(folder / "out.svg", "main", charts, force=there_before)

    def check(folder, way):
        out = folder / "out.svg"
        allowed = [good, b"precious" if there_before else None]
        assert (out.read_bytes() if out.exists() else None) in allowed
        if way in ("raise", "the end"):
            assert {entry.name for entry in folder.iterdir()} <= {"out.svg"}
        if way == "the end":
            assert out.read_bytes() == good

    assert every_stop(template, folder, boot, work, check) >= 4


def file_cases(template: Path) -> tuple[bytes, bytes]:
    template.mkdir()
    path = template / "old.jsonl"
    shutil.copy(OLDER / "export_1x.jsonl", path)
    original = path.read_bytes()
    migrate_file(upgrader(template), path)
    return original, path.read_bytes()


def upgrader(folder: Path) -> Upgrader:
    return Upgrader(memory_in(folder).service.store.catalog, "main")


def test_a_file_whose_migration_stopped_is_finished_or_rolled_back(tmp_path, folder, boot):
    template = tmp_path / "template"
    original, upgraded = file_cases(template)
    rollback_file(upgrader(template), template / "old.jsonl")

    def work(folder):
        migrate_file(upgrader(folder), folder / "old.jsonl")

    def check(folder, _way):
        path, kept = folder / "old.jsonl", folder / "old.jsonl.bak"
        assert path.read_bytes() in (original, upgraded)
        assert path.read_bytes() == original or kept.read_bytes() == original
        work(folder)
        assert (path.read_bytes(), kept.read_bytes()) == (upgraded, original)
        rollback_file(upgrader(folder), path)
        assert path.read_bytes() == original
        assert not kept.exists()

    assert every_stop(template, folder, boot, work, check) >= 8


# -- the older layout ------------------------------------------------------------------------------


def tree(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def shown(memory: Memory) -> dict[str, str]:
    items = memory.service.list(ListRequest(limit=None)).data["items"]
    texts = {item["id"]: item["l0"] for item in items}
    assert len(texts) == len(items), "listed twice"
    for name, word in (("mem-001", "绿茶"), ("mem-002", "Lisbon"), ("mem-101", "timeout")):
        assert [hit["id"] for hit in memory.search(word).data["results"]] == [name]
    return texts


@pytest.fixture
def older_state(tmp_path) -> Path:
    template = tmp_path / "template"
    shutil.copytree(OLDER / "folders_1x", template / "state")
    return template


def checks(template: Path) -> Check:
    before, texts = tree(template), shown(memory_in(template))
    golden = json.loads((OLDER / "expected" / "folders_1x.json").read_bytes())

    def check(folder, way):
        memory = memory_in(folder)
        at_rest = tree(folder)
        assert shown(memory) == texts
        assert tree(folder) == at_rest, "reading has changed a file"
        again = folder.with_name("again")
        for finish in ("migrate", "roll back"):
            shutil.rmtree(again, ignore_errors=True)
            shutil.copytree(folder, again, symlinks=True)
            other = memory_in(again)
            if finish == "migrate":
                assert migrate_store(other.service).data["failed"] == []
                files = other.paths.root.glob("records/*/*.json")
                assert {p.stem: json.loads(p.read_bytes()) for p in files} == golden
                assert other.service.status().data["stale"] == []
                assert not (other.paths.root / "user").exists()
            else:
                assert rollback_store(other.service).data["failed"] == []
                left = tree(again)
                assert {name: left.get(name) for name in before} == before
                assert not list(other.paths.root.glob("records/*/*.json"))
            assert shown(other) == texts

    return check


def test_a_migration_of_the_older_layout_is_finished_or_rolled_back(older_state, folder, boot):
    def work(folder):
        migrate_store(memory_in(folder).service)

    assert every_stop(older_state, folder, boot, work, checks(older_state)) >= 50


def test_a_rollback_to_the_older_layout_is_finished(older_state, folder, boot, tmp_path):
    check = checks(older_state)
    migrated = tmp_path / "migrated"
    shutil.copytree(older_state, migrated)
    migrate_store(memory_in(migrated).service)

    def work(folder):
        rollback_store(memory_in(folder).service)

    assert every_stop(migrated, folder, boot, work, check) >= 20


# -- one after the other ---------------------------------------------------------------------------

SEQUENCES = (
    (migrate_store, rollback_store),
    (rollback_store, migrate_store, rollback_store),
)
TREES = (("records_1x",), ("folders_1x",), ("records_1x", "folders_1x"))


@pytest.fixture(params=TREES, ids="+".join)
def originals(request, tmp_path) -> Path:
    template = tmp_path / "template"
    for name in request.param:
        shutil.copytree(OLDER / name, template / "state", dirs_exist_ok=True)
    if len(request.param) > 1:
        for older in (OLDER / "folders_1x").rglob("mem-*.json"):
            for path in (template / "state").rglob(f"records/*/{older.name}"):
                path.unlink()
    return template


def ends_with_the_originals(template: Path) -> Check:
    before = tree(template)

    def check(folder, _way):
        again = folder.with_name("again")
        for sequence in SEQUENCES:
            shutil.rmtree(again, ignore_errors=True)
            shutil.copytree(folder, again, symlinks=True)
            for command in sequence:
                with suppress(NotFoundError):  # nothing is kept of what has not begun
                    assert command(memory_in(again).service).data["failed"] == []
                if command is rollback_store:
                    left = tree(again)
                    assert {name: left.get(name) for name in before} == before
                    more = [Path(name).name for name in left.keys() - before.keys()]
                    assert not [name for name in more if name.startswith("mem-")]

    return check


def test_a_migration_that_stopped_goes_back_to_the_byte_whatever_is_run_after_it(
    originals, folder, boot
):
    def work(folder):
        migrate_store(memory_in(folder).service)

    assert every_stop(originals, folder, boot, work, ends_with_the_originals(originals)) >= 30


def test_a_rollback_that_stopped_goes_back_to_the_byte_whatever_is_run_after_it(
    originals, folder, boot, tmp_path
):
    migrated = tmp_path / "migrated"
    shutil.copytree(originals, migrated)
    migrate_store(memory_in(migrated).service)

    def work(folder):
        rollback_store(memory_in(folder).service)

    assert every_stop(migrated, folder, boot, work, ends_with_the_originals(originals)) >= 20
