"""Which session is meant: by channel and chat, by id, by the end of an id."""

from __future__ import annotations

import pytest

from openclaw_cli.errors import (
    AmbiguousIdError,
    ExistsError,
    InvalidNameError,
    LockedError,
    NotFoundError,
    StorageError,
)


def test_ensure_makes_one_and_then_returns_it(sessions):
    first = sessions.ensure("tg", "1", user="u1", title="t", tags=("x", "x"))
    assert first["created"]
    assert (first["channel"], first["chatId"], first["userId"]) == ("tg", "1", "u1")
    assert first["tags"] == ["x"]
    again = sessions.ensure("tg", "1", title="other")
    assert again == {**first, "created": False}
    assert sessions.ensure("irc", "1")["sessionId"] != first["sessionId"]


def test_new_always_makes_one_and_the_earlier_one_becomes_dormant(sessions):
    first, second = (sessions.new(channel="tg", chat="1") for _ in range(2))
    assert sessions.show(first)["status"] == "dormant"
    assert sessions.ensure("tg", "1")["sessionId"] == second
    sessions.later(hours=1)
    sessions.append(first, "still here")
    assert sessions.ensure("tg", "1")["sessionId"] == first
    assert {row["status"] for row in sessions.listed()} == {"active"}


def test_sessions_without_a_key_do_not_meet(sessions):
    first = sessions.new(channel="tg")
    sessions.new(channel="tg")
    sessions.new()
    assert sessions.show(first)["status"] == "active"


def test_an_archived_session_is_not_meant_a_dormant_one_is(sessions):
    first = sessions.ensure("tg", "1")["sessionId"]
    sessions.later(hours=1)
    sessions.service.sweep(dry_run=False)
    assert sessions.ensure("tg", "1")["sessionId"] == first
    sessions.service.archive([first])
    assert sessions.ensure("tg", "1")["created"]


@pytest.mark.parametrize("chat", ['with "quotes"', "中文群", "a\\b", "\u2028", "é", "0"])
def test_a_chat_of_any_name_is_found_again(sessions, chat):
    found = sessions.ensure("tg", chat)
    assert sessions.ensure("tg", chat) == {**found, "created": False}
    sessions.paths.catalog.unlink()
    assert sessions.ensure("tg", chat) == {**found, "created": False}


def test_the_end_of_an_id_is_enough(sessions):
    name = sessions.new()
    sessions.append(name[-8:], "hi")
    assert sessions.show(name[-12:])["sessionId"] == name
    with pytest.raises(NotFoundError):
        sessions.show(name[-7:])
    sessions.new("x-12345678")
    sessions.new("y-12345678")
    with pytest.raises(AmbiguousIdError, match="12345678 fits 2 sessions: x-12345678, y-12345678"):
        sessions.show("12345678")


@pytest.mark.parametrize("name", ["..", "a/b", "", "-x", "a b", "x" * 129, "中"])
def test_a_name_that_leads_elsewhere_is_refused_before_anything_is_done(sessions, name):
    sessions.new("ant")
    for action in (sessions.show, sessions.append, sessions.tail):
        with pytest.raises(InvalidNameError):
            action(name)
    if name:
        with pytest.raises(InvalidNameError):
            sessions.new(name)


@pytest.mark.parametrize("name", ["catalog.jsonl", "sessions.json", "lookup.lock"])
def test_a_name_that_files_have_is_refused(sessions, name):
    with pytest.raises(InvalidNameError, match="cannot be a session id"):
        sessions.new(name)


def test_an_id_that_is_taken_is_refused(sessions):
    sessions.new("ant", title="first")
    (sessions.paths.root / "empty").mkdir()
    for name in ("ant", "empty"):
        with pytest.raises(ExistsError, match=f"there is a session {name} already"):
            sessions.new(name)
    assert sessions.show("ant")["title"] == "first"


def test_an_agent_without_sessions_is_told_and_not_made(sessions, tmp_path):
    with pytest.raises(NotFoundError, match="no agent 'main' with sessions"):
        sessions.listed()
    assert not sessions.state.exists()


def test_a_folder_that_leads_out_of_the_state_is_refused(sessions, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    sessions.paths.root.parent.mkdir(parents=True)
    sessions.paths.root.symlink_to(outside)
    with pytest.raises(StorageError, match="leads out of the state directory"):
        sessions.new("ant")
    assert list(outside.iterdir()) == []


def test_a_session_deleted_while_its_lock_is_waited_for_is_told(sessions):
    sessions.new("ant")
    sessions.append("ant", "hi")
    store = sessions.service.store
    files = sessions.files("ant")
    with store.writing(files):
        from openclaw_cli.store import trash

        sessions.lock_timeout = 0
        with pytest.raises(LockedError):
            sessions.append("ant", "waiting")
        trash.put(sessions.paths.trash, files.folder, sessions.moment)
        sessions.new("ant")
        sessions.append("ant", "another session of that id")
    assert sessions.contents("ant") == ["another session of that id"]
