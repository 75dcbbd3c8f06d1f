"""Branches: named places in a history, and sessions that begin as another one did."""

from __future__ import annotations

import hashlib
import json

import pytest

from openclaw_cli.errors import DamagedError, ExistsError, InvalidNameError, NotFoundError
from openclaw_cli.session.requests import NewRequest
from openclaw_cli.store import locks
from tests.session.support import said


@pytest.fixture
def ant(sessions):
    sessions.new("ant", channel="tg", chat="1", user="u1", model="m")
    sessions.append("ant", said("一", tokens=3), said("two", "assistant", tokens=5, cost=0.5))
    sessions.append("ant", "three", said("four", "assistant"))
    return sessions


def branch(sessions, name, at=None):
    return sessions.service.branch("ant", name, at).data


def fork(sessions, source, **fields):
    result = sessions.service.fork(NewRequest(**fields), source)
    return result.data["sessionId"], result.warnings


def listed(sessions):
    return {row["name"]: row["matches"] for row in sessions.service.branches("ant").data["items"]}


def begin(sessions, count):
    lines = sessions.files("ant").history.read_bytes().splitlines(keepends=True)
    return b"".join(lines[:count])


def test_a_branch_records_place_hash_and_time(ant):
    data = branch(ant, "draft", 1)
    assert data == json.loads((ant.files("ant").branches / "draft.json").read_bytes())
    assert (data["name"], data["idx"], data["createdAt"]) == ("draft", 1, "2026-03-01T12:00:00Z")
    assert data["sha256"] == hashlib.sha256(begin(ant, 2)).hexdigest()
    assert branch(ant, "now")["idx"] == 3
    ant.sound()


def test_branches_fit_as_long_as_the_history_begins_as_it_did(ant):
    for name, at in (("late", 3), ("early", 0), ("same", 0)):
        branch(ant, name, at)
    ant.append("ant", "five")
    assert listed(ant) == {"early": True, "late": True, "same": True}
    ant.service.archive(["ant"])
    assert listed(ant) == {"early": True, "late": True, "same": True}
    branch(ant, "packed")
    branch(ant, "packed-first", 0)
    ant.append("ant", "six")
    assert listed(ant)["packed"] is True
    history = ant.files("ant").history
    history.write_bytes(history.read_bytes().replace(b"three", b"THREE"))
    fits = {"early": True, "same": True, "packed-first": True, "late": False, "packed": False}
    assert listed(ant) == fits
    history.write_bytes(begin(ant, 1)[:-3])
    assert not any(listed(ant).values())


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "分支", "x" * 200, "42"])
def test_a_name_that_is_no_file_name_or_an_idx_is_refused(ant, name):
    with pytest.raises(InvalidNameError):
        branch(ant, name)
    assert not ant.files("ant").branches.exists()


def test_a_name_is_given_once(ant):
    before = branch(ant, "draft", 0)
    with pytest.raises(ExistsError, match="has a branch draft already"):
        branch(ant, "draft", 1)
    assert ant.service.branches("ant").data["items"] == [{**before, "matches": True}]


def test_there_is_no_branch_where_there_is_no_message(ant):
    with pytest.raises(NotFoundError, match=r"no message 9: the last one is 3"):
        branch(ant, "late", 9)
    ant.new("bee")
    with pytest.raises(NotFoundError, match="it has no messages"):
        ant.service.branch("bee", "x", None)


def test_a_damaged_branch_is_told_and_the_others_are_listed(ant):
    branch(ant, "good")
    (ant.files("ant").branches / "bad.json").write_text('{"idx":')
    result = ant.service.branches("ant")
    assert [row["name"] for row in result.data["items"]] == ["good"]
    assert [w.code for w in result.warnings] == ["branch-damaged"]
    with pytest.raises(DamagedError, match=r"bad\.json"):
        fork(ant, "ant:bad")


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("source", "count"), [("ant", 4), ("ant:1", 2), ("ant:draft", 3)])
def test_a_session_begins_as_another_one(ant, source, count, packed):
    branch(ant, "draft", 2)
    wanted = begin(ant, count)
    if packed:
        ant.service.archive(["ant"])
    child, warnings = fork(ant, source, title="另一条路")
    assert warnings == ()
    assert ant.files(child).history.read_bytes() == wanted
    meta = ant.meta(child)
    assert (meta["parentSessionId"], meta["messageCount"]) == ("ant", count)
    assert (meta["totalInputTokens"], meta["totalOutputTokens"], meta["totalCost"]) == (3, 5, 0.5)
    assert (meta["userId"], meta["model"], meta["title"]) == ("u1", "m", "另一条路")
    assert (meta["channel"], meta["status"]) == (None, "active")
    assert ant.meta("ant")["childSessionIds"] == [child]
    assert ant.append(child, "on another way").data["firstIdx"] == count
    ant.sound()


def test_a_session_without_messages_has_children_without_messages(ant):
    ant.new("bee")
    child, _warnings = fork(ant, "bee")
    assert (ant.meta(child)["messageCount"], ant.messages(child)) == (0, [])


def test_a_branch_that_does_not_fit_any_more_makes_no_session(ant):
    branch(ant, "draft", 2)
    history = ant.files("ant").history
    history.write_bytes(history.read_bytes().replace(b"two", b"TWO"))
    with pytest.raises(DamagedError, match="no longer begins as it did"):
        fork(ant, "ant:draft")
    assert [row["sessionId"] for row in ant.listed()] == ["ant"]
    ant.new("bee")
    assert not [p.name for p in ant.paths.root.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("source", ["ant:9", "ant:no-such-branch", "no-such-session:1"])
def test_what_is_not_there_cannot_be_begun_with(ant, source):
    with pytest.raises(NotFoundError):
        fork(ant, source)


def test_a_parent_that_is_written_to_is_not_told_but_the_child_knows(ant):
    ant.lock_timeout = 0
    clock = ant.service.store.env.clock
    with locks.hold(ant.files("ant").lock, clock=clock, timeout=0, holder="another"):
        child, warnings = fork(ant, "ant:1")
    assert [w.code for w in warnings] == ["parent-not-told"]
    assert ant.meta(child)["parentSessionId"] == "ant"
