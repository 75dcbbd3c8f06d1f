"""A user who is purged leaves no byte behind, and nobody else loses anything."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from openclaw_cli.memory.proof import elsewhere, verify
from openclaw_cli.memory.requests import (
    AddRequest,
    DeleteRequest,
    EditRequest,
    IndexRequest,
    PurgeRequest,
)
from openclaw_cli.paths import StatePaths
from openclaw_cli.store.repository import Change
from openclaw_cli.transfer import importer
from tests.support import Memory, forms

TEXTS = (
    "用户喜欢在周末去北京的公园散步",
    'User said:\n"never tell\tanyone" \\ about it 😀🚀',
    "plain words about a secret garden/house",
)
OTHERS = ("somebody else likes the sea", "别人喜欢山上的空气和水")


@pytest.fixture
def memory(tmp_path) -> Memory:
    memory = Memory(tmp_path / "state")
    for number, text in enumerate(TEXTS):
        memory.add(text, user="u1", id=f"mem-theirs-{number}", tags=("tag-of-u1",))
    for number, text in enumerate(OTHERS):
        memory.add(text, user="u2", id=f"mem-others-{number}")
    memory.index()
    return memory


def purge(memory: Memory, user: str = "u1", *, dry_run: bool = False):
    return memory.service.purge(PurgeRequest(user, dry_run=dry_run))


def files_with(memory: Memory, *texts: str) -> list[Path]:
    wanted = [form for text in texts for form in forms(text)]
    files = [path for path in memory.state.rglob("*") if path.is_file()]
    return [path for path in files if any(form in path.read_bytes() for form in wanted)]


def test_no_byte_of_the_user_is_left(memory):
    report = purge(memory)
    assert (report.records, report.insights) == (3, 0)
    assert sorted(memory.listed()) == sorted(OTHERS)
    assert files_with(memory, *TEXTS, "mem-theirs", "u1") == []
    assert memory.index()["records"] == 2
    proof = verify(StatePaths(memory.state), report.ids, report.texts)
    assert (proof["matches"], proof["unread"]) == (0, [])
    files = [path for path in memory.state.rglob("*") if path.is_file() or path.is_symlink()]
    assert proof["filesScanned"] == len(files)


def test_a_dry_run_tells_what_would_go_and_changes_nothing(memory):
    before = {path: path.read_bytes() for path in memory.state.rglob("*") if path.is_file()}
    planned = purge(memory, dry_run=True)
    assert {path: path.read_bytes() for path in before} == before
    report = purge(memory)
    assert (planned.ids, planned.records, planned.bytes) == (
        report.ids, report.records, report.bytes
    )  # fmt: skip


def test_a_whole_life_of_merges_edits_undos_and_imports_goes(memory):
    slot = {"user": "u1", "category": "preference", "key": "editor"}
    memory.add("prefers the editor Emacs by far", id="mem-slot", **slot)
    memory.later(hours=1)
    memory.add("prefers the editor Vim by far", id="mem-late", **slot)
    memory.service.edit(EditRequest("mem-slot", l0="prefers the editor Helix", embed=False))
    memory.service.undo("mem-slot", embed=False)
    line = {"id": "mem-slot", "content": {"l0": "prefers ed, the standard"}, "userId": "u1"}
    memory.imported([line], on_conflict="overwrite")
    memory.index()
    memory.add("and something in the log only", user="u1")
    purge(memory)
    words = ("Emacs", "Vim", "Helix", "standard", "log only", "mem-slot", "mem-late")
    assert files_with(memory, *words) == []


def test_what_was_theirs_once_goes_from_the_history_of_another_user(memory):
    line = {"id": "mem-theirs-0", "content": {"l0": "now of another user"}, "userId": "u2"}
    memory.imported([line], on_conflict="overwrite")
    purge(memory)
    assert files_with(memory, TEXTS[0]) == []
    assert memory.document("mem-theirs-0")["content"]["l0"] == "now of another user"
    assert memory.document("mem-theirs-0")["history"] == []


def test_what_another_user_said_in_the_same_words_stays(memory):
    memory.add(TEXTS[2], user="u2", id="mem-same")
    memory.service.edit(EditRequest("mem-same", l0="changed my mind", embed=False))
    report = purge(memory)
    assert memory.document("mem-same")["history"][0]["content"]["l0"] == TEXTS[2]
    assert verify(StatePaths(memory.state), report.ids, report.texts)["matches"] > 0


def insight(name: str, *evidence: str) -> dict:
    return {
        "id": name,
        "content": {"l0": f"insight {name}"},
        "category": "insight",
        "evidence": list(evidence),
    }


def test_insights_go_with_their_evidence_or_lose_it(memory):
    memory.imported(
        [
            insight("only", "mem-theirs-0", "mem-theirs-1"),
            insight("both", "mem-theirs-0", "mem-others-0"),
            insight("upon", "only"),
            insight("none", "mem-others-1"),
        ]
    )
    report = purge(memory)
    assert (report.records, report.insights, report.trimmed) == (3, 2, 1)
    assert memory.document("both")["evidence"] == ["mem-others-0"]
    assert memory.document("none")["evidence"] == ["mem-others-1"]
    assert not memory.path("only").exists()
    assert not memory.path("upon").exists()


def test_files_set_aside_and_leftovers_are_cleaned_of_theirs_alone(memory):
    record = memory.path("mem-theirs-1").read_bytes()
    records = memory.paths.records("user")
    theirs = {
        "mem-x.json.bad-20260101": record,
        "mem-theirs-0.json.bak": b"{",
        "mem-y.json": record[:-20],
        "mem-theirs-2.json~": record,
        f".mem-z.json.tmp-{'0' * 12}": record,
    }
    for name, data in theirs.items():
        (records / name).write_bytes(data)
    (records / "mem-others-9.json.bad-1").write_bytes(b'{"userId": "u2", "text": "x"')
    line = json.dumps({"id": "mem-theirs-0", "text": TEXTS[1]})
    memory.paths.wal.with_name("wal.jsonl.bad-1").write_text(f"of others\n{line}\n")
    memory.paths.partial.write_text(line)
    memory.paths.insights.parent.mkdir()
    memory.paths.insights.write_text(
        json.dumps(
            {"insights": [insight("a", "mem-theirs-0"), insight("b", "mem-others-0")], "more": 1}
        )
    )
    logs = memory.state / "logs"
    logs.mkdir()
    (logs / "crash-1.log").write_text(f"ValueError: {TEXTS[2]}")
    purge(memory)
    assert not any((records / name).exists() for name in theirs)
    assert (records / "mem-others-9.json.bad-1").exists()
    assert memory.paths.wal.with_name("wal.jsonl.bad-1").read_text() == "of others\n"
    assert not memory.paths.partial.exists()
    left = json.loads(memory.paths.insights.read_bytes())
    assert ([item["id"] for item in left["insights"]], left["more"]) == (["b"], 1)
    assert list(logs.iterdir()) == []
    assert files_with(memory, *TEXTS, "mem-theirs") == []


def test_damaged_lines_of_the_log_go_too(memory):
    memory.add("the last thing that was said", user="u1", id="mem-theirs-9")
    data = memory.paths.wal.read_bytes()
    place = data.index(b'"crc":"', data.index(b"\n")) + len(b'"crc":"')
    memory.paths.wal.write_bytes(data[:place] + b"00000000" + data[place + 8 :])
    memory.add("of another", user="u2")
    purge(memory)
    assert files_with(memory, "the last thing", "mem-theirs-9") == []


def test_tombstones_of_the_user_go(memory):
    memory.service.delete(DeleteRequest(("mem-theirs-0", "mem-others-0")))
    memory.index()
    purge(memory)
    assert len(memory.paths.tombstones.read_text().splitlines()) == 1


def test_what_was_purged_can_be_imported_again(memory):
    exported = [{"id": f"mem-theirs-{n}", "content": text} for n, text in enumerate(TEXTS)]
    purge(memory)
    assert memory.imported(exported).data["added"] == 3


def test_a_user_without_memories_is_purged_without_a_fuss(memory):
    report = purge(memory, "nobody")
    assert (report.records, report.bytes, report.ids) == (0, 0, [])
    assert len(memory.listed()) == 5


def test_the_name_of_one_user_is_not_taken_for_a_part_of_another(memory):
    memory.add("of user u11 and nobody else", user="u11")
    (memory.paths.records("user") / "mem-q.json.bad-1").write_text('{"userId": "u11"')
    purge(memory)
    assert "of user u11 and nobody else" in memory.listed()
    assert (memory.paths.records("user") / "mem-q.json.bad-1").exists()


def test_other_agents_that_hold_data_of_the_user_are_named(memory):
    other = Memory(memory.state, agent="other")
    other.add("said to another agent", user="u1")
    shared = memory.state / "agents/_shared/memory/user/records/x.json"
    shared.parent.mkdir(parents=True)
    shared.write_text('{"userId":"u1"}')
    Memory(memory.state, agent="third").add("of another user", user="u12")
    assert elsewhere(StatePaths(memory.state), "u1", ["main"]) == ["other", "_shared"]


def test_what_an_odd_record_holds_does_not_stop_a_purge(memory):
    odd = {"by": ["x"], "content": "ab", "fields": 5}
    memory.imported([{"id": "odd", "content": {"l0": "odd one"}, "history": [odd, {}]}])
    assert purge(memory).records == 3


def test_every_earlier_state_goes_when_a_record_has_passed_to_another_user(memory):
    memory.service.edit(EditRequest("mem-theirs-0", l0="their second secret", embed=False))
    line = {"id": "mem-theirs-0", "content": {"l0": "of another now"}, "userId": "u2"}
    memory.imported([line], on_conflict="overwrite")
    purge(memory)
    assert files_with(memory, TEXTS[0], "their second secret") == []
    assert memory.document("mem-theirs-0")["content"]["l0"] == "of another now"


def test_what_was_stored_after_the_intent_under_the_same_id_stays(memory):
    interrupted(memory)
    store = memory.service.store
    with store.repository.writing() as writer:
        document = {**memory.document("mem-others-0"), "id": "mem-theirs-0"}
        writer.commit([Change("user", "mem-theirs-0", document)])
    memory.index()
    assert memory.document("mem-theirs-0")["userId"] == "u2"
    assert files_with(memory, *TEXTS) == []


def test_a_bulk_writer_does_not_see_what_an_unfinished_purge_removes(memory, monkeypatch):
    """The intent comes between two batches of an import, which has read the log before."""
    monkeypatch.setattr(importer, "BATCH", 1)
    progress = iter([lambda: interrupted(memory), lambda: None])
    lines = [{"id": "mem-first", "text": "the first"}, {"id": "mem-theirs-0", "text": TEXTS[0]}]
    raw = b"\n".join(json.dumps(line).encode() for line in lines)
    service = memory.service
    request = importer.ImportRequest(embed=False)
    data = importer.import_memories(
        service, request, BytesIO(raw), lambda *_args: next(progress)()
    ).data
    assert data["added"] == 2
    memory.index()
    assert "mem-theirs-0" in [
        item["id"] for item in memory.service.get(["mem-theirs-0"]).data["items"]
    ]


@pytest.mark.parametrize("how", ["missing", "damaged", "cut"])
def test_what_only_the_index_knows_to_be_theirs_goes_too(memory, how):
    path = memory.path("mem-theirs-1")
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    else:
        path.write_bytes(b"garbage" if how == "damaged" else data[:90])
    assert purge(memory).records == 3
    assert files_with(memory, "mem-theirs-1", "tag-of-u1") == []
    assert not path.exists()


def test_a_damaged_record_of_another_user_in_the_same_words_stays(memory):
    memory.add(TEXTS[0], user="u2", id="mem-same")
    memory.index()
    damaged = memory.path("mem-same").read_text().replace('"scope": "user",', '"scope": "user"')
    memory.path("mem-same").write_text(damaged)
    purge(memory)
    assert memory.path("mem-same").read_text() == damaged


def test_of_a_backup_with_several_owners_only_theirs_goes(memory):
    rows = [
        {"id": "mem-theirs-0", "userId": "u1", "content": TEXTS[0]},
        {"id": "mem-others-0", "userId": "u2", "content": TEXTS[0]},
        {"id": "mem-nobody", "content": {"l0": TEXTS[1]}},
        {"id": "mem-else", "content": {"l0": "something else"}},
    ]
    path = memory.paths.root / "export.json.bak"
    path.write_text(json.dumps({"records": rows, "more": 1}))
    purge(memory)
    left = json.loads(path.read_bytes())
    assert ([row["id"] for row in left["records"]], left["more"]) == (
        ["mem-others-0", "mem-else"], 1
    )  # fmt: skip


def test_backups_of_a_migration_are_cleaned(memory):
    folder = memory.paths.records_backup("user")
    folder.mkdir(parents=True)
    (folder / "mem-theirs-0.json").write_text("{}")
    (folder / "mem-old.json").write_text(json.dumps({"userId": "u1", "content": "x"}))
    (folder / "mem-others-0.json").write_text(json.dumps({"userId": "u2", "content": "x"}))
    purge(memory)
    assert [path.name for path in folder.iterdir()] == ["mem-others-0.json"]


def test_a_record_whose_id_looks_like_a_backup_is_a_record(memory):
    past = {"content": {"l0": TEXTS[2]}}
    memory.imported([{"id": "note.bak", "content": {"l0": TEXTS[2]}, "history": [past]}])
    memory.index()
    assert purge(memory, dry_run=True).backups == 0
    assert purge(memory).backups == 0
    assert memory.document("note.bak")["content"]["l0"] == TEXTS[2]


def test_insights_on_what_was_deleted_before_go_too(memory):
    memory.imported([insight("only", "mem-theirs-0"), insight("more", "mem-theirs-0", "x")])
    memory.service.delete(DeleteRequest(("mem-theirs-0",)))
    memory.index()
    report = purge(memory)
    assert (report.records, report.insights, report.trimmed) == (2, 1, 1)
    assert files_with(memory, "mem-theirs-0") == []


def test_a_deletion_just_before_leaves_no_tombstone(memory):
    memory.service.delete(DeleteRequest(("mem-theirs-0",)))
    purge(memory)
    assert not memory.paths.tombstones.exists() or memory.paths.tombstones.read_bytes() == b""


def test_a_dry_run_counts_what_is_cleaned_as_well(memory):
    past = [{"content": {"l0": TEXTS[0]}}]
    memory.imported([{"id": "quote", "content": {"l0": "nobody's"}, "history": past}])
    memory.paths.wal.with_name("x.bak").write_text(TEXTS[1])
    planned, report = purge(memory, dry_run=True), purge(memory)
    assert (planned.trimmed, planned.backups) == (report.trimmed, report.backups) == (1, 1)


def test_a_short_text_in_nobodys_history_goes_as_well(memory):
    memory.add("他有糖尿病", user="u1")
    past = [{"content": {"l0": "他有糖尿病"}}, {"content": {"l0": "别的"}}]
    memory.imported([{"id": "quote", "content": {"l0": "nobody's"}, "history": past}])
    purge(memory)
    assert len(memory.document("quote")["history"]) == 1


def test_nobodys_past_stays_where_it_repeats_nothing_of_theirs(memory):
    memory.add("of nobody", id="mem-nobody")
    memory.service.edit(EditRequest("mem-nobody", l0="still of nobody", embed=False))
    before = memory.document("mem-nobody")
    assert purge(memory).trimmed == 0
    assert memory.document("mem-nobody") == before


def test_a_torn_write_of_an_import_tells_whose_it_was(memory):
    memory.imported([{"content": {"l0": "torn away"}, "id": "mem-torn", "userId": "u1"}])
    data = memory.paths.wal.read_bytes()
    memory.paths.wal.write_bytes(data[: data.index(b"torn away") + 9])
    memory.path("mem-torn").unlink()
    purge(memory)
    assert files_with(memory, "torn away") == []


def interrupted(memory: Memory) -> None:
    """Acknowledge a purge and stop there, as a killed process would."""
    service = memory.service
    with service.store.repository.writing() as writer:
        places = [("user", f"mem-theirs-{number}") for number in range(3)]
        writer.purge("u1", places, {})


def test_no_reader_sees_what_an_unfinished_purge_removes(memory):
    interrupted(memory)
    before = {path: path.read_bytes() for path in memory.state.rglob("*") if path.is_file()}
    assert sorted(memory.listed()) == sorted(OTHERS)
    assert memory.found("secret garden") == []
    with pytest.raises(Exception, match="no such record"):
        memory.service.get(["mem-theirs-0"])
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("way", ["add", "import", "index", "edit", "touch", "delete", "purge"])
def test_the_next_command_that_writes_finishes_a_purge_and_says_so(memory, way):
    interrupted(memory)
    service = memory.service
    result = {
        "add": lambda: service.add(AddRequest("more", embed=False)),
        "import": lambda: memory.imported([{"text": "even more"}]),
        "index": lambda: service.index(IndexRequest(embed=False)),
        "edit": lambda: service.edit(EditRequest("mem-others-0", l0="changed", embed=False)),
        "touch": lambda: memory.search("sea", touch=True),
        "delete": lambda: service.delete(DeleteRequest(("mem-others-0",))),
        "purge": lambda: purge(memory, "nobody"),
    }[way]()
    assert any(warning.code == "purge-finished" for warning in result.warnings)
    assert files_with(memory, *TEXTS, "mem-theirs", "u1") == []


def test_the_intent_holds_no_text(memory):
    interrupted(memory)
    assert not any(form in memory.paths.wal.read_bytes() for t in TEXTS for form in forms(t))
