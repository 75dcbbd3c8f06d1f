"""A user is forgotten: their sessions wholly, their messages in groups on demand."""

from __future__ import annotations

import gzip
import json

import pytest

from openclaw_cli.errors import DamagedError
from openclaw_cli.session.requests import NewRequest
from tests.session.support import Sessions, put, said

SECRET = "my secret is 深藏不露 for ever"


def forget(sessions, user="u1", *, group_messages=False, dry_run=False):
    return sessions.service.forget_user(user, group_messages=group_messages, dry_run=dry_run)


def by(user: str, content: str, **more) -> dict:
    return said(content, sender={"userId": user}, **more)


def traces(sessions, *words: str) -> list[str]:
    """Return the files in which one of the words stands, compressed ones unpacked."""
    found = []
    for path in sessions.state.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        forms = {form for w in words for form in (w.encode(), json.dumps(w)[1:-1].encode())}
        if any(form in data or form in path.name.encode() for form in forms):
            found.append(str(path.relative_to(sessions.state)))
    return found


def turn(sessions, session_id):
    data = {"SessionId": session_id, "ModelId": "m", "InputTokens": 1}
    sessions.service.record_usage(json.dumps(data).encode())


@pytest.fixture
def stocked(tmp_path):
    sessions = Sessions(tmp_path / "state")
    for name in ("own-plain", "own-packed", "own-trashed"):
        sessions.new(name, channel="tg", chat=f"chat of {name}", user="u1", title="geheim")
        sessions.append(name, by("u1", SECRET), said("I keep it to myself", "assistant"))
        sessions.service.branch(name, "b", None)
        turn(sessions, name)
    sessions.service.fork(NewRequest(id="own-child"), "own-plain")
    sessions.service.fork(NewRequest(id="other-child", user="u9"), "own-plain:0")
    put(sessions.files("own-plain").folder / "messages.jsonl.torn-1", SECRET.encode())
    sessions.service.archive(["own-packed"])
    sessions.service.delete(["own-trashed"], dry_run=False)
    sessions.new("group", channel="tg", chat="g", user="u2")
    sessions.append(
        "group",
        by("u2", "hello all", tokens=1),
        by("u1", SECRET, tokens=10),
        said("hello to you", "assistant", tokens=100),
        by("u1", "something more of mine", tokens=20),
        by("u3", "bye", tokens=2),
    )
    sessions.new("else", user="u2")
    sessions.append("else", "nothing of anybody")
    turn(sessions, "else")
    return sessions


def test_own_sessions_go_with_everything_and_groups_are_told(stocked):
    dry = forget(stocked, dry_run=True)
    kept = forget(stocked)
    for report in (dry, kept):
        assert report.ids == ["own-child", "own-packed", "own-plain", "own-trashed"]
        assert (report.sessions, report.ledger_lines) == (4, 3)
        assert report.groups == ["group", "other-child"]
        assert SECRET in report.texts
        assert "I keep it to myself" in report.texts
    assert dry.bytes == kept.bytes > 0
    assert {row["sessionId"] for row in stocked.listed()} == {"group", "else", "other-child"}
    assert stocked.service.trash_list().data["total"] == 0
    assert traces(stocked, "own-plain", "own-packed", "own-trashed", "geheim") == []
    assert len(stocked.paths.ledger.read_bytes().splitlines()) == 1
    stocked.sound()


def test_a_dry_run_changes_nothing(stocked):
    before = {p: p.read_bytes() for p in stocked.state.rglob("*") if p.is_file()}
    forget(stocked, dry_run=True, group_messages=True)
    assert {p: p.read_bytes() for p in stocked.state.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize("archived", [False, True])
def test_messages_in_groups_go_and_the_others_keep_their_idx(stocked, archived):
    if archived:
        stocked.service.archive(["group"])
    report = forget(stocked, group_messages=True)
    assert (report.trimmed, report.groups) == (["group", "other-child"], [])
    assert [m["idx"] for m in stocked.messages("group")] == [0, 2, 4]
    meta = stocked.meta("group")
    assert (meta["messageCount"], meta["totalInputTokens"], meta["totalOutputTokens"]) == (
        5,
        3,
        100,
    )
    assert stocked.files("group").packed.exists() == archived
    assert traces(stocked, SECRET, "something more of mine") == []
    assert traces(stocked, '"u1"', "own-") == []
    assert stocked.append("group", "on").data["firstIdx"] == 5
    stocked.sound()


def test_doing_it_again_finds_nothing(stocked):
    forget(stocked, group_messages=True)
    again = forget(stocked, group_messages=True)
    assert (again.sessions, again.messages, again.ledger_lines, again.trimmed) == (0, 0, 0, [])


def test_an_own_session_in_which_others_speak_is_a_group(stocked):
    stocked.new("room", user="u1")
    stocked.append("room", SECRET, by("u2", "not yours at all"), said("so it is", "assistant"))
    assert "room" in forget(stocked).groups
    forget(stocked, group_messages=True)
    assert stocked.contents("room") == ["not yours at all", "so it is"]
    assert stocked.meta("room")["userId"] is None
    assert traces(stocked, SECRET, '"u1"') == []


def test_a_group_in_the_trash_is_trimmed_there(stocked):
    stocked.service.delete(["group"], dry_run=False)
    forget(stocked, group_messages=True)
    assert traces(stocked, SECRET) == []
    stocked.service.restore(["group"])
    assert [m["idx"] for m in stocked.messages("group")] == [0, 2, 4]


def test_damage_that_tells_of_the_user_goes_and_other_damage_stays(stocked):
    files = stocked.files("group")
    theirs = json.dumps(by("u1", SECRET)).encode()[:-3]
    put(files.history, files.history.read_bytes() + b"{bad\n" + theirs)
    put(files.folder / "messages.jsonl.bad-1", SECRET.encode())
    put(files.folder / "messages.jsonl.bad-2", b"of nobody")
    forget(stocked, group_messages=True)
    assert b"{bad\n" in files.history.read_bytes()
    assert traces(stocked, SECRET) == []
    assert (files.folder / "messages.jsonl.bad-2").exists()


def test_a_group_that_cannot_be_read_is_left_as_it_is(stocked):
    stocked.service.archive(["group"])
    packed = stocked.files("group").packed
    put(packed, packed.read_bytes()[:-12])
    before = packed.read_bytes()
    with pytest.raises(DamagedError):
        forget(stocked, group_messages=True)
    assert packed.read_bytes() == before


def test_lost_metadata_do_not_hide_a_session(stocked):
    stocked.files("own-plain").meta.unlink()
    report = forget(stocked)
    assert "own-plain" in report.ids


def test_an_agent_without_sessions_has_nothing_to_forget(tmp_path):
    assert forget(Sessions(tmp_path / "state")).sessions == 0
    assert not (tmp_path / "state").exists()


def test_damaged_lines_of_the_ledger_stay_unless_they_name_a_session_that_goes(stocked):
    with stocked.paths.ledger.open("ab") as file:
        file.write(b'{"SessionId":"own-plain","In\nof nobody\n' + b"x" * 5000 + b"\n")
    forget(stocked)
    lines = stocked.paths.ledger.read_bytes().splitlines()
    assert lines[1:] == [b"of nobody", b"x" * 5000]
