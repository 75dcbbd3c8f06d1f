"""Importing: every line is accounted for, what exists is kept, what is bad is named."""

from __future__ import annotations

import gc
import json

import pytest

from openclaw_cli.errors import FormatTooNewError, FormatTooOldError, UsageError
from openclaw_cli.memory.requests import ListRequest
from openclaw_cli.store import fsio
from openclaw_cli.transfer import importer, reading
from tests.support import Memory


def balanced(data):
    done = data["added"] + data["skipped"] + data["overwritten"]
    return data["read"] == done + len(data["failed"])


def test_a_text_alone_is_enough(memory):
    data = memory.imported([{"text": "Likes green tea"}, {"text": "喜欢绿茶"}]).data
    assert (data["read"], data["added"], data["total"]) == (2, 2, 2)
    assert memory.found("tea") == ["Likes green tea"]


def test_everything_a_line_says_is_kept(memory):
    line = {
        "id": "note-1", "text": "Uses vim", "category": "preference", "user": "u1", "key": "editor",
        "tags": ["tools"], "createdAt": "2025-05-01T10:00:00+02:00", "mood": {"glad": 1},
    }  # fmt: skip
    memory.imported([line])
    stored = memory.document("note-1")
    assert stored["content"]["l0"] == stored["content"]["l2"] == "Uses vim"
    assert (stored["userId"], stored["key"], stored["tags"]) == ("u1", "editor", ["tools"])
    assert stored["createdAt"] == stored["fsrs"]["lastReview"] == "2025-05-01T08:00:00Z"
    assert stored["mood"] == {"glad": 1}
    assert stored["source"]["kind"] == "import"


def test_a_whole_record_comes_in_as_it_was(memory, tmp_path):
    other = Memory(tmp_path / "other")
    other.add("Uses vim", category="preference", key="editor", user="u")
    other.add("Uses emacs", category="preference", key="editor", user="u")
    (record,) = other.service.list(ListRequest()).data["items"]
    document = {**other.document(record["id"]), "later": "field"}
    document["fsrs"]["reps"] = 7
    memory.imported([document])
    assert memory.document(record["id"]) == document


@pytest.mark.parametrize("form", ["document", "lines", "list", "header", "pretty", "bom"])
def test_every_form_of_a_file_is_recognised(memory, form):
    records = [{"id": f"r{n}", "content": {"l0": f"text {n}"}} for n in range(3)]
    export = {"version": "2.0", "agent": "main", "scope": "user", "records": records}
    text = {
        "document": json.dumps(export),
        "pretty": json.dumps(export, indent=2),
        "list": json.dumps(records),
        "lines": "\n".join(map(json.dumps, records)),
        "header": "\n".join(map(json.dumps, [{"version": "2.0", "agent": "main"}, *records])),
        "bom": "\ufeff" + "\n".join(map(json.dumps, records)),
    }[form]
    data = memory.imported([text.encode()]).data
    assert (data["read"], data["added"]) == (3, 3)


def test_a_broken_line_is_named_and_the_rest_is_imported(memory):
    result = memory.imported([{"text": "one"}, {"text": "two"}, b'{"text": "thr', {"text": "four"}])
    assert result.exit_status == 3
    assert [failed["line"] for failed in result.data["failed"]] == [3]
    assert (result.data["read"], result.data["added"]) == (4, 3)
    assert balanced(result.data)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"text": ""}, "text"),
        ({"text": "  "}, "text"),
        ({"text": 5}, "text"),
        ({"text": "a\u0000b"}, "NUL"),
        ({"nothing": 1}, "neither a text nor a content"),
        ([1, 2], "not a JSON object"),
        ("text", "not a JSON object"),
        ({"text": "x", "category": "wish"}, "unknown category"),
        ({"text": "x", "category": 7}, "category"),
        ({"text": "x", "scope": "galaxy"}, "scope"),
        ({"text": "x", "id": "../../etc/passwd"}, "not a valid record id"),
        ({"text": "x", "id": "a/b"}, "not a valid record id"),
        ({"text": "x", "id": 7}, "id"),
        ({"text": "x", "createdAt": "yesterday"}, "ISO-8601"),
        ({"text": "x", "createdAt": 17}, "ISO-8601"),
        ({"text": "x", "tags": "a"}, "tags"),
        ({"text": "x", "key": 1}, "key"),
        ({"text": "x", "user": 1}, "userId"),
        ({"content": {"l0": "x"}, "fsrs": {"stability": -1}}, "stability"),
        ({"content": {"l0": "x"}, "fsrs": 7}, "object"),
        ({"content": {"l0": "x"}, "version": "9.0"}, "version"),
        (b'{"text": "bad \\ud800"}', "JSON"),
        (b'{"text": "bad \xff"}', "JSON"),
        (b'{"text": NaN}', "JSON"),
        (b"[" * 3000, "JSON"),
    ],
)
def test_a_bad_line_has_a_reason_and_changes_nothing(memory, line, reason):
    result = memory.imported([{"text": "good"}, line])
    (failed,) = result.data["failed"]
    assert failed["line"] == 2
    assert reason.lower() in failed["reason"].lower()
    assert memory.listed() == ["good"]
    assert not list(memory.state.parent.glob("**/passwd*"))


def test_ids_that_exist_are_skipped_also_within_one_file(memory):
    lines = [{"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"id": "a", "text": "again"}]
    data = memory.imported(lines).data
    assert (data["added"], data["skipped"]) == (2, 1)
    data = memory.imported(lines).data
    assert (data["added"], data["skipped"]) == (0, 3)
    assert memory.document("a")["content"]["l0"] == "one"


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize(
    ("rule", "texts", "replaced"),
    [
        ("skip", {"first text"}, []),
        ("overwrite", {"second text"}, ["first text"]),
        ("newer", {"first text"}, []),
        ("duplicate", {"first text", "second text"}, []),
    ],
)
def test_two_lines_of_one_id_lose_nothing(memory, rule, texts, replaced, embed):
    lines = [{"text": "first text", "id": "A1"}, {"text": "second text", "id": "A1"}]
    assert balanced(memory.imported(lines, on_conflict=rule, embed=embed).data)
    assert set(memory.listed()) == texts
    history = memory.document("A1")["history"]
    assert [entry["content"]["l0"] for entry in history] == replaced


@pytest.mark.parametrize(
    ("rule", "expected", "records"),
    [("skip", "old", 1), ("overwrite", "new", 1), ("newer", "new", 1), ("duplicate", "old", 2)],
)
def test_the_conflict_rules(memory, rule, expected, records):
    memory.imported([{"id": "a", "text": "old", "createdAt": "2026-01-01T00:00:00Z"}])
    line = {"id": "a", "text": "new", "createdAt": "2026-01-02T00:00:00Z"}
    data = memory.imported([line], on_conflict=rule).data
    assert balanced(data)
    assert memory.document("a")["content"]["l0"] == expected
    assert data["total"] == records
    if expected == "new":
        assert [e["content"]["l0"] for e in memory.document("a")["history"]] == ["old"]


def test_nothing_is_lost_by_overwriting_again_and_again(memory):
    for number, text in enumerate(("AAA", "BBB", "CCC", "CCC"), 1):
        line = {"id": "a", "text": text, "tags": [text], "place": text}
        line["createdAt"] = f"2026-01-0{min(number, 3)}T00:00:00Z"
        data = memory.imported([line], on_conflict="overwrite").data
    assert data["skipped"] == 1
    stored = memory.document("a")
    assert [entry["content"]["l0"] for entry in stored["history"]] == ["AAA", "BBB"]
    assert [entry["tags"] for entry in stored["history"]] == [["AAA"], ["BBB"]]
    assert [entry["fields"]["place"] for entry in stored["history"]] == ["AAA", "BBB"]


def test_an_id_of_the_other_scope_is_not_overwritten_in_silence(memory):
    memory.imported([{"id": "s", "text": "one"}])
    line = {"id": "s", "text": "two", "category": "case"}
    (failed,) = memory.imported([line], on_conflict="overwrite").data["failed"]
    assert "scope user" in failed["reason"]


@pytest.mark.parametrize("options", [{"from_": "weird"}, {"category": "nope"}])
def test_unknown_words_are_refused_whatever_the_lines_say(memory, options):
    with pytest.raises(UsageError):
        memory.imported([{"text": "x", "category": "event"}], **options)


def test_an_older_record_does_not_replace_a_newer_one(memory):
    memory.imported([{"id": "a", "text": "new", "createdAt": "2026-01-02T00:00:00Z"}])
    line = {"id": "a", "text": "old", "createdAt": "2026-01-01T00:00:00Z"}
    assert memory.imported([line], on_conflict="newer").data["skipped"] == 1
    assert memory.document("a")["content"]["l0"] == "new"


def test_an_import_run_again_after_an_interruption_adds_what_is_missing(memory, monkeypatch):
    monkeypatch.setattr(importer, "BATCH", 256)
    lines = [{"text": "the same", "createdAt": "2026-01-01T00:00:00Z"} for _ in range(600)]
    original, calls = fsio.append, []

    def die_late(path, data):
        calls.append(path)
        if len(calls) == 2:
            raise KeyboardInterrupt
        original(path, data)

    monkeypatch.setattr(fsio, "append", die_late)
    with pytest.raises(KeyboardInterrupt):
        memory.imported(lines)
    monkeypatch.undo()
    data = memory.imported(lines).data
    assert (data["added"], data["skipped"], data["total"]) == (344, 256, 600)


def test_slots_are_merged_as_by_add(memory):
    common = {"category": "preference", "key": "editor"}
    lines = [{"text": f"Uses editor {number}", **common} for number in range(3)]
    data = memory.imported(lines).data
    assert (data["added"], data["overwritten"], data["total"]) == (1, 2, 1)
    assert memory.listed() == ["Uses editor 2"]


@pytest.mark.parametrize("folding", [False, True], ids=["log only", "with checkpoints"])
@pytest.mark.parametrize("indexed", [False, True], ids=["new", "indexed"])
def test_slots_and_repeats_are_known_from_batch_to_batch(memory, monkeypatch, folding, indexed):
    monkeypatch.setattr(importer, "BATCH", 2)
    if folding:
        monkeypatch.setattr(importer, "_BULK_LIMITS", 1)
        memory.state.mkdir(mode=0o700)
        (memory.state / "openclaw.json").write_text('{"memory": {"wal": {"maxEntries": 3}}}')
    if indexed:
        memory.add("said before")
        memory.index()
    slot = {"category": "preference", "key": "editor"}
    lines = [{"text": f"note {number}"} for number in range(7)]
    lines[3:3] = [{"text": "Uses vim", **slot}]
    lines += [{"text": "note 0"}, {"text": "note 6"}, {"text": "Uses ed", **slot}]
    data = memory.imported([*lines, {"text": "said before"}], dedup=True).data
    assert (data["added"], data["skipped"], data["merged"]) == (9 - indexed, 2 + indexed, 1)
    assert data["total"] == len(memory.listed()) == 9
    assert "Uses ed" in memory.listed()


def test_an_import_into_a_slot_can_be_run_again(memory):
    common = {"category": "preference", "key": "home", "createdAt": "2026-01-05T00:00:00Z"}
    lines = [{"text": "lives in Rome", **common}, {"text": "lives in Oslo", **common, "mood": "x"}]
    memory.imported(lines)
    (hit,) = memory.search("lives").data["results"]
    before = memory.document(hit["id"])
    assert before["mood"] == "x"
    for _ in range(2):
        assert memory.imported(lines).data["skipped"] == 2
        assert memory.document(hit["id"]) == before


def test_an_older_statement_does_not_replace_a_newer_one_in_its_slot(memory):
    common = {"category": "preference", "key": "home"}
    memory.imported([{"text": "lives in Rome", **common, "createdAt": "2026-01-05T00:00:00Z"}])
    memory.imported([{"text": "lived in Oslo", **common, "createdAt": "2024-01-05T00:00:00Z"}])
    assert memory.listed() == ["lives in Rome"]
    (hit,) = memory.search("lives").data["results"]
    history = memory.document(hit["id"])["history"]
    assert [entry["content"]["l0"] for entry in history] == ["lived in Oslo"]


def test_a_whole_record_stays_the_record_it_is(memory):
    memory.add("Uses vim", category="preference", key="editor")
    record = {
        "id": "other-1", "category": "preference", "key": "editor", "mood": "glad",
        "content": {"l0": "Uses emacs", "l2": "Uses emacs"}, "history": [{"content": {"l0": "ed"}}],
    }  # fmt: skip
    memory.imported([record])
    stored = memory.document("other-1")
    assert (stored["mood"], stored["history"]) == ("glad", record["history"])


def test_a_damaged_file_under_an_id_fails_that_line_alone(memory):
    memory.imported([{"id": "a", "text": "one"}])
    memory.index()
    memory.path("a").write_text("{")
    data = memory.imported([{"id": "a", "text": "x"}, {"id": "b", "text": "y"}]).data
    assert ([f["line"] for f in data["failed"]], data["added"]) == ([1], 1)
    assert memory.path("a").read_text() == "{"


def test_repeats_are_skipped_only_when_asked(memory):
    lines = [{"text": "same"}, {"text": "same"}, {"text": "other"}]
    assert memory.imported(lines, dedup=True).data["skipped"] == 1
    assert memory.imported(lines).data["added"] == 1
    assert sorted(memory.listed()) == ["other", "same", "same"]


def test_a_dry_run_predicts_and_changes_nothing(memory):
    memory.imported([{"id": "a", "text": "one"}])
    before = sorted(memory.state.rglob("*"))
    lines = [{"id": "a", "text": "x"}, {"id": "b", "text": "y"}, {"id": "b", "text": "z"}, b"{"]
    predicted = memory.imported(lines, dry_run=True).data
    assert sorted(memory.state.rglob("*")) == before
    real = memory.imported(lines).data
    names = ("read", "added", "skipped", "overwritten")
    assert [predicted[name] for name in names] == [real[name] for name in names] == [4, 1, 2, 0]
    assert memory.listed() == ["y", "one"]


def test_a_dry_run_on_a_new_state_makes_none(memory):
    assert memory.imported([{"text": "x"}], dry_run=True).data["added"] == 1
    assert not memory.state.exists()


def test_a_time_without_a_zone_is_taken_as_utc_and_told(memory):
    result = memory.imported([{"id": "a", "text": "x", "createdAt": "2023-12-25T12:00:00"}])
    assert memory.document("a")["createdAt"] == "2023-12-25T12:00:00Z"
    assert [warning.code for warning in result.warnings] == ["time-without-zone"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"PK\x03\x04....", "ZIP"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"<!doctype html><html>", "HTML"),
        (b"SQLite format 3\0", "SQLite"),
    ],
)
def test_a_file_of_another_kind_is_named(memory, data, kind):
    with pytest.raises(UsageError, match=kind):
        memory.imported([data])
    assert not memory.state.exists()


@pytest.mark.parametrize(
    ("version", "error"), [("1.4", FormatTooOldError), ("3.0", FormatTooNewError)]
)
def test_an_export_of_another_major_version_is_refused_whole(memory, version, error):
    export = {"version": version, "records": [{"id": "a", "content": "old"}]}
    with pytest.raises(error) as caught:
        memory.imported([json.dumps(export).encode()])
    assert not memory.state.exists()
    if error is FormatTooOldError:
        assert "openclaw memory migrate --from 1.4 --to 2.0" in (caught.value.hint or "")


def test_one_fsync_for_each_batch(memory, monkeypatch):
    synced = []
    original = fsio.Disk.fsync

    def fsync(self, fd):
        synced.append(fd)
        original(self, fd)

    monkeypatch.setattr(importer, "BATCH", 256)
    monkeypatch.setattr(fsio.Disk, "fsync", fsync)
    memory.imported([{"text": "warm up"}])
    counts = []
    for batches in (1, 2):
        synced.clear()
        memory.imported([{"text": f"{batches} line {n}"} for n in range(importer.BATCH * batches)])
        counts.append(len(synced))
    assert counts[1] - counts[0] == 1


def test_an_empty_file_is_no_failure(memory):
    data = memory.imported([]).data
    assert (data["read"], data["added"], data["failed"]) == (0, 0, [])


def test_a_line_nested_too_deeply_to_be_stored_fails_alone(memory):
    deep = b'{"text": "deep", "metadata": ' + b"[" * 900 + b"]" * 900 + b"}"
    data = memory.imported([{"text": "before"}, deep, {"text": "after"}]).data
    assert (data["added"], [item["line"] for item in data["failed"]]) == (2, [2])


def test_an_endless_line_is_refused(memory, monkeypatch):
    monkeypatch.setattr(reading, "_LONGEST_LINE", 1000)
    with pytest.raises(UsageError, match=r"line 2 .* is longer"):
        memory.imported([{"text": "fine"}, {"text": "x" * 2000}])


def test_records_leave_no_cyclic_garbage_behind(memory):
    """The program runs without the collector: what it leaves must not grow with the records."""

    def garbage(count):
        gc.collect()
        lines = [{"text": f"note {number} of {count}"} for number in range(count)]
        memory.imported([*lines, *[b'{"text', {"text": "x", "tags": 4}] * (count // 4)], dedup=True)
        memory.index()
        memory.listed(limit=None)
        memory.found("note", top_k=count)
        return gc.collect()

    gc.disable()
    try:
        garbage(10)
        few, many = garbage(50), garbage(400)
    finally:
        gc.enable()
    assert many < few + 100
