"""Adding: nothing said is lost, nothing is stored twice, slots follow their strategy."""

from __future__ import annotations

import pytest

from openclaw_cli.errors import InvalidNameError, InvalidTextError, UsageError
from openclaw_cli.memory.adding import Chooser
from openclaw_cli.memory.analysis import hash_of
from openclaw_cli.memory.documents import short_hash
from openclaw_cli.memory.store import Following

BAD_IDS = ["..", ".", "a/b", "/etc/passwd", "a\\b", "", "x" * 129, "ä", "-a", "a\n"]
STATEMENT = "用户偏好 TypeScript，不喜欢 Java"


def test_an_added_memory_is_a_file_and_is_found_at_once(memory):
    data = memory.add(STATEMENT, category="preference", user="u1", tags=("lang",))
    assert data["action"] == "added"
    stored = memory.document(data["id"])
    assert stored == data["record"]
    assert stored["content"]["l0"] == STATEMENT
    assert (stored["userId"], stored["tags"], stored["language"]) == ("u1", ["lang"], "zh")
    assert stored["contentHash"].startswith("sha256:")
    assert memory.found("typescript") == [STATEMENT]


@pytest.mark.parametrize("indexed", [False, True])
@pytest.mark.parametrize(
    "again", ["Likes green tea", "  Likes green   tea\n", "Ｌｉｋｅｓ green tea"]
)
def test_an_exact_repeat_is_skipped_and_named(memory, again, indexed):
    first = memory.add("Likes green tea")
    if indexed:
        memory.index()
    data = memory.add(again)
    assert (data["action"], data["duplicateOf"]) == ("skipped", first["id"])
    assert memory.service.status().data["records"] == 1


@pytest.mark.parametrize(
    "options",
    [{"user": "u2"}, {"category": "preference"}, {"allow_duplicate": True}, {"key": "drink"}],
)
def test_a_repeat_that_differs_in_what_counts_is_a_memory_of_its_own(memory, options):
    memory.add("Likes green tea", user="u1" if "user" in options else None)
    assert memory.add("Likes green tea", **options)["action"] == "added"


@pytest.mark.parametrize(
    "pair",
    [
        ("User is 32 years old", "User is 33 years old"),
        ("The limit is 5 MB", "The limit is 5 Mb"),
        ("likes Java", "dislikes Java"),
    ],
)
def test_texts_that_differ_at_all_are_both_kept(memory, pair):
    assert [memory.add(text)["action"] for text in pair] == ["added", "added"]


def test_two_long_texts_with_one_beginning_are_both_kept_and_found(memory):
    start = "The meeting went on for hours and nobody could agree on anything at all. " * 12
    first = memory.add(start + "In the end they chose the zebra logo.")
    second = memory.add(start + "In the end they chose the walrus logo.")
    assert first["record"]["content"]["l0"] == second["record"]["content"]["l0"]
    assert first["l0Cut"] is True
    assert second["action"] == "added"
    zebra = memory.search("zebra").data["results"]
    assert [hit["id"] for hit in zebra] == [first["id"]]
    assert memory.document(first["id"])["content"]["l2"].endswith("zebra logo.")


def test_a_summary_of_ones_own_is_what_is_found(memory):
    memory.add("Short summary", l2="A long story about a xylophone")
    assert memory.found("summary") == ["Short summary"]
    assert memory.found("xylophone") == []


def test_a_preference_in_a_slot_is_replaced_and_its_history_kept(memory):
    first = memory.add("Uses vim", category="preference", key="editor")
    memory.later(days=1)
    data = memory.add("Uses emacs", category="preference", key="editor")
    assert (data["action"], data["id"]) == ("merged", first["id"])
    assert memory.found("emacs") == ["Uses emacs"]
    assert memory.found("vim") == []
    stored = memory.document(first["id"])
    assert [entry["content"]["l0"] for entry in stored["history"]] == ["Uses vim"]
    assert stored["history"][0]["updatedAt"] == "2026-03-01T12:00:00Z"
    assert "Uses vim" in stored["content"]["l2"]
    assert "Uses emacs" in stored["content"]["l2"]
    assert stored["createdAt"] == "2026-03-01T12:00:00Z"
    assert stored["updatedAt"] == "2026-03-02T12:00:00Z"


def test_what_is_said_now_stands_although_the_clock_was_set_back(memory):
    memory.add("Uses vim", category="preference", key="editor")
    memory.later(days=-1)
    memory.add("Uses emacs", category="preference", key="editor")
    assert memory.listed() == ["Uses emacs"]


def test_a_profile_slot_takes_the_new_value(memory):
    memory.add("32 岁", category="profile", key="age")
    memory.add("33 岁", category="profile", key="age")
    assert memory.listed() == ["33 岁"]


def test_a_lesson_slot_grows(memory):
    memory.add("Retry uploads after a timeout.", category="lesson", key="uploads")
    data = memory.add("Check the checksum too.", category="lesson", key="uploads")
    assert data["action"] == "merged"
    assert memory.found("timeout") == memory.found("checksum") != []
    assert len(memory.listed()) == 1


def test_a_lesson_told_twice_is_kept_once(memory):
    for text in ("Retry uploads.", "Check the checksum.", "Retry uploads."):
        memory.add(text, category="lesson", key="uploads")
    (hit,) = memory.search("uploads").data["results"]
    assert memory.document(hit["id"], "agent")["content"]["l2"].count("Retry uploads.") == 1


def test_a_lesson_with_a_summary_of_its_own_keeps_both_texts(memory):
    memory.add("Lesson one", category="lesson", key="k")
    memory.add("Retry on 503", l2="long transcript", category="lesson", key="k")
    memory.add("Lesson three", l2="another transcript", category="lesson", key="k")
    for word in ("one", "503", "transcript", "three", "another"):
        assert len(memory.search(word).data["results"]) == 1, word


def test_an_exact_repeat_that_brings_more_is_taken_in(memory):
    first = memory.add("The meeting was moved", tags=("work",))
    data = memory.add("The meeting was moved", tags=("calendar",), l1="to Friday", l2="whole mail")
    assert (data["action"], data["id"]) == ("merged", first["id"])
    stored = memory.document(first["id"])
    assert stored["tags"] == ["work", "calendar"]
    assert stored["content"] == {
        "l0": "The meeting was moved", "l1": "to Friday", "l2": "whole mail",
    }  # fmt: skip
    assert memory.add("The meeting was moved", l2="whole mail")["action"] == "skipped"
    again = memory.add("The meeting was moved", l2="second mail")
    assert again["action"] == "merged"
    assert "whole mail" in again["record"]["content"]["l2"]
    assert memory.add("The meeting was moved")["action"] == "skipped"


@pytest.mark.parametrize("category", ["event", "case"])
def test_events_in_one_slot_stand_alone(memory, category):
    memory.add("Went to the dentist", category=category, key="dentist")
    data = memory.add("Went to the dentist again", category=category, key="dentist")
    assert data["action"] == "added"
    assert len(memory.listed()) == 2


def test_slots_of_different_users_and_categories_do_not_meet(memory):
    memory.add("Uses vim", category="preference", key="editor", user="a")
    other_user = memory.add("Uses nano", category="preference", key="editor", user="b")
    other_category = memory.add("Is an editor", category="profile", key="editor", user="a")
    assert (other_user["action"], other_category["action"]) == ("added", "added")


@pytest.mark.parametrize("indexed", [False, True])
def test_a_slot_is_followed_through_many_merges(memory, indexed):
    for number in range(5):
        memory.add(f"Version {number} it is", category="preference", key="v")
        if indexed:
            memory.index()
    assert memory.listed() == ["Version 4 it is"]
    (hit,) = memory.search("version").data["results"]
    replaced = [entry["content"]["l0"] for entry in memory.document(hit["id"])["history"]]
    assert replaced == [f"Version {number} it is" for number in range(4)]


@pytest.mark.parametrize("name", BAD_IDS)
def test_an_id_that_could_lead_elsewhere_is_refused_before_anything_is_made(memory, name):
    with pytest.raises(InvalidNameError):
        memory.add("text", id=name)
    assert not memory.state.exists()


def test_an_id_that_exists_with_another_text_is_refused(memory):
    memory.add("one", id="mem-1")
    assert memory.add("one", id="mem-1")["action"] == "skipped"
    with pytest.raises(UsageError, match="there is a record mem-1 with another text"):
        memory.add("two", id="mem-1")


@pytest.mark.parametrize("text", ["", "  \n\t", "\u3000", "a\0b", "bad \ud800 half"])
def test_a_text_that_cannot_be_stored_is_refused_before_anything_is_made(memory, text):
    with pytest.raises(InvalidTextError):
        memory.add(text)
    assert not memory.state.exists()


def test_a_text_of_five_megabytes_is_kept_whole_and_found_by_its_last_word(memory):
    text = "word " * 1_000_000 + "finis"
    data = memory.add(text)
    assert memory.document(data["id"])["content"]["l2"] == text
    assert len(data["record"]["content"]["l0"]) < 1000
    assert [hit["id"] for hit in memory.search("finis").data["results"]] == [data["id"]]


def test_an_index_older_than_an_edit_by_hand_does_not_hide_a_new_statement(memory):
    first = memory.add("Lives in Berlin")
    memory.index()
    memory.edit(first["id"], "Lives in Munich")
    assert memory.add("Lives in Berlin")["action"] == "added"


def test_the_log_is_folded_by_itself_when_it_passes_its_limit(memory):
    memory.state.mkdir()
    (memory.state / "openclaw.json").write_text("{memory: {wal: {maxEntries: 5}}}")
    for number in range(12):
        memory.add(f"thing number {number}")
    status = memory.service.status().data
    assert status["records"] == 12
    assert status["walEntries"] <= 5
    assert status["generation"] >= 2
    assert len(memory.found("thing", top_k=50)) == 12


def test_the_decision_is_made_under_the_lock(memory, monkeypatch):
    """Another process adds the same text between the first look and the lock."""
    original = Chooser.decide
    calls = []

    def decide(self, item, **options):
        result = original(self, item, **options)
        if not calls:
            calls.append(1)
            memory.add("the same thing")
        return result

    memory.add("something else")
    monkeypatch.setattr(Chooser, "decide", decide)
    assert memory.add("the same thing")["action"] == "skipped"


@pytest.mark.parametrize("meanwhile", ["nothing", "added", "indexed", "edited and indexed"])
def test_what_happened_since_the_first_look_is_seen_under_the_lock(memory, meanwhile):
    memory.add("one")
    memory.index()
    memory.add("two")
    store = memory.service.store
    opened = store.open()
    if meanwhile == "added":
        memory.add("three")
    elif meanwhile == "edited and indexed":
        memory.path("three").write_text('{"id": "three", "content": {"l0": "three"}}')
    if "indexed" in meanwhile:
        memory.index()
    with store.repository.writing() as writer:
        following = Following(store, opened)
        following.catch_up(writer.log)
        snapshot = following.snapshot
        seen = [found.id for name in ("one", "two", "three")
                for found in snapshot.with_hash(short_hash(hash_of(name)))]  # fmt: skip
    assert snapshot.live == len(seen) == len(memory.listed())
    assert (snapshot is opened.snapshot) == (meanwhile in ("nothing", "added"))
