"""Editing a record keeps what it said; undoing lets it stand again; both find what they should."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_cli.errors import NotFoundError, UsageError
from openclaw_cli.memory.requests import EditRequest
from tests.support import Memory


@pytest.fixture
def memory(tmp_path) -> Memory:
    memory = Memory(tmp_path / "state")
    memory.add("User is 32 years old", category="profile", key="age", user="u1", id="mem-age")
    memory.later(hours=1)
    return memory


def edit(memory: Memory, **change) -> dict:
    given = change.pop("id", "mem-age")
    return memory.service.edit(EditRequest(given, embed=False, **change)).data["record"]


def undo(memory: Memory, number: int | None = None) -> dict:
    memory.later(hours=1)
    return memory.service.undo("mem-age", number, embed=False).data["record"]


def past(memory: Memory, record_id: str = "mem-age") -> list[dict]:
    return memory.service.history(record_id).data["entries"]


def test_a_new_text_is_found_and_the_old_one_only_in_the_history(memory):
    record = edit(memory, l0="User is thirtythree")
    assert record["content"]["l0"] == "User is thirtythree"
    assert memory.found("thirtythree") == ["User is thirtythree"]
    assert memory.found("years") == []
    (entry,) = past(memory)
    assert entry["content"]["l0"] == "User is 32 years old"
    assert (entry["n"], entry["reason"], entry["replacedAt"]) == (1, "edited", record["updatedAt"])


def test_a_restated_text_joins_the_original_under_its_time(memory):
    record = edit(memory, l0="User is 33 years old")
    assert record["content"]["l2"] == (
        f"User is 32 years old\n\n[{record['updatedAt']}] User is 33 years old"
    )


def test_the_original_of_a_summary_stays_when_the_summary_changes(memory):
    memory.add("User moved house", l2="In May the user told that they moved", id="mem-long")
    record = edit(memory, id="mem-long", l0="The user moved")
    assert record["content"]["l2"] == "In May the user told that they moved"


def test_a_long_text_is_cut_to_a_summary_and_kept_whole(memory):
    text = "Something happened there. " * 60
    record = edit(memory, l0=text)
    assert len(record["content"]["l0"]) < len(text)
    assert text.strip() in record["content"]["l2"]
    with pytest.raises(UsageError, match="summary"):
        edit(memory, l0=text, l2="short")


def test_levels_tags_key_and_category_change_and_nothing_else(memory):
    before = memory.document("mem-age")
    record = edit(memory, l1="more", tags=("a", "b", "a"), category="preference", clear=("key",))
    changed = {name for name in before if before[name] != record[name]}
    assert changed == {
        *("content", "tags", "category", "mergeStrategy", "key", "updatedAt", "history"),
    }
    assert record["tags"] == ["a", "b"]
    assert record["mergeStrategy"] == "latest-wins"
    assert record["key"] is None
    assert past(memory)[0]["fields"] == {
        name: before[name]
        for name in ("userId", "category", "mergeStrategy", "key", "createdAt", "source")
    }


def test_what_does_not_change_anything_is_told(memory):
    with pytest.raises(UsageError, match="already"):
        edit(memory, l0="User is 32 years old")
    assert past(memory) == []


@pytest.mark.parametrize(
    "change",
    [
        {"category": "nonsense"},
        {"category": "lesson"},
        {"l0": "  "},
        {"key": "x" * 300},
        {"tags": ("\x00",)},
        {"clear": ("l0",)},
        {"clear": ("tags",), "tags": ("a",)},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_and_changes_nothing(memory, change):
    before = memory.document("mem-age")
    with pytest.raises(UsageError):
        edit(memory, **change)
    assert memory.document("mem-age") == before


def test_a_slot_that_another_record_fills_is_refused(memory):
    memory.add("User is tall", category="profile", key="height", user="u1", id="mem-tall")
    with pytest.raises(UsageError, match="mem-tall"):
        edit(memory, key="height")


def test_a_record_that_is_not_there_is_not_found(memory):
    with pytest.raises(NotFoundError):
        edit(memory, id="mem-none", l0="x")
    with pytest.raises(NotFoundError):
        memory.service.history("mem-none")


def test_undo_lets_the_last_state_stand_again_and_can_be_undone(memory):
    edit(memory, l0="User is 33 years old", tags=("age",))
    back = undo(memory)
    assert back["content"] == {
        "l0": "User is 32 years old", "l1": "", "l2": "User is 32 years old"
    }  # fmt: skip
    assert back["tags"] == []
    assert memory.found("33") == []
    again = undo(memory)
    assert (again["content"]["l0"], again["tags"]) == ("User is 33 years old", ["age"])
    assert [entry["reason"] for entry in past(memory)] == ["edited", "undone", "undone"]


def test_undo_goes_back_to_any_entry(memory):
    for age in (33, 34, 35):
        edit(memory, l0=f"User is {age} years old")
        memory.later(hours=1)
    assert undo(memory, 2)["content"]["l0"] == "User is 33 years old"
    assert undo(memory, 1)["content"]["l0"] == "User is 32 years old"
    assert len(past(memory)) == 5


def test_an_earlier_state_stands_again_whole_after_several_changes(memory):
    before = memory.document("mem-age")
    edit(memory, l0="second", tags=("x",))
    edit(memory, category="preference", key="other")
    edit(memory, clear=("key",), l1="more")
    after = undo(memory, 1)
    passing = {"history", "updatedAt", "fsrs"}
    assert {n: v for n, v in after.items() if n not in passing} == {
        n: v for n, v in before.items() if n not in passing
    }


@pytest.mark.parametrize(
    "held",
    [
        {"content": {"l0": "before"}, "fields": {"id": "evil", "scope": "agent", "history": 1}},
        {"content": "before", "fields": {"category": "nonsense", "mergeStrategy": ["x"]}},
        {"content": "before", "fields": {"category": "lesson", "evidence": 5, "version": "9"}},
        {"content": {"l0": "before"}, "by": ["x"], "n": 99, "reason": {}},
    ],
    ids=str,
)
def test_what_stands_in_a_history_by_hand_cannot_make_a_record_unsound(memory, held):
    memory.imported([{"id": "odd", "content": {"l0": "now"}, "history": [held]}])
    before = memory.document("odd")
    memory.service.undo("odd", embed=False)
    after = memory.document("odd")
    kept = ("id", "scope", "version", "category", "mergeStrategy", "agentId", "createdAt")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert memory.found("before") == ["before"]
    assert [entry["n"] for entry in past(memory, "odd")] == [1, 2]


def test_undo_takes_back_a_merge_with_all_that_it_brought(memory):
    before = memory.document("mem-age")
    memory.add("User is 40", category="profile", key="age", user="u1", tags=("x",), id="mem-40")
    after = undo(memory)
    kept = ("content", "tags", "category", "key", "source", "userId")
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_undo_takes_back_an_overwriting_import(memory):
    before = memory.document("mem-age")
    line = {"id": "mem-age", "content": {"l0": "other"}, "category": "event", "userId": "u2",
            "mood": 1}  # fmt: skip
    memory.imported([line], on_conflict="overwrite")
    after = undo(memory)
    passing = {"history", "updatedAt", "fsrs", "embeddingPending"}
    assert {n: v for n, v in after.items() if n not in passing} == {
        n: v for n, v in before.items() if n not in passing
    }
    assert undo(memory)["mood"] == 1


def test_undo_without_a_past_says_so(memory):
    with pytest.raises(UsageError, match="no earlier state"):
        undo(memory)
    edit(memory, l0="User is 33")
    with pytest.raises(UsageError, match="entries 1 to 1, so not 2"):
        undo(memory, 2)


@settings(max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(["edit", "undo"]), st.integers(0, 9)), max_size=8))
def test_any_earlier_state_can_stand_again(tmp_path_factory, steps):
    memory = Memory(tmp_path_factory.mktemp("memory") / "state")
    memory.add("word 0", id="mem-age")
    stood = []
    for place, (action, choice) in enumerate(steps, 1):
        memory.later(hours=1)
        stood.append(memory.document("mem-age")["content"])
        if action == "edit" or len(stood) == 1:
            edit(memory, l0=f"word {place}")
        else:
            number = choice % (len(stood) - 1) + 1
            assert undo(memory, number)["content"] == stood[number - 1]
    assert [entry["content"] for entry in past(memory)] == stood
    assert len(memory.found("word")) == 1
