"""Listing and getting records."""

from __future__ import annotations

import time

import pytest

from openclaw_cli.errors import (
    AmbiguousIdError,
    DamagedError,
    InvalidNameError,
    NotFoundError,
    UsageError,
)
from openclaw_cli.memory.filters import Filters
from openclaw_cli.memory.requests import DeleteRequest, EditRequest, ListRequest
from openclaw_cli.store import scan
from openclaw_cli.transfer.exporter import ExportRequest, export_memories


@pytest.fixture(params=[False, True], ids=["log", "index"])
def three(memory, request):
    memory.add("first", user="a", tags=("x",))
    memory.later(days=1)
    memory.add("第二", category="preference", user="b")
    memory.later(days=1)
    memory.add("third", category="lesson")
    if request.param:
        memory.index()
    return memory


def test_the_newest_comes_first_and_the_total_counts_all(three):
    data = three.service.list(ListRequest(limit=2)).data
    assert [item["l0"] for item in data["items"]] == ["third", "第二"]
    assert data["total"] == 3


def test_the_first_of_many_are_those_of_the_whole_list(memory):
    lines = [
        {"text": f"note {number}", "createdAt": f"2026-02-{number % 7 + 1:02}T00:00:00Z"}
        for number in range(70)
    ]
    memory.imported(lines)
    for sort in ("created", "updated", "retrievability"):
        whole = memory.listed(sort=sort, limit=None)
        assert len(whole) == 70
        assert memory.listed(sort=sort, limit=3) == whole[:3]


def test_unchanged_folders_are_not_counted_again(memory, monkeypatch):
    memory.add("first")
    time.sleep(0.06)
    memory.index()
    monkeypatch.setattr(scan, "count", lambda _paths: pytest.fail("counted"))
    assert memory.service.list(ListRequest()).warnings == ()


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(category=("preference",)), ["第二"]),
        (Filters(scope=("agent",)), ["third"]),
        (Filters(user=("a",)), ["first"]),
        (Filters(tag=("x",)), ["first"]),
        (Filters(language=("zh",)), ["第二"]),
        (Filters(user=("nobody",)), []),
    ],
)
def test_filters_choose(three, filters, expected):
    assert three.listed(filters=filters) == expected
    rows = three.service.iter_list(ListRequest(filters), warnings := [])
    assert [row["l0"] for row in rows] == expected
    assert warnings == []


def test_the_best_retained_comes_first_when_asked(three):
    three.later(days=30)
    assert three.listed(sort="retrievability") == ["third", "第二", "first"]
    with pytest.raises(UsageError):
        three.listed(sort="size")


def test_a_record_is_got_by_its_id_or_by_the_end_of_it(three):
    item = three.service.list(ListRequest()).data["items"][0]
    for given in (item["id"], item["id"][-8:], item["id"][-12:]):
        assert three.service.get([given]).data["items"][0]["id"] == item["id"]


def test_missing_ids_are_listed_and_none_found_is_an_error(three):
    item = three.service.list(ListRequest()).data["items"][0]
    result = three.service.get([item["id"], "mem-nowhere"])
    assert [failed["id"] for failed in result.data["failed"]] == ["mem-nowhere"]
    assert result.exit_status == 3
    with pytest.raises(NotFoundError):
        three.service.get(["mem-nowhere"])


@pytest.mark.parametrize("left", [b"", b"{", b"\0" * 40])
@pytest.mark.parametrize("boots", [False, True])
def test_what_the_log_has_of_a_damaged_file_is_shown_by_every_reader(memory, left, boots):
    memory.add("an older statement", id="mem-a")
    memory.service.edit(EditRequest("mem-a", l0="the kept statement"))
    memory.path("mem-a").write_bytes(left)
    if boots:
        memory.paths.applied.unlink()
    out = memory.state.parent / "out.jsonl"
    results = (
        memory.service.get(["mem-a"]),
        memory.service.list(ListRequest()),
        memory.search("statement", touch=not boots),
        memory.service.history("mem-a"),
        export_memories(memory.service, ExportRequest(out)),
    )
    for result in results:
        codes = [warning.code for warning in result.warnings]
        assert codes == ([] if boots else ["record-damaged"])
        assert "failed" not in result.data or result.data["failed"] == []
    get, listed, search, history, _export = results
    for item in (get.data["items"][0], history.data["record"]):
        assert item["content"]["l0"] == "the kept statement"
    for item in (listed.data["items"][0], search.data["results"][0]):
        assert item["l0"] == "the kept statement"
    assert "the kept statement" in out.read_text()
    assert memory.path("mem-a").read_bytes() == left, "reading has changed it"
    memory.index()
    assert memory.document("mem-a")["content"]["l0"] == "the kept statement"


def test_what_was_deleted_is_not_shown_from_the_log(memory):
    memory.add("statement", id="mem-a")
    memory.service.delete(DeleteRequest(("mem-a",)))
    memory.path("mem-a").write_bytes(b"{")
    with pytest.raises(DamagedError):
        memory.service.get(["mem-a"])


def test_an_edit_leaves_a_damaged_file_to_the_index(memory):
    memory.add("statement", id="mem-a")
    memory.path("mem-a").write_bytes(b"{")
    with pytest.raises(DamagedError):
        memory.service.edit(EditRequest("mem-a", l0="another"))
    assert memory.path("mem-a").read_bytes() == b"{"


@pytest.mark.parametrize("three", [True], ids=["index"], indirect=True)
def test_a_damaged_record_is_not_told_as_missing(three):
    item = three.service.list(ListRequest()).data["items"][0]
    three.path(item["id"], item["scope"]).write_text("{")
    with pytest.raises(DamagedError):
        three.service.get([item["id"]])


def test_a_far_future_is_listed(memory):
    memory.path("x").parent.mkdir(parents=True)
    text = '{"id":"x","content":{"l0":"late"},"createdAt":"9999-12-31T23:59:59.9999Z"}'
    memory.path("x").write_text(text)
    memory.index()
    assert memory.listed() == ["late"]


def test_an_ending_that_fits_two_records_lists_them(memory):
    memory.add("one", id="a-12345678")
    memory.add("two", id="b-12345678")
    with pytest.raises(AmbiguousIdError, match="a-12345678, b-12345678"):
        memory.service.get(["12345678"])


def test_an_id_like_a_path_is_refused(three):
    with pytest.raises(InvalidNameError):
        three.service.get(["../../../etc/passwd"])


@pytest.mark.parametrize("three", [True], ids=["index"], indirect=True)
def test_listing_reads_no_damaged_record_but_says_so(three):
    item = three.service.list(ListRequest()).data["items"][0]
    three.path(item["id"], item["scope"]).write_text("{")
    result = three.service.list(ListRequest())
    assert len(result.data["items"]) == 2
    assert "record-damaged" in {warning.code for warning in result.warnings}


def test_status_counts_what_there_is(three):
    data = three.service.status().data
    assert data["records"] == 3
    assert data["byScope"] == {"user": 2, "agent": 1}
    assert data["byCategory"] == {"event": 1, "preference": 1, "lesson": 1}
    assert data["bytes"]["records"] > 0
    assert {model["name"] for model in data["models"]} == {"bge-small-en-v1.5", "bge-small-zh-v1.5"}
    assert sum(model["pending"] for model in data["models"]) == 3
