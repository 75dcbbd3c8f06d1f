"""openclaw-store(5) is enough to write a reader: here is one, and it reads a store."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import shutil
import sys
from pathlib import Path

import pytest

from tests.docs import prepared, reader


@pytest.fixture
def place(prepared_store, tmp_path):
    return shutil.copytree(prepared_store, tmp_path / "place", symlinks=True)


def _told(state: Path) -> dict[tuple[str, str], dict]:
    """What the program itself says there is."""
    document = json.loads(prepared.openclaw(state, "memory", "export"))
    return {(record["scope"], record["id"]): record for record in document["records"]}


def _shown(record: dict) -> dict:
    """The members that the page promises to be there, or tells the defaults of."""
    names = ("id", "scope", "category", "userId", "key", "content", "tags", "history", "updatedAt")
    return {name: record.get(name) for name in names}


def test_the_reader_uses_nothing_of_the_program():
    tree = ast.parse(Path(reader.__file__).read_text(encoding="utf-8"))
    imported = [
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert {name.partition(".")[0] for name in imported} <= set(sys.stdlib_module_names)


def test_the_records_are_those_that_the_program_tells(place):
    state = place / "state"
    found = reader.records(state / "agents" / "main" / "memory")
    assert {key: _shown(record) for key, record in found.items()} == {
        key: _shown(record) for key, record in _told(state).items()
    }
    assert len(found["user", "mem-001"]["history"]) == 2


def test_what_stands_in_the_log_alone_is_read_too(place):
    state = place / "state"
    memory = state / "agents" / "main" / "memory"
    files = memory / "records" / "user"
    kept = {path.name: path.read_bytes() for path in files.iterdir()}
    prepared.openclaw(state, "memory", "add", "Only in the log", "--id", "mem-new", "--no-embed")
    prepared.openclaw(state, "memory", "edit", "mem-001", "--l0", "The editor is ed", "--no-embed")
    prepared.openclaw(state, "memory", "delete", "mem-002", "--yes")
    told = _told(state)
    # As a power cut leaves it: the log is on disk, what was written after it is not.
    (files / "mem-new.json").unlink()
    for name, data in kept.items():
        (files / name).write_bytes(data)
    with (memory / "wal.jsonl").open("ab") as log:
        log.write(
            b'{"crc":"00000000","seq":99,"op":"delete","scope":"user","id":"mem-001"}\n{"crc"'
        )
    found = reader.records(memory)
    assert {key: _shown(record) for key, record in found.items()} == {
        key: _shown(record) for key, record in told.items()
    }
    assert found["user", "mem-001"]["content"]["l0"] == "The editor is ed"
    assert ("user", "mem-002") not in found


def test_a_file_edited_by_hand_after_its_line_in_the_log_stands(place):
    state = place / "state"
    memory = state / "agents" / "main" / "memory"
    prepared.openclaw(state, "memory", "edit", "mem-001", "--l0", "by command", "--no-embed")
    path = memory / "records" / "user" / "mem-001.json"
    path.write_text(path.read_text().replace("by command", "by hand"))
    (memory / "wal.applied").unlink()
    assert reader.records(memory)["user", "mem-001"]["content"]["l0"] == "by hand"
    shown = json.loads(prepared.openclaw(state, "memory", "get", "mem-001", "--json"))
    assert shown["data"]["items"][0]["content"]["l0"] == "by hand"


def test_the_index_says_what_the_records_say(place):
    memory = place / "state" / "agents" / "main" / "memory"
    records, found = reader.records(memory), reader.index(memory)
    columns = found["columns"]
    assert found["config"]["records"] == len(records) == len(columns["id"])
    for ordinal, (scope, name) in enumerate(zip(columns["scope"], columns["id"], strict=True)):
        record = records[scope, name]
        assert columns["category"][ordinal] == record["category"]
        assert record["contentHash"].startswith(f"sha256:{columns['hash'][ordinal]}")
        digest = hashlib.sha256(record["content"]["l0"].encode()).hexdigest()
        assert columns["hash"][ordinal] == digest[:24] or record["content"]["l2"]
        if ordinal in found["vectors"]:
            assert math.isclose(math.hypot(*found["vectors"][ordinal]), 1, abs_tol=1e-3)
    place_of = columns["id"].index("mem-001")
    assert found["postings"]["en", "emac"] == [[place_of], [1]]


def test_sessions_are_those_that_the_program_tells(place):
    state = place / "state"
    agent = state / "agents" / "main"
    prepared.openclaw(state, "session", "archive", "7d2e41bb")
    found = reader.sessions(agent)
    listed = json.loads(prepared.openclaw(state, "session", "list", "--status", "all", "--json"))
    items = {item["sessionId"]: item for item in listed["data"]["items"]}
    assert {name: meta for name, (meta, _messages) in found.items()} == items
    for name, (meta, messages) in found.items():
        tail = json.loads(prepared.openclaw(state, "session", "tail", name, "-n", "1000", "--json"))
        assert messages == tail["data"]["items"]
        assert meta["messageCount"] == messages[-1]["idx"] + 1
    assert reader.deleted(agent) == [f"s-{prepared.TAIL}9b1c2d3e"]


def test_tombstones_hold_digests_of_what_was_deleted(place):
    state = place / "state"
    prepared.openclaw(state, "memory", "delete", "mem-002", "--yes")
    prepared.openclaw(state, "memory", "index", "--no-embed")
    memory = state / "agents" / "main" / "memory"
    stones = reader.checked_lines((memory / "tombstones.jsonl").read_bytes())
    user = hashlib.sha256(b"123456789").hexdigest()[:24]
    assert [(stone["of"], stone["user"]) for stone in stones] == [
        (hashlib.sha256(b"mem-002").hexdigest()[:24], user)
    ]
