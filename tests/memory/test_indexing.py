"""The indexer: what it folds, what it finds changed by hand, and that it keeps nobody out."""

from __future__ import annotations

import json
import os
import threading
import time

import pytest

from openclaw_cli.embed import catalog
from openclaw_cli.errors import NotFoundError
from openclaw_cli.memory import store
from openclaw_cli.memory.indexing import build as indexing
from openclaw_cli.memory.indexing import vectorising
from openclaw_cli.memory.requests import AddRequest, IndexRequest
from openclaw_cli.store import wal
from openclaw_cli.text.version import ANALYZER_VERSION

INDEX_FILES = ["bm25.idx", "metadata.json", "lookup.idx", "files.json", "config.json"]


def counts(data):
    return data["added"], data["updated"], data["removed"]


def test_folding_the_log_changes_no_answer(memory):
    texts = ["Likes green tea", "Drinks tea every morning", "喜欢喝绿茶", "Plays chess"]
    for text in texts:
        memory.add(text)
    before = memory.search("tea").data["results"], memory.search("绿茶").data["results"]
    assert counts(memory.index()) == (4, 0, 0)
    assert wal.read(memory.paths.wal).entries == ()
    after = memory.search("tea").data["results"], memory.search("绿茶").data["results"]
    assert after == before


def test_nothing_changed_means_no_new_generation(memory):
    memory.add("one")
    first = memory.index()
    assert memory.index()["generation"] == first["generation"]
    assert counts(memory.index(verify=True)) == (0, 0, 0)


def test_an_agent_that_does_not_exist_is_not_made_by_indexing(memory):
    with pytest.raises(NotFoundError):
        memory.index()
    assert not memory.state.exists()


@pytest.mark.parametrize("indexed", [False, True])
def test_a_record_changed_by_hand_is_taken_up_with_a_new_time(memory, indexed):
    record = memory.add("Lives in Berlin")
    memory.add("Something else")
    if indexed:
        memory.index()
    memory.edit(record["id"], "Lives in Munich")
    memory.later(days=3)
    data = memory.index()
    assert counts(data) == ((0, 1, 0) if indexed else (2, 0, 0))
    assert memory.found("munich") == ["Lives in Munich"]
    assert memory.found("berlin") == []
    stored = memory.document(record["id"])
    assert stored["updatedAt"] == "2026-03-04T12:00:00Z"
    assert stored["contentHash"] != record["record"]["contentHash"]
    assert wal.read(memory.paths.wal).entries == ()
    assert counts(memory.index()) == (0, 0, 0)


@pytest.mark.parametrize("indexed", [False, True])
def test_a_record_removed_by_hand_is_found_no_more(memory, indexed):
    record = memory.add("Lives in Berlin")
    memory.add("Lives by the sea")
    if indexed:
        memory.index()
    memory.path(record["id"]).unlink()
    data = memory.index()
    assert (data["records"], data["removed"]) == (1, 1 if indexed else 0)
    assert memory.found("berlin") == []
    assert memory.found("sea") == ["Lives by the sea"]
    for path in memory.paths.generations.rglob("*"):
        assert path.is_dir() or record["id"].encode() not in path.read_bytes()


@pytest.mark.parametrize("indexed", [False, True])
def test_a_record_added_by_hand_is_found(memory, indexed):
    memory.add("one")
    if indexed:
        memory.index()
    memory.path("my-note").write_text('{"id": "my-note", "content": {"l0": "Grows tomatoes"}}')
    assert memory.index()["added"] == (1 if indexed else 2)
    assert memory.found("tomato") == ["Grows tomatoes"]
    assert memory.service.get(["my-note"]).data["items"][0]["content"]["l0"] == "Grows tomatoes"


@pytest.mark.parametrize("pause", [0.0, 0.06], ids=["at once", "after a while"])
def test_a_difference_between_files_and_index_is_told_before_indexing(memory, pause):
    memory.add("one")
    time.sleep(pause)
    memory.index()
    assert memory.service.status().warnings == ()
    memory.path("my-note").write_text('{"id": "my-note", "content": {"l0": "Grows tomatoes"}}')
    warnings = memory.service.status().warnings
    assert [w.code for w in warnings] == ["index-differs"]
    assert "openclaw memory index" in warnings[0].message


@pytest.mark.parametrize("same_size", [True, False])
def test_a_change_with_the_same_size_in_the_same_instant_is_noticed(memory, same_size):
    record = memory.add("aaaa tea")
    memory.index()
    path = memory.path(record["id"])
    stat = path.stat()
    text = path.read_text().replace("aaaa", "bbbb" if same_size else "bbbbb")
    path.write_text(text)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    memory.index()
    assert memory.found("bbbb" if same_size else "bbbbb") != []


def test_a_file_that_was_only_touched_is_not_indexed_again(memory):
    record = memory.add("one")
    memory.index()
    os.utime(memory.path(record["id"]))
    assert counts(memory.index()) == (0, 0, 0)


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize("damage", ["{", "", "\0\0\0", '{"id":"other","content":{"l0":"x"}}', "[]"])
def test_a_broken_record_is_named_and_the_rest_is_indexed(memory, damage, indexed):
    record = memory.add("Lives in Berlin")
    memory.add("Lives by the sea")
    if indexed:
        memory.index()
    memory.path(record["id"]).write_text(damage)
    data = memory.index()
    assert [item["path"] for item in data["damaged"]] == [str(memory.path(record["id"]))]
    assert data["damaged"][0]["reason"]
    assert memory.found("sea") == ["Lives by the sea"]
    if indexed:
        # What the operator broke stays where it is, to be mended.
        assert memory.path(record["id"]).read_text() == damage
    else:
        # The log still had the record: it was written again, the broken file kept beside it.
        assert memory.found("berlin") == ["Lives in Berlin"]
        assert [p.read_text() for p in memory.path(record["id"]).parent.glob("*.bad-*")] == [damage]


def test_a_broken_record_is_counted_as_such_until_it_is_mended_or_gone(memory):
    record = memory.add("Lives in Berlin")
    memory.add("Lives by the sea")
    memory.index()
    memory.path(record["id"]).write_text("{")
    memory.index()
    assert [w.code for w in memory.service.status().warnings] == ["records-damaged"]
    memory.path(record["id"]).unlink()
    memory.index()
    assert memory.service.status().warnings == ()


def test_a_broken_record_that_was_mended_is_found_again(memory):
    record = memory.add("Lives in Berlin")
    memory.index()
    good = memory.path(record["id"]).read_text()
    memory.path(record["id"]).write_text(good[:-20])
    memory.index()
    memory.path(record["id"]).write_text(good)
    assert memory.index()["added"] == 1
    assert memory.found("berlin") == ["Lives in Berlin"]


def test_one_id_in_both_scopes_is_damage(memory):
    memory.add("one", id="mem-1")
    document = {**memory.document("mem-1"), "scope": "agent", "content": {"l0": "two"}}
    memory.path("mem-1", "agent").write_text(json.dumps(document))
    data = memory.index()
    assert len(data["damaged"]) == 1
    assert data["records"] == 1


@pytest.mark.parametrize("name", INDEX_FILES)
@pytest.mark.parametrize("damage", [b"", b"garbage\n", None])
def test_a_damaged_index_file_is_healed_by_the_next_run(memory, name, damage):
    for text in ("Likes green tea", "Plays chess"):
        memory.add(text)
    memory.index()
    path = memory.paths.index / name
    path.unlink() if damage is None else path.write_bytes(damage)
    memory.search("tea")
    memory.index(verify=True)
    assert memory.found("tea") == ["Likes green tea"]
    assert not memory.search("tea").warnings
    assert memory.add("Plays chess")["action"] == "skipped"


def test_a_removed_index_is_rebuilt_from_the_records(memory):
    memory.add("Likes green tea")
    memory.index()
    memory.paths.index.unlink()
    assert memory.found("tea") == ["Likes green tea"], "by reading the records"
    memory.index()
    assert memory.found("tea") == ["Likes green tea"]


def test_an_older_copy_of_the_log_does_not_hide_what_is_added_after_it(memory):
    memory.add("first thing")
    older = memory.paths.wal.read_bytes()
    memory.add("second thing")
    memory.index()
    memory.paths.wal.write_bytes(older)
    memory.add("third thing")
    assert memory.found("third") == ["third thing"]
    assert memory.add("third thing")["action"] == "skipped"
    assert sorted(memory.listed()) == ["first thing", "second thing", "third thing"]
    assert memory.index()["records"] == 3


def test_an_index_of_another_tokenizer_is_rebuilt(memory, monkeypatch):
    memory.add("Likes green tea")
    memory.index()
    for module in (indexing, store):
        monkeypatch.setattr(module, "ANALYZER_VERSION", ANALYZER_VERSION + "+")
    assert "index-stale" in {w.code for w in memory.search("tea").warnings}
    memory.index()
    assert memory.found("tea") == ["Likes green tea"]
    assert not memory.search("tea").warnings


def test_a_memory_added_while_the_index_is_built_is_acknowledged_and_found(memory, monkeypatch):
    for number in range(20):
        memory.add(f"thing {number}")
    started, go_on = threading.Event(), threading.Event()
    original = indexing.Builder.finish

    def slow_finish(self, *args):
        started.set()
        assert go_on.wait(20)
        return original(self, *args)

    monkeypatch.setattr(indexing.Builder, "finish", slow_finish)
    runner = threading.Thread(target=memory.index)
    runner.start()
    assert started.wait(20)
    added = memory.add("said in between")
    edited = memory.add("thing 3 changed", category="preference", key="k")
    assert memory.found("between") == ["said in between"]
    go_on.set()
    runner.join()
    assert memory.found("between") == ["said in between"]
    assert {e.record_id for e in wal.read(memory.paths.wal).entries} == {added["id"], edited["id"]}
    monkeypatch.undo()
    memory.index()
    assert memory.found("between") == ["said in between"]
    assert memory.service.status().data["records"] == 22


def test_vectors_are_made_once_and_reused_by_a_rebuild(memory):
    memory.add("The user likes green tea", embed=True)
    memory.add("The user plays chess")
    data = memory.index(embed=True)
    assert (data["embedded"], data["reused"], data["pending"]) == (1, 1, 0)
    data = memory.index(embed=True, rebuild=True)
    assert (data["embedded"], data["reused"]) == (0, 2)
    data = memory.index(embed=True, reembed=True)
    assert (data["embedded"], data["reused"]) == (2, 0)


def test_pending_vectors_are_counted_and_filled(memory):
    first = memory.add("The user likes green tea")
    assert first["record"]["embeddingPending"] is True
    spanish = memory.add("El usuario prefiere el café solo por la mañana")
    assert spanish["record"]["embeddingPending"] is False
    assert memory.index()["pending"] == 1
    assert memory.service.get([first["id"]]).data["items"][0]["embeddingPending"] is True
    data = memory.index(embed=True)
    assert (data["embedded"], data["pending"]) == (1, 0)
    assert counts(data) == (0, 0, 0)
    assert memory.service.get([first["id"]]).data["items"][0]["embeddingPending"] is False


def test_a_model_that_was_missing_is_told_and_made_up_for(memory, monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        (tmp_path / "models" / "bge-small-en-v1.5").mkdir(parents=True)
        patch.setattr(catalog, "SHIPPED_DIRECTORY", tmp_path / "models")
        memory.add("The user plays the piano every evening")
        result = memory.service.index(IndexRequest())
        assert "model-unusable" in {warning.code for warning in result.warnings}
    assert memory.index(embed=True)["embedded"] == 1
    assert memory.index(embed=True)["embedded"] == 0
    assert memory.found("musical instrument", "dense") != []


def test_adding_without_an_index_is_told(memory):
    memory.add("colour is red", category="preference", key="colour")
    memory.index()
    memory.paths.index.unlink()
    request = AddRequest("colour is blue", category="preference", key="colour", embed=False)
    assert "index-differs" in {w.code for w in memory.service.add(request).warnings}


def test_a_killed_embedding_run_goes_on_where_it_was(memory, monkeypatch):
    monkeypatch.setattr(vectorising, "BATCH", 2)
    for number in range(5):
        memory.add(f"The user has seen the film number {number}")

    def die(*_args):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(indexing.Builder, "finish", die)
        with pytest.raises(KeyboardInterrupt):
            memory.index(embed=True)
    assert memory.service.status().data["generation"] is None
    data = memory.index(embed=True)
    assert (data["embedded"], data["records"]) == (0, 5)
    assert not memory.paths.partial.exists()


def test_a_changed_text_gets_a_new_vector(memory):
    record = memory.add("The user lives in Berlin", embed=True)
    memory.index(embed=True)
    memory.edit(record["id"], "The user raises bees in the garden")
    assert memory.index(embed=True)["embedded"] == 1
    hit = memory.search("beekeeping", "dense", explain=True).data["results"][0]
    assert hit["explain"]["dense"]["cosine"] > 0.6
