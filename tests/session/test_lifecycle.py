"""The tables of status and run state, and what time makes of a session."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from openclaw_cli.errors import TransitionError
from openclaw_cli.session.lifecycle import RUN_STATE, STATUS, Patience
from tests.conftest import ROOT

PATIENCE = Patience(timedelta(minutes=30), timedelta(days=7))
TABLES = pytest.mark.parametrize("table", [STATUS, RUN_STATE], ids=lambda table: table.name)


@TABLES
def test_every_state_that_may_follow_has_a_line_of_its_own(table):
    following = {state for states in table.allowed.values() for state in states}
    assert following | {table.first} == set(table.states)


@TABLES
def test_from_every_state_there_is_a_way_to_every_other(table):
    for start in table.states:
        reached, pending = set(), [start]
        while pending:
            for state in table.allowed[pending.pop()]:
                if state not in reached:
                    reached.add(state)
                    pending.append(state)
        assert reached == set(table.states)


@TABLES
def test_what_is_not_in_the_table_is_refused_with_what_is(table):
    for current in table.states:
        for wanted in table.states:
            if wanted in table.allowed[current]:
                table.check(current, wanted, whose="session s-1")
                continue
            with pytest.raises(TransitionError) as caught:
                table.check(current, wanted, whose="session s-1")
            assert (
                caught.value.message
                == f"session s-1: {table.name} {current} cannot become {wanted}"
            )
            assert all(state in (caught.value.hint or "") for state in table.allowed[current])
            assert caught.value.details["allowed"] == list(table.allowed[current])


@TABLES
def test_the_readme_tells_the_table(table):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for state, following in table.allowed.items():
        assert f"| {table.name} | {state} | {', '.join(following)} |\n" in readme


@pytest.mark.parametrize(
    ("status", "silent", "due"),
    [
        ("active", timedelta(minutes=29), None),
        ("active", timedelta(minutes=30), "dormant"),
        ("dormant", timedelta(days=7), None),
        ("dormant", timedelta(days=7, minutes=30), "archived"),
        ("active", timedelta(days=8), "archived"),
        ("archived", timedelta(days=800), None),
        ("active", timedelta(days=-1), None),
    ],
)
def test_silence_makes_sessions_dormant_and_then_archived(status, silent, due):
    assert PATIENCE.due(status, silent) == due


def test_the_sweep_goes_by_the_last_message(sessions):
    for name in ("new", "idle", "old"):
        sessions.new(name)
    sessions.append("old", "words to compress")
    sessions.later(days=7)
    sessions.append("idle", "hi")
    sessions.later(minutes=30)
    sessions.append("new", "hi")
    planned = sessions.service.sweep(dry_run=True).data
    assert {row["status"] for row in sessions.listed()} == {"active"}
    done = sessions.service.sweep(dry_run=False).data
    assert (
        planned["changed"]
        == done["changed"]
        == [
            {"sessionId": "idle", "from": "active", "to": "dormant"},
            {"sessionId": "old", "from": "active", "to": "archived"},
        ]
    )
    assert not sessions.files("old").history.exists()
    assert sessions.service.sweep(dry_run=False).data["changed"] == []
    sessions.sound()


def test_the_configuration_says_how_long_to_wait(sessions):
    sessions.new("ant")
    (sessions.state / "openclaw.json").write_text('{"session": {"idleTimeout": "2h"}}')
    sessions.later(hours=1)
    assert sessions.service.sweep(dry_run=False).data["changed"] == []
    sessions.later(hours=1)
    assert sessions.service.sweep(dry_run=False).data["changed"][0]["to"] == "dormant"


def test_a_clock_that_was_set_back_changes_no_status_and_no_order(sessions):
    sessions.new("ant")
    sessions.append("ant", "now")
    sessions.later(days=-30)
    assert sessions.service.sweep(dry_run=False).data["changed"] == []
    assert sessions.append("ant", "earlier").data["firstIdx"] == 1
    assert sessions.contents("ant") == ["now", "earlier"]
    assert sessions.show("ant")["lastActiveAt"].startswith("2026-01-30")
    sessions.sound()


def test_one_session_that_is_written_to_keeps_the_sweep_from_no_other(sessions):
    sessions.new("ant")
    sessions.new("bee")
    sessions.later(hours=1)
    sessions.lock_timeout = 0
    with sessions.service.store.writing(sessions.files("ant")):
        data = sessions.service.sweep(dry_run=False).data
    assert [change["sessionId"] for change in data["changed"]] == ["bee"]
    assert [(f["id"], f["code"]) for f in data["failed"]] == [("ant", "locked")]
    assert str(os.getpid()) in data["failed"][0]["reason"]
