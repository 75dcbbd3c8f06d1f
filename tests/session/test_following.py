"""Following a history: what others append is seen, once, through packing and unpacking."""

from __future__ import annotations

from openclaw_cli.clock import Clock
from openclaw_cli.session.following import follow


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
    store = sessions.service.store
    store.env = store.env._replace(clock=clock)
    found = [message["content"] for message in follow(store, files, 0)]
    assert found == ["one", "two", "three", "four", "five"]
    assert clock.steps == []
