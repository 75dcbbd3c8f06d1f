"""Exporting: every record as it is, the same bytes for the same records, and no half of a file."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
from datetime import UTC, datetime

import pytest

from openclaw_cli.errors import NotFoundError, StorageError, UsageError
from openclaw_cli.memory.filters import Filters
from openclaw_cli.store import fsio
from openclaw_cli.transfer.exporter import ExportRequest, export_memories
from tests.support import Memory


@pytest.fixture
def filled(memory):
    memory.add("用户喜欢绿茶", id="tea", category="preference", key="drink", user="u1")
    memory.add("Likes coffee now", id="x", category="preference", key="drink", user="u1")
    memory.add("Met Ada", id="ada", tags=("people",))
    memory.add("Run the tests first", id="tests", category="lesson")
    document = {**memory.document("ada"), "mood": {"glad": [1, None, 2.5]}}
    memory.path("ada").write_text(json.dumps(document))
    memory.index()
    memory.later(days=3)
    memory.add("Only in the log", id="log")
    return memory


def exported(memory, path, **options):
    filters = Filters(**options.pop("filters", {}))
    return export_memories(memory.service, ExportRequest(path, filters=filters, **options))


def ids(path):
    return [record["id"] for record in json.loads(path.read_bytes())["records"]]


def test_an_export_holds_every_field_of_every_record_and_no_vector(filled, tmp_path):
    filled.paths.record("user", "log").unlink()  # as after a crash: only the log has it
    filled.paths.applied.unlink()
    logged = filled.service.store.repository.view().record("user", "log").document
    path = tmp_path / "out.json"
    result = exported(filled, path)
    document = json.loads(path.read_bytes())
    assert list(document) == ["version", "agent", "scope", "exportedAt", "records"]
    assert (document["version"], document["agent"], document["scope"]) == ("2.0", "main", "all")
    by_id = {record["id"]: record for record in document["records"]}
    assert list(by_id) == ["ada", "log", "tea", "tests"]
    assert by_id["log"] == logged
    for name, scope in (("ada", "user"), ("tea", "user"), ("tests", "agent")):
        assert by_id[name] == filled.document(name, scope)
    assert by_id["tea"]["history"]
    assert result.data["records"] == 4
    assert document["exportedAt"] == logged["updatedAt"]


def test_json_lines_have_a_header_and_a_record_a_line(filled, tmp_path):
    path = tmp_path / "out.jsonl"
    exported(filled, path)
    head, *lines = map(json.loads, path.read_bytes().splitlines())
    assert head == {
        "version": "2.0", "agent": "main", "scope": "all", "exportedAt": "2026-03-04T12:00:00Z"
    }  # fmt: skip
    assert [line["id"] for line in lines] == ["ada", "log", "tea", "tests"]


def test_the_summary_tells_the_digest_of_the_bytes_written(filled, tmp_path):
    for name in ("a.json", "b.jsonl", "c.json.gz"):
        data = exported(filled, tmp_path / name).data
        written = (tmp_path / name).read_bytes()
        assert data["sha256"] == hashlib.sha256(written).hexdigest()
        assert data["bytes"] == len(written)


def test_the_same_records_give_the_same_bytes(filled, tmp_path):
    exported(filled, tmp_path / "a.json.gz")
    filled.index()
    filled.later(days=30)
    for path in filled.paths.root.glob("records/*/*.json"):  # another order of fields is no change
        document = json.loads(path.read_bytes())
        path.write_text(json.dumps(dict(reversed(document.items()))))
    exported(filled, tmp_path / "b.json.gz")
    packed = (tmp_path / "a.json.gz").read_bytes()
    assert packed == (tmp_path / "b.json.gz").read_bytes()
    assert packed[3:8] == bytes(5), "no name and no time"
    exported(filled, tmp_path / "plain.json")
    assert gzip.decompress(packed) == (tmp_path / "plain.json").read_bytes()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"scope": ("agent",)}, ["tests"]),
        ({"scope": ("user",)}, ["ada", "log", "tea"]),
        ({"category": ("preference", "lesson")}, ["tea", "tests"]),
        ({"user": ("u1",)}, ["tea"]),
        ({"tag": ("people",)}, ["ada"]),
        ({"language": ("en",), "scope": ("user",), "user": ("nobody",)}, []),
        ({"since": datetime(2026, 3, 2, tzinfo=UTC)}, ["log"]),
        ({"until": datetime(2026, 3, 2, tzinfo=UTC)}, ["ada", "tea", "tests"]),
    ],
)
def test_filters_choose_as_those_of_list_do(filled, tmp_path, filters, expected):
    path = tmp_path / "out.json"
    exported(filled, path, filters=filters)
    assert ids(path) == expected
    listed = filled.listed(filters=Filters(**filters))
    assert len(listed) == len(expected)


def test_a_damaged_record_is_listed_and_the_others_are_exported(filled, tmp_path):
    filled.path("ada").write_text("{")
    result = exported(filled, tmp_path / "out.json")
    assert result.exit_status == 3
    assert [item["id"] for item in result.data["failed"]] == ["ada"]
    assert "damaged" in result.data["failed"][0]["reason"]
    assert ids(tmp_path / "out.json") == ["log", "tea", "tests"]


def test_a_file_is_private_and_never_overwritten_in_silence(filled, tmp_path):
    path = tmp_path / "out.json"
    path.write_text("precious")
    with pytest.raises(UsageError, match="there already"):
        exported(filled, path)
    assert path.read_text() == "precious"
    exported(filled, path, force=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ids(path)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
def test_what_is_no_regular_file_is_never_written_to(filled, tmp_path, kind, force):
    path, victim = tmp_path / "out.json", tmp_path / "victim"
    victim.write_text("precious")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(victim if kind == "link" else tmp_path / "nowhere")
    before = path.lstat()
    with pytest.raises(UsageError, match="not a regular file"):
        exported(filled, path, force=force)
    assert path.lstat().st_ino == before.st_ino
    assert victim.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("failing", ["write", "fsync", "link"])
def test_a_failure_leaves_no_part_of_a_file(filled, tmp_path, monkeypatch, failing):
    folder = tmp_path / "out"
    folder.mkdir()

    def fail(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(fsio.Disk, failing, fail)
    with pytest.raises(StorageError, match="No space left"):
        exported(filled, folder / "out.json")
    assert list(folder.iterdir()) == []


def test_an_interruption_leaves_no_part_of_a_file(filled, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()

    def interrupt(stage, _done, _total):
        raise KeyboardInterrupt

    request = ExportRequest(folder / "out.json")
    for number in range(300):
        filled.add(f"one more {number}", id=f"more-{number}")
    with pytest.raises(KeyboardInterrupt):
        export_memories(filled.service, request, interrupt)
    assert list(folder.iterdir()) == []


def test_a_file_that_another_process_makes_meanwhile_is_kept(filled, tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    link = fsio.Disk.link

    def late(self, source, target):
        path.write_text("of another process")
        link(self, source, target)

    monkeypatch.setattr(fsio.Disk, "link", late)
    with pytest.raises(StorageError):
        exported(filled, path)
    assert path.read_text() == "of another process"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name != "state"] == ["out.json"]


def test_a_file_system_without_hard_links_is_written_to(filled, tmp_path, monkeypatch):
    def refuse(*_args):
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(fsio.Disk, "link", refuse)
    exported(filled, tmp_path / "out.json")
    assert ids(tmp_path / "out.json")


def test_an_agent_without_memories_and_an_unknown_category_are_told_first(filled, tmp_path):
    with pytest.raises(NotFoundError):
        exported(Memory(filled.state, "other"), tmp_path / "out.json")
    with pytest.raises(UsageError, match="category"):
        exported(filled, tmp_path / "out.json", filters={"category": ("wish",)})
    assert not (tmp_path / "out.json").exists()


def test_an_older_record_is_exported_in_the_format_that_the_export_has(memory, tmp_path):
    memory.add("one", id="one")
    memory.path("old").write_text('{"id":"old","content":"of old"}')
    result = exported(memory, tmp_path / "out.json")
    found = json.loads((tmp_path / "out.json").read_bytes())["records"][0]
    assert (found["version"], found["content"]["l0"]) == ("2.0", "of old")
    assert [warning.code for warning in result.warnings] == ["older-format"]
    other = Memory(tmp_path / "other")
    assert other.imported([(tmp_path / "out.json").read_bytes()]).data["added"] == 2
