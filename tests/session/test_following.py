"""Following a history: what others append is seen, once, through packing and unpacking."""

from __future__ import annotations

from openclaw_cli.clock import Clock
from openclaw_cli.session import following
from openclaw_cli.session.following import follow
from tests.session.support import jsonl, said


class Stepping(Clock):
    """A clock at whose every pause something happens elsewhere."""

    steps: list

    def sleep(self, _seconds: float) -> None:
        self.steps.pop(0)()


def test_messages_are_yielded_as_they_come_until_the_session_is_deleted(sessions):
    sessions.new("ant")
    sessions.append("ant", "zero", "one")
    files = sessions.files("ant")

    def tear(data: bytes):
        with files.history.open("ab") as history:
            history.write(data)

    clock = Stepping(sessions.moment)
    clock.steps = [
        lambda: sessions.append("ant", "two"),
        lambda: tear('{"idx":3,"role":"user","content":"中'.encode()[:-1]),
        lambda: sessions.append("ant", "three"),
        lambda: sessions.service.archive(["ant"]),
        lambda: None,
        lambda: sessions.append("ant", "four", "five"),
        lambda: sessions.service.delete(["ant"], dry_run=False),
    ]
    store, told = sessions.service.store, []
    store.env = store.env._replace(clock=clock)
    found = [message["content"] for message in follow(store, files, 0, told.append)]
    assert told == []
    assert found == ["one", "two", "three", "four", "five"]
    assert clock.steps == []


def followed(sessions, *steps):
    """Return what is yielded and told of a session of two messages while steps are taken."""
    sessions.new("ant")
    sessions.append("ant", "zero", "one")
    clock = Stepping(sessions.moment)
    clock.steps = [*steps, lambda: sessions.service.delete(["ant"], dry_run=False)]
    store, told = sessions.service.store, []
    store.env = store.env._replace(clock=clock)
    messages = list(follow(store, sessions.files("ant"), 1, told.append))
    assert clock.steps == []
    return [message["content"] for message in messages], [warning.message for warning in told]


def test_a_line_too_long_to_hold_is_told_once_and_passed_over(sessions, monkeypatch):
    monkeypatch.setattr(following, "LINE_LIMIT", 1000)
    history = sessions.files("ant").history

    def put(data: bytes):
        with history.open("ab") as target:
            target.write(data)

    found, told = followed(
        sessions,
        lambda: put(b'{"idx":2,"content":"' + b"x" * 900),
        lambda: put(b"x" * 5000),
        lambda: put(b"x" * 50),
        lambda: put(b'"}\n' + jsonl(said("three", idx=3)) + b"y" * 3000 + b"\n"),
        lambda: put(jsonl(said("five", idx=5))),
    )
    assert found == ["three", "five"]
    assert len(told) == 2
    assert all("it is longer than" in message for message in told)


def test_nothing_is_read_while_nothing_is_appended(sessions, monkeypatch):
    history = sessions.files("ant").history

    def forbid():
        # What is still being written is not read again and again.
        monkeypatch.setattr(following, "lines_of", None)
        monkeypatch.setattr(following._Reader, "_lines", None)

    def tear():
        with history.open("ab") as target:
            target.write(b'{"idx":2,"content":"' + b"x" * 9000)

    assert followed(sessions, tear, lambda: None, forbid, lambda: None) == ([], [])


def test_a_line_whose_idx_was_used_before_is_shown(sessions):
    history = sessions.files("ant").history

    def put(*messages):
        with history.open("ab") as target:
            target.write(jsonl(*messages))

    found, told = followed(
        sessions,
        lambda: put(said("again", idx=0)),
        lambda: put(said("and two", idx=2), said("once more", idx=2)),
        lambda: sessions.service.archive(["ant"]),
        lambda: sessions.append("ant", "three"),
    )
    assert found == ["again", "and two", "once more", "three"]
    assert told == []


def test_whole_messages_in_a_damaged_line_are_shown_and_told(sessions):
    history = sessions.files("ant").history
    glued = jsonl(said("two", idx=2)).rstrip() + jsonl(said("three", idx=3))
    found, told = followed(sessions, lambda: history.write_bytes(history.read_bytes() + glued))
    assert found == ["two", "three"]
    assert len(told) == 2
