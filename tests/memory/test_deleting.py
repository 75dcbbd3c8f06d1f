"""What is deleted is not found from the same moment, and no import brings it back unasked."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from openclaw_cli.errors import NotFoundError, UsageError
from openclaw_cli.memory.filters import Filters
from openclaw_cli.memory.requests import DeleteRequest, EditRequest
from tests.support import START, Memory


@pytest.fixture
def memory(tmp_path) -> Memory:
    memory = Memory(tmp_path / "state")
    for name, options in {
        "ant": {"user": "u1", "tags": ("small",)},
        "bee": {"user": "u2", "tags": ("small", "loud")},
        "cow": {"category": "lesson"},
    }.items():
        memory.add(f"ground of the {name}", id=name, **options)
        memory.later(days=1)
    memory.index()
    memory.add("ground of the dog", id="dog", user="u1")
    return memory


def delete(memory: Memory, *ids: str, dry_run: bool = False, **filters) -> dict:
    request = DeleteRequest(ids, Filters(**filters), dry_run)
    return memory.service.delete(request).data


def left(memory: Memory) -> list[str]:
    return sorted(text.split()[-1] for text in memory.listed())


@pytest.mark.parametrize("name", ["ant", "dog"], ids=["indexed", "in the log"])
def test_no_command_finds_it_any_more(memory, name):
    assert delete(memory, name)["deleted"] == [name]
    assert name not in left(memory)
    assert memory.found(name) == []
    assert not memory.path(name).exists()
    with pytest.raises(NotFoundError):
        memory.service.get([name])


def test_the_next_index_run_removes_its_last_bytes(memory):
    delete(memory, "bee", "dog")
    memory.index()
    files = [path for path in memory.state.rglob("*") if path.is_file()]
    for trace in (b"bee", b"dog", b"loud", b"u2"):
        assert [path for path in files if trace in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("filters", "gone"),
    [
        ({"user": ("u1",)}, "ant dog"),
        ({"tag": ("small", "loud")}, "bee"),
        ({"category": ("lesson",)}, "cow"),
        ({"scope": ("user",)}, "ant bee dog"),
        ({"until": START + timedelta(hours=30)}, "ant bee"),
        ({"since": START + timedelta(hours=30), "user": ("u1",)}, "dog"),
    ],
    ids=str,
)
def test_a_filter_chooses_what_goes(memory, filters, gone):
    planned = delete(memory, dry_run=True, **filters)
    assert sorted(planned["deleted"]) == gone.split()
    assert left(memory) == ["ant", "bee", "cow", "dog"]
    assert sorted(delete(memory, **filters)["deleted"]) == gone.split()
    assert left(memory) == sorted({"ant", "bee", "cow", "dog"} - set(gone.split()))


def test_a_filter_asks_the_record_itself_and_not_an_old_index(memory):
    document = memory.path("ant").read_text().replace('"u1"', '"u3"')
    memory.path("ant").write_text(document)
    assert delete(memory, user=("u1",))["deleted"] == ["dog"]


def test_without_ids_and_filter_nothing_is_deleted(memory):
    for request in (DeleteRequest(), DeleteRequest(("ant",), Filters(user=("u1",)))):
        with pytest.raises(UsageError):
            memory.service.delete(request)
    assert len(left(memory)) == 4


def test_missing_ids_are_listed_and_the_others_go(memory):
    data = delete(memory, "ant", "none", "ant")
    assert (data["deleted"], data["missing"]) == (["ant"], ["none"])
    with pytest.raises(NotFoundError):
        delete(memory, "ant")


def test_a_damaged_record_can_be_deleted_by_its_id(memory):
    memory.path("ant").write_bytes(b"{")
    assert delete(memory, "ant")["deleted"] == ["ant"]
    assert not memory.path("ant").exists()


def test_a_file_put_back_by_hand_after_the_deletion_stays(memory):
    data = memory.path("ant").read_text()
    delete(memory, "ant")
    memory.path("ant").write_text(data.replace("ground", "return"))
    memory.paths.applied.unlink()
    memory.add("more")
    assert memory.path("ant").exists()
    memory.index()
    assert memory.found("return") == ["return of the ant"]


ANT = {"id": "ant", "content": "ground of the ant", "userId": "u1"}


@pytest.mark.parametrize("indexed", [False, True], ids=["in the log", "folded"])
def test_an_import_brings_a_deleted_record_back_only_when_told_to(memory, indexed):
    delete(memory, "ant")
    if indexed:
        memory.index()
        memory.index(rebuild=True)
    for rule in ("skip", "newer", "duplicate"):
        for dry_run in (True, False):
            data = memory.imported([ANT], on_conflict=rule, dry_run=dry_run).data
            assert (data["added"], data["skipped"]) == (0, 1)
    assert "ant" not in left(memory)
    assert memory.imported([ANT], on_conflict="overwrite", dry_run=True).data["added"] == 1
    assert memory.imported([ANT], on_conflict="overwrite").data["added"] == 1
    assert "ant" in left(memory)


def test_another_text_under_a_deleted_id_comes_in(memory):
    delete(memory, "ant")
    memory.index()
    assert memory.imported([{**ANT, "content": "another ant"}]).data["added"] == 1


def test_an_older_text_of_a_deleted_record_does_not_come_back_either(memory):
    memory.service.edit(EditRequest("ant", l0="edited ant", embed=False))
    delete(memory, "ant")
    memory.index()
    assert memory.imported([ANT]).data["skipped"] == 1


def test_a_deleted_damaged_record_does_not_come_back(memory):
    memory.path("ant").write_bytes(b"{")
    delete(memory, "ant")
    memory.index()
    assert memory.imported([ANT]).data["skipped"] == 1


def test_the_tombstone_holds_neither_id_nor_text(memory):
    delete(memory, "ant")
    memory.index()
    held = memory.paths.tombstones.read_text()
    assert len(held.splitlines()) == 1
    assert not any(word in held for word in ("ant", "ground", "u1"))


def test_a_torn_tombstone_hides_no_other(memory):
    delete(memory, "ant")
    memory.index()
    with memory.paths.tombstones.open("ab") as file:
        file.write(b'{"crc":"12')
    delete(memory, "bee")
    memory.index()
    again = [ANT, {"id": "bee", "content": "ground of the bee"}]
    assert memory.imported(again).data["skipped"] == 2


def test_what_was_deleted_by_hand_may_come_back(memory):
    memory.path("ant").unlink()
    memory.index()
    assert memory.imported([ANT]).data["added"] == 1


@pytest.mark.parametrize("lost", ["index", "generations", "config.json"])
def test_without_an_index_a_filter_still_finds_every_record(memory, lost):
    if lost == "config.json":
        next(memory.paths.generations.iterdir()).joinpath(lost).write_text("{")
    elif lost == "index":
        memory.paths.index.unlink()
    else:
        shutil.rmtree(memory.paths.generations)
    assert left(memory) == ["ant", "bee", "cow", "dog"]
    assert memory.found("ground bee", top_k=1) == ["ground of the bee"]
    assert sorted(delete(memory, user=("u1",))["deleted"]) == ["ant", "dog"]


@pytest.fixture
def twin(memory) -> Path:
    """A copy of a record in the other scope, which says something else."""
    document = {**memory.document("ant"), "scope": "agent", "category": "lesson"}
    path = memory.path("ant", "agent")
    path.write_text(json.dumps(document).replace("ground of the ant", "copy of the ant"))
    return path


@pytest.mark.parametrize("sound", [True, False])
@pytest.mark.parametrize("given", ["ant", "creature-ant"])
def test_a_record_of_the_same_id_in_the_other_scope_goes_too(memory, twin, sound, given):
    if not sound:
        twin.write_bytes(memory.path("ant").read_bytes())
    if given != "ant":
        for scope in ("user", "agent"):
            path = memory.path("ant", scope)
            text = path.read_text().replace('"ant"', '"little-creature-ant"')
            path.with_name("little-creature-ant.json").write_text(text)
            path.unlink()
    name = memory.service.get([given]).data["items"][0]["id"]
    data = delete(memory, given)
    assert data["deleted"] == [name, name]
    assert [item["scope"] for item in data["items"]] == ["user", "agent"]
    for _ in range(2):
        with pytest.raises(NotFoundError):
            memory.service.get([given])
        assert memory.index()["damaged"] == []
    assert "ant" not in left(memory)
    again = memory.imported([{"text": "ground of the ant", "id": name, "user": "u1"}])
    assert (again.data["added"], again.data["skipped"]) == (0, 1)


def test_a_filter_that_spares_the_record_of_the_other_scope_leaves_it(memory, twin):
    assert delete(memory, category=("event",), user=("u1",))["items"][0]["scope"] == "user"
    assert twin.exists()
    memory.index()
    assert memory.found("copy") == ["copy of the ant"]


def test_what_a_dry_run_has_listed_goes_and_nothing_else(memory, twin):
    memory.path("ant").rename(memory.path("ant").with_suffix(".away"))
    memory.index()
    memory.path("ant").with_suffix(".away").rename(memory.path("ant"))
    planned = delete(memory, dry_run=True, scope=("agent",))["items"]
    places = tuple((item["scope"], item["id"]) for item in planned)
    assert sorted(places) == [("agent", "ant"), ("agent", "cow")]
    memory.path("cow", "agent").unlink()
    data = memory.service.delete(DeleteRequest(places=places)).data
    assert (data["deleted"], data["missing"]) == (["ant"], ["cow"])
    assert memory.path("ant").exists()
    with pytest.raises(NotFoundError):
        memory.service.delete(DeleteRequest(places=places))
