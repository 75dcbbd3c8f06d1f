"""Stored trees of older formats are read as they are, migrated as expected, and rolled back.

``data`` holds what an older version has left; ``data/expected`` what it must become.
"""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from openclaw_cli.errors import (
    DamagedError,
    FormatTooNewError,
    FormatTooOldError,
    NotFoundError,
    StorageError,
    UsageError,
)
from openclaw_cli.memory.categories import CATEGORIES
from openclaw_cli.memory.listing import get
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.store import fsio
from openclaw_cli.store.migrations import s0001_records
from openclaw_cli.transfer.importer import ImportRequest, import_memories
from openclaw_cli.transfer.migration import migrator
from openclaw_cli.transfer.migration import rollback as rollback_module
from openclaw_cli.transfer.migration.files import migrate_file, rollback_file
from openclaw_cli.transfer.migration.migrator import migrate_store
from openclaw_cli.transfer.migration.rollback import rollback_store
from openclaw_cli.transfer.migration.upgrading import Upgrader, check_versions
from tests.support import Memory

DATA = Path(__file__).parent / "data"
EVERY = ListRequest(limit=None)
TREES = ("records_1x", "folders_1x")
FILES = ("export_1x.json", "export_1x.jsonl")


@pytest.fixture(params=TREES)
def tree(request) -> str:
    return request.param


@pytest.fixture
def older(tree, tmp_path) -> Memory:
    shutil.copytree(DATA / tree, tmp_path / "state")
    return Memory(tmp_path / "state")


@pytest.fixture
def folders(tmp_path) -> Memory:
    shutil.copytree(DATA / "folders_1x", tmp_path / "state")
    return Memory(tmp_path / "state")


@pytest.fixture
def upgrader(tmp_path) -> Upgrader:
    return Upgrader(Memory(tmp_path / "none").service.store.catalog, "main")


def expected(name: str) -> dict[str, dict]:
    return json.loads((DATA / "expected" / f"{name}.json").read_bytes())


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def stored(memory: Memory) -> dict[str, dict]:
    paths = memory.paths.root.glob("records/*/[!.]*.json")
    return {path.stem: json.loads(path.read_bytes()) for path in sorted(paths)}


def migrate(memory: Memory, **options) -> dict:
    return migrate_store(memory.service, **options).data


def rollback(memory: Memory, **options) -> dict:
    return rollback_store(memory.service, **options).data


def test_an_older_store_is_read_without_migrating_and_tells_what_to_run(older, tree):
    before = files(older.state)
    listed = older.service.list(EVERY)
    assert {item["id"] for item in listed.data["items"]} == expected(tree).keys()
    hits = older.search("Berlin Ada")
    assert hits.data["results"]
    found = get(older.service.store, ["mem-101"])
    for result in (listed, hits, found):
        assert [warning.code for warning in result.warnings] == ["older-format"]
        assert "openclaw memory migrate" in result.warnings[0].message
    assert files(older.state) == before


def test_a_store_becomes_what_is_expected_and_is_found_as_before(older, tree):
    texts = {item["id"]: item["l0"] for item in older.service.list(EVERY).data["items"]}
    queries = ("Berlin", "绿茶", "Ada Lisbon", "deploy fails", "TypeScript")
    hits = {query: {hit["id"] for hit in older.search(query).data["results"]} for query in queries}
    data = migrate(older)
    assert stored(older) == expected(tree)
    assert (data["failed"], data["backup"]) == ([], str(older.paths.root))
    assert data["changed"] + data["unchanged"] == len(expected(tree))
    listed = older.service.list(EVERY)
    assert listed.warnings == ()
    for item in listed.data["items"]:
        assert texts[item["id"]].startswith(item["l0"])
    for query in queries:
        result = older.search(query)
        assert {hit["id"] for hit in result.data["results"]} == hits[query]
        assert result.warnings == ()
    assert older.service.status().data["stale"] == []
    again = migrate(older)
    assert (again["changed"], again["unchanged"]) == (0, len(expected(tree)))
    assert older.index()["updated"] == 0


def test_a_dry_run_tells_each_change_and_makes_none(older, tree):
    before = files(older.state)
    data = migrate(older, dry_run=True)
    assert files(older.state) == before
    told = {item.get("id") or Path(item["path"]).name: item["change"] for item in data["changes"]}
    changed = {name for name in told if name.startswith("mem-")}
    assert changed == expected(tree).keys() - {"mem-005"}
    assert "content becomes levels" in told["mem-001"]
    assert ("index" in told) == (tree == "folders_1x")
    assert data["changed"] == migrate(older)["changed"]


def test_a_rollback_restores_every_byte(older, tree):
    before = files(older.state)
    migrate(older)
    data = rollback(older)
    assert data["failed"] == []
    after = files(older.state)
    assert {name: after.get(name) for name in before} == before
    added = {Path(name).name for name in after.keys() - before.keys()}
    assert not [name for name in added if name.endswith((".bak", ".json")) and "mem" in name]
    assert older.search("Berlin Ada").data["results"]
    if tree == "records_1x":
        with pytest.raises(NotFoundError, match="nothing is kept"):
            rollback(older)
    else:
        assert rollback(older)["changed"] == 0
    assert migrate(older)["changed"] == data["changed"]
    assert older.service.status().data["stale"] == []


def test_what_is_kept_of_a_migration_is_counted_as_backups(older):
    migrate(older)
    kept = [p for folder in older.paths.backups for p in folder.rglob("*") if p.is_file()]
    sizes = older.service.status(by_cause=True).data["bytes"]
    assert sizes["backups"] == sum(path.stat().st_size for path in kept) > 0
    assert sizes["other"] == sum(
        path.stat().st_size
        for path in (older.paths.applied, older.paths.writer_lock, older.paths.indexer_lock)
    )


def test_an_edit_by_hand_is_not_lost_by_migrating(older, tree):
    place = older.paths.records("user") if tree == "records_1x" else older.paths.root / "user"
    path = place / "mem-001.json"
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, "content": "Edited in between", "own": 1}))
    migrate(older)
    assert older.document("mem-001")["content"]["l2"] == "Edited in between"
    assert older.document("mem-001")["own"] == 1
    assert older.found("edited between") == ["Edited in between"]


def test_what_changed_after_migrating_stays_when_it_is_rolled_back(older):
    migrate(older)
    older.later(hours=1)
    older.edit("mem-002", "Changed after the migration")
    older.index()
    older.add("new since then", id="new")
    data = rollback(older)
    assert [item["id"] for item in data["failed"]] == ["mem-002"]
    found = older.service.list(EVERY).data["items"]
    texts = {item["id"]: item["l0"] for item in found}
    assert texts["mem-002"] == "Changed after the migration"
    assert texts["new"] == "new since then"


def test_a_recall_after_migrating_does_not_keep_it_from_being_rolled_back(older):
    before = files(older.state)
    migrate(older)
    older.search("Berlin Ada", touch=True)
    assert rollback(older)["failed"] == []
    after = files(older.state)
    assert {name: after.get(name) for name in before} == before


@pytest.fixture
def half_back(tmp_path, monkeypatch) -> Memory:
    """A store whose rollback was stopped before the files got their bytes again."""
    shutil.copytree(DATA / "records_1x", tmp_path / "state")
    memory = Memory(tmp_path / "state")
    migrate(memory)

    def stop(*_args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rollback_module._Rollback, "_exactly", stop)
        with pytest.raises(KeyboardInterrupt):
            rollback(memory)
    return memory


@pytest.mark.parametrize("migrates", [False, True])
@pytest.mark.parametrize("recalls", [False, True])
def test_a_stopped_rollback_keeps_the_true_originals(half_back, migrates, recalls):
    if recalls:
        half_back.later(hours=1)
        assert half_back.search("Berlin Ada", touch=True).data["results"]
    else:
        half_back.index()
    if migrates:
        assert migrate_store(half_back.service).warnings == ()
    assert rollback(half_back)["failed"] == []
    before, after = files(DATA / "records_1x"), files(half_back.state)
    assert {name: after.get(name) for name in before} == before
    assert not [name for name in after if ".bak" in name]


def test_another_original_of_the_same_id_is_kept_beside_and_told(half_back):
    path = half_back.path("mem-001")
    original = files(DATA / "records_1x")[str(path.relative_to(half_back.state))]
    edited = json.dumps({**half_back.document("mem-001"), "content": "Edited"}).encode()
    path.write_bytes(edited)
    result = migrate_store(half_back.service)
    assert [warning.code for warning in result.warnings] == ["set-aside"]
    assert Path(result.warnings[0].path).read_bytes() == original
    assert rollback(half_back)["failed"] == []
    assert path.read_bytes() == edited


@pytest.mark.parametrize("tree", ["records_1x"])
def test_an_original_that_was_lost_is_listed_when_it_is_to_be_restored(older, tree):
    migrate(older)
    (older.paths.records_backup("user") / "mem-001.json").write_bytes(b"\0" * 9)
    migrated = older.path("mem-001").read_bytes()
    assert [item["id"] for item in rollback(older)["failed"]] == ["mem-001"]
    assert older.path("mem-001").read_bytes() == migrated


@pytest.mark.parametrize("tree", ["records_1x"])
def test_what_is_no_file_among_the_originals_is_told_by_a_rollback(older, tree):
    migrate(older)
    original = older.paths.records_backup("user") / "mem-001.json"
    original.unlink()
    original.mkdir()
    migrated = older.path("mem-001").read_bytes()
    with pytest.raises(DamagedError, match=r"mem-001\.json is not a regular file"):
        rollback(older)
    assert older.path("mem-001").read_bytes() == migrated


def test_a_damaged_and_a_newer_record_are_listed_and_kept(older, tree):
    place = older.paths.records("user") if tree == "records_1x" else older.paths.root / "user"
    newer = {"version": "3.0", "id": "new", "content": {"l0": "from the future"}}
    (place / "bad.json").write_bytes(b'{"id":"bad","content":')
    (place / "new.json").write_text(json.dumps(newer))
    data = migrate(older)
    reasons = {item["id"]: item["reason"] for item in data["failed"]}
    assert reasons.keys() == {"bad", "new"}
    assert "damaged" in reasons["bad"]
    assert "newer" in reasons["new"]
    assert older.path("bad").read_bytes() == b'{"id":"bad","content":'
    assert older.document("new") == newer
    assert [item["path"] for item in older.index()["damaged"]] == [str(older.path("bad"))]
    assert rollback(older)["failed"] == []
    assert (place / "bad.json").read_bytes() == b'{"id":"bad","content":'


def test_the_older_layout_is_not_written_to(folders):
    for work in (
        lambda: folders.add("one more"),
        lambda: folders.index(),
        lambda: folders.imported([{"text": "x"}]),
        lambda: folders.imported([{"text": "x"}], dry_run=True),
    ):
        with pytest.raises(FormatTooOldError) as caught:
            work()
        assert caught.value.exit_status == 12
        assert caught.value.hint == "run: openclaw memory migrate"
    migrate(folders)
    folders.add("one more")


def test_of_two_records_of_one_id_the_current_one_stands(folders):
    current = Memory(folders.state.parent / "other")
    current.add("The newer text", id="mem-002")
    target = folders.paths.record("user", "mem-002")
    target.parent.mkdir(parents=True)
    shutil.copy(current.path("mem-002"), target)
    data = migrate(folders)
    assert [item["id"] for item in data["failed"]] == ["mem-002"]
    assert folders.document("mem-002")["content"]["l0"] == "The newer text"
    assert "Lisbon" in (folders.paths.older_backup("user") / "mem-002.json").read_text()


def test_a_kept_folder_in_the_way_is_told_before_anything_is_done(folders):
    folders.paths.older_backup("user").mkdir()
    before = files(folders.state)
    with pytest.raises(StorageError, match=r"user\.bak is there already"):
        migrate(folders)
    assert files(folders.state) == before


def test_a_folder_that_leads_out_of_the_state_is_not_read(folders, tmp_path):
    outside = tmp_path / "outside"
    shutil.move(folders.paths.root / "user", outside)
    (folders.paths.root / "user").symlink_to(outside)
    assert "mem-001" not in {i["id"] for i in folders.service.list(EVERY).data["items"]}
    migrate(folders)
    assert not (folders.paths.record("user", "mem-001")).exists()


def test_batches_make_no_difference(older, tree, monkeypatch):
    monkeypatch.setattr(migrator, "BATCH", 1)
    before = files(older.state)
    migrate(older)
    assert stored(older) == expected(tree)
    rollback(older)
    after = files(older.state)
    assert {name: after.get(name) for name in before} == before


def test_vectors_are_used_again(older):
    if older.paths.index.is_dir() and not older.paths.index.is_symlink():
        migrate(older)
        return
    older.index(embed=True)
    migrate(older)
    assert older.index(embed=True)["embedded"] == 0
    assert older.found("programming languages", "dense")


def test_a_full_disk_leaves_what_was_there(older, monkeypatch):
    def fail(*_args):
        raise OSError(28, "No space left on device")

    before = {item["id"]: item["l0"] for item in older.service.list(EVERY).data["items"]}
    with monkeypatch.context() as patch:
        patch.setattr(fsio.Disk, "write", fail)
        with pytest.raises(StorageError, match="No space left"):
            migrate(older)
    found = older.service.list(EVERY).data["items"]
    assert {item["id"]: item["l0"] for item in found} == before
    migrate(older)


def test_the_frozen_table_began_as_the_one_in_force():
    frozen = {n: (s, m, d) for n, (s, m, d) in s0001_records._CATEGORIES.items()}
    current = {c.name: (c.scopes[0], c.strategy, c.stability) for c in CATEGORIES.values()}
    assert frozen == current


# -- files -----------------------------------------------------------------------------------------


@pytest.fixture(params=[*FILES, "packed"])
def file(request, tmp_path) -> Path:
    if request.param == "packed":
        path = tmp_path / "export.jsonl.gz"
        path.write_bytes(gzip.compress((DATA / "export_1x.jsonl").read_bytes()))
        return path
    return Path(shutil.copy(DATA / request.param, tmp_path))


def read(path: Path) -> list[dict]:
    data = path.read_bytes()
    text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    if path.suffix == ".json":
        return json.loads(text)["records"]
    return [json.loads(line) for line in text.splitlines()][1:]


def test_a_file_is_upgraded_its_original_kept_and_restored(file, upgrader, tmp_path):
    original = file.read_bytes()
    told = migrate_file(upgrader, file, dry_run=True).data
    assert [item["id"] for item in told["changes"]] == ["mem-001", "mem-002", "mem-003"]
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    data = migrate_file(upgrader, file, source_version="1.x").data
    kept = file.with_name(f"{file.name}.bak")
    assert (data["changed"], data["backup"]) == (3, str(kept))
    assert kept.read_bytes() == original
    wanted = expected("records_1x")
    assert read(file) == [wanted[name] for name in ("mem-001", "mem-002", "mem-003")]
    memory = Memory(tmp_path / "state")
    with file.open("rb") as stream:
        request = ImportRequest(source=file, embed=False)
        assert import_memories(memory.service, request, stream).data["added"] == 3
    again = migrate_file(upgrader, file).data
    assert (again["changed"], again["unchanged"], again["backup"]) == (0, 3, None)
    rollback_file(upgrader, file)
    assert file.read_bytes() == original
    assert not kept.exists()


def test_a_line_that_is_no_record_stays_as_it_is(upgrader, tmp_path):
    path = tmp_path / "old.jsonl"
    lines = [b'{"id":"a","content":"one"}', b'{"id":"b","con', b'{"text":"x"}', b"", b"[1]"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    data = migrate_file(upgrader, path).data
    assert (data["changed"], data["unchanged"]) == (1, 1)
    assert [item["line"] for item in data["failed"]] == [2, 5]
    assert path.read_bytes().splitlines()[1:] == lines[1:]


def test_a_record_without_an_id_gets_one_when_it_is_imported(upgrader, tmp_path):
    path = tmp_path / "old.jsonl"
    path.write_text('{"version":"1.0","text":"no id"}\n{"content":"none either"}\n')
    assert migrate_file(upgrader, path).data["changed"] == 2
    memory = Memory(tmp_path / "state")
    assert memory.imported([path.read_bytes()]).data["added"] == 2
    assert sorted(memory.listed()) == ["no id", "none either"]


def test_a_file_that_changed_since_is_not_overwritten_by_a_rollback(file, upgrader):
    migrate_file(upgrader, file)
    with file.open("ab") as target:
        target.write(b"\n")
    changed = file.read_bytes()
    with pytest.raises(UsageError, match="has changed since"):
        rollback_file(upgrader, file)
    assert file.read_bytes() == changed


def test_another_file_under_the_backups_name_is_kept(file, upgrader):
    kept, original = file.with_name(f"{file.name}.bak"), file.read_bytes()
    kept.write_text("precious")
    with pytest.raises(UsageError, match="another file"):
        migrate_file(upgrader, file)
    assert (kept.read_text(), file.read_bytes()) == ("precious", original)


def test_a_document_that_breaks_off_is_refused_whole(upgrader, tmp_path):
    path = tmp_path / "old.json"
    path.write_text('{"version":"1.0","records":[{"id":"a","content":"one"},{"id":')
    with pytest.raises(UsageError, match="breaks off"):
        migrate_file(upgrader, path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.json"]


@pytest.mark.parametrize(
    ("text", "options", "error"),
    [
        ('{"version":"3.0","records":[]}', {}, FormatTooNewError),
        ('{"records":[],"version":"3.0"}', {}, FormatTooNewError),
        ('{"version":"3.1"}\n{"id":"a"}\n', {}, FormatTooNewError),
        ('{"version":"1.2","records":[]}', {"source_version": "1.1"}, UsageError),
        ("PK\x03\x04", {}, UsageError),
    ],
)
def test_a_file_that_cannot_be_migrated_is_left_alone(upgrader, tmp_path, text, options, error):
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(error):
        migrate_file(upgrader, path, **options)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file.json"]
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [("2.0", None, UsageError), ("x", None, UsageError), (None, "1.0", UsageError),
     (None, "3.0", FormatTooNewError)],
)  # fmt: skip
def test_versions_that_are_no_way_are_refused(source, target, error):
    with pytest.raises(error):
        check_versions(source, target)


def test_versions_may_be_named_as_they_are_told():
    for source in (None, "1.x", "1", "1.4"):
        for target in (None, "2.0", "2.x"):
            check_versions(source, target)
