"""The table of session operations that are stopped, and what must be so afterwards.

A later operation is one more line of `OPERATIONS`. A state is what can be read of every session,
in its place or in the trash: of each one there must be what was before the operation or what is
after it, and what was acknowledged must be there.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from openclaw_cli.errors import NotFoundError
from openclaw_cli.session.context import summaries
from openclaw_cli.session.requests import ContextRequest, NewRequest, ResumeRequest
from openclaw_cli.session.resumption import checkpoints
from openclaw_cli.session.schema import COUNTERS
from openclaw_cli.store import trash
from openclaw_cli.transfer.sessions.export import SessionExport, SessionExportRequest
from openclaw_cli.transfer.sessions.importing import SessionImportRequest, import_sessions
from tests.crash.machine import Machine, Step
from tests.llm.server import completion, serving
from tests.session.support import Sessions, said
from tests.support import START

FOREIGN = "sessions.json"

# -- what there is before --------------------------------------------------------------------------


def nothing(sessions: Sessions) -> None:
    """Not even the state directory is there."""


def stocked(sessions: Sessions) -> None:
    """Sessions with and without messages, and files of others."""
    sessions.new("ant", channel="tg", chat="1", title="first", tags=("a",))
    sessions.append("ant", "hello", said("你好", "assistant", tokens=7))
    sessions.new("bee", channel="tg", chat="2")
    sessions.new("cow")
    sessions.append("cow", *(f"line {number}" for number in range(5)))
    sessions.ensure("tg", "1")
    (sessions.paths.root / FOREIGN).write_text("of another program")


def torn(sessions: Sessions) -> None:
    """What a killed writer left: a part of a message, ending inside a character."""
    stocked(sessions)
    with sessions.files("ant").history.open("ab") as history:
        history.write('{"idx":2,"role":"user","content":"中'.encode()[:-1])


def behind(sessions: Sessions) -> None:
    """Metadata from before the last messages, and a catalogue that is gone."""
    stocked(sessions)
    old = sessions.files("ant").meta.read_bytes()
    sessions.append("ant", "one more")
    sessions.files("ant").meta.write_bytes(old)
    sessions.paths.catalog.unlink()


def shortened(sessions: Sessions) -> None:
    """A history that has lost its last messages."""
    stocked(sessions)
    history = sessions.files("cow").history
    history.write_bytes(b"".join(history.read_bytes().splitlines(keepends=True)[:3]))


def archived(sessions: Sessions) -> None:
    stocked(sessions)
    sessions.service.archive(["ant"])


def deleted(sessions: Sessions) -> None:
    stocked(sessions)
    sessions.service.delete(["ant"], dry_run=False)


def thrown_away(sessions: Sessions) -> None:
    deleted(sessions)
    sessions.service.delete(["cow"], dry_run=False)


def damaged(sessions: Sessions) -> None:
    """A bad line among good ones and before a branch point, counters that are wrong."""
    stocked(sessions)
    history = sessions.files("cow").history
    lines = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(b"".join([*lines[:2], b"{bad\n", *lines[2:]]))
    sessions.service.branch("cow", "late", None)
    summary = summaries.Summary("all of it", 1, history.stat().st_size, {})
    summaries.keep(sessions.service.store, sessions.files("cow"), summary)
    meta = sessions.meta("cow")
    sessions.files("cow").meta.write_text(json.dumps({**meta, "totalInputTokens": 99}))


def at_a_batch(sessions: Sessions) -> None:
    """A history that ends in a tool batch."""
    stocked(sessions)
    call = {"id": "c1", "name": "look", "args": {}}
    sessions.append("ant", said("", "assistant", toolCalls=[call]))
    sessions.append("ant", said("found", "tool", toolCallId="c1"))


def checkpointed(sessions: Sessions) -> None:
    at_a_batch(sessions)
    storing(1)(sessions)


def badly_checkpointed(sessions: Sessions) -> None:
    at_a_batch(sessions)
    path = sessions.files("ant").checkpoint
    path.write_bytes(b'{"checkpointId":')
    path.chmod(0o600)


def packed_at_a_batch(sessions: Sessions) -> None:
    checkpointed(sessions)
    sessions.service.archive(["ant"])


def forgettable(sessions: Sessions) -> None:
    """Sessions of a user, one of them archived, one in the trash, and a group."""
    stocked(sessions)
    for name in ("dog", "eel", "fly"):
        sessions.new(name, user="u1")
        sessions.append(name, said("of u1", sender={"userId": "u1"}))
        _used(sessions, name)
    sessions.service.archive(["eel"])
    sessions.service.delete(["fly"], dry_run=False)
    sessions.new("gnu", user="u2")
    sessions.append("gnu", said("mine", sender={"userId": "u2"}))
    sessions.append("gnu", said("of u1", sender={"userId": "u1"}), said("bye", "assistant"))
    sessions.new("hen")
    sessions.append("hen", said("hers"), said("of u1", sender={"userId": "u1"}))


def recorded_before(sessions: Sessions) -> None:
    """A ledger that ends in an unfinished write."""
    stocked(sessions)
    _used(sessions, "ant")
    with sessions.paths.ledger.open("ab") as ledger:
        ledger.write(b'{"SessionId":"an')


# -- what is done ----------------------------------------------------------------------------------


def _used(sessions: Sessions, name: str) -> None:
    turn = {"SessionId": name, "ModelId": "m", "InputTokens": 1}
    sessions.service.record_usage(json.dumps(turn).encode())


def renewing(sessions: Sessions) -> object:
    return sessions.service.new(NewRequest(id="yak", channel="tg", chat="1"))


def repairing(sessions: Sessions) -> object:
    return sessions.verify(repair=True)


def forgetting(sessions: Sessions) -> object:
    return sessions.service.forget_user("u1", group_messages=True, dry_run=False)


def _travelling() -> bytes:
    """Two sessions as a file, one of them archived, one that is there already and differs."""
    with TemporaryDirectory() as name:
        other = Sessions(Path(name).resolve() / "state", moment=START)
        other.new("ant", title="other")
        other.append("ant", "elsewhere")
        other.service.branch("ant", "b", None)
        other.new("pig")
        other.append("pig", "一", "two")
        other.service.archive(["pig"])
        export = SessionExport(other.service, SessionExportRequest())
        export.check()
        return b"".join(export.pieces())


def importing(on_conflict: str) -> Callable[[Sessions], object]:
    request = SessionImportRequest("file", on_conflict)
    return lambda s: import_sessions(s.service, request, BytesIO(TRAVELLING))


TRAVELLING = _travelling()


def appending(*texts: str) -> Callable[[Sessions], object]:
    return lambda sessions: sessions.append("ant", *texts)


def storing(sequence: int) -> Callable[[Sessions], object]:
    """Store the checkpoint of the batch in which `at_a_batch` ends."""
    document = {
        "checkpointId": f"k{sequence}",
        "state": "ready_to_resume",
        "sequence": sequence,
        "historyCount": 4,
        "toolCalls": [{"callId": "c1"}],
    }
    data = json.dumps(document).encode()
    return lambda sessions: sessions.service.checkpoint("ant", BytesIO(data))


def resuming(message: str | None = None) -> Callable[[Sessions], object]:
    return lambda sessions: sessions.service.resume("ant", ResumeRequest(message))


def forking(sessions: Sessions) -> None:
    sessions.service.fork(NewRequest(id="yak"), "cow:2")


def summing_up(sessions: Sessions) -> None:
    with serving(completion("They counted lines.")) as server:
        model = {"baseUrl": server.url, "model": "small", "apiKeyEnv": "NO_SUCH_KEY"}
        context = {"threshold": 2, "keepRecent": 1, "model": model}
        settings = {"session": {"context": context}}
        (sessions.state / "openclaw.json").write_text(json.dumps(settings))
        result = sessions.service.context("cow", ContextRequest(strategy="summary"))
    assert result.data["strategy"] == "summary", result.warnings


@dataclass(frozen=True)
class Operation:
    """``steps`` is the least number of durable steps it takes.

    ``acknowledged`` is the kind of the step, and the file, from which on it is done; None: its end.
    Before that a history may hold the first messages of a batch where it is done ``partly``.
    """

    name: str
    prepare: Callable[[Sessions], object]
    run: Callable[[Sessions], object]
    steps: int
    acknowledged: tuple[str, str] | None = None
    partly: bool = False

    def __str__(self) -> str:
        return self.name


HISTORY = ("fsync", "messages.jsonl")

#: What can be done again after it was stopped, and then ends as if it had not been.
REPEATABLE = (
    Operation("import once more", stocked, importing("overwrite"), 30),
    Operation("import under new ids", stocked, importing("new-id"), 30),
    Operation("forget a user once more", forgettable, forgetting, 40),
)

OPERATIONS = (
    Operation("first new", nothing, lambda s: s.new("yak", channel="tg", chat="9"), 16),
    Operation("new of a key", stocked, renewing, 16),
    Operation("ensure makes one", stocked, lambda s: s.ensure("tg", "9"), 10),
    Operation("ensure finds one", stocked, lambda s: s.ensure("tg", "1"), 1),
    Operation("first append", stocked, lambda s: s.append("bee", "hi"), 9, HISTORY),
    Operation("append", stocked, appending("once"), 6, HISTORY),
    Operation("append a batch", stocked, appending("一", "two", "three"), 6, HISTORY, True),
    Operation("append after a crash", torn, appending("once"), 10),
    Operation("append with old metadata", behind, appending("once"), 6, HISTORY),
    Operation("append to an archived one", archived, appending("once"), 12),
    Operation("rename", stocked, lambda s: s.service.rename("ant", "另一个"), 6),
    Operation("tag", stocked, lambda s: s.service.tag("ant", ["b"], ["a"]), 6),
    Operation("sweep", stocked, lambda s: s.service.sweep(dry_run=False), 15),
    Operation("archive", stocked, lambda s: s.service.archive(["ant"]), 12),
    Operation("archive with old metadata", behind, lambda s: s.service.archive(["ant"]), 16),
    Operation("append after a loss", shortened, lambda s: s.append("cow", "hi"), 6),
    Operation("repair after a loss", shortened, repairing, 4),
    Operation("archive after a crash", torn, lambda s: s.service.archive(["ant"]), 16),
    Operation("delete", stocked, lambda s: s.service.delete(["ant", "bee"], dry_run=False), 8),
    Operation("restore", deleted, lambda s: s.service.restore(["ant"]), 4),
    Operation("trash empty", thrown_away, lambda s: s.service.trash_empty(None, dry_run=False), 10),
    Operation("first checkpoint", at_a_batch, storing(1), 5),
    Operation("checkpoint", checkpointed, storing(2), 5),
    Operation("checkpoint over a damaged one", badly_checkpointed, storing(1), 7),
    Operation("resume from a checkpoint", checkpointed, resuming(), 11),
    Operation("resume an archived one", packed_at_a_batch, resuming(), 17),
    Operation("resume with a message", stocked, resuming("go on"), 12, None, True),
    Operation("context with a summary", stocked, summing_up, 10),
    Operation("branch", stocked, lambda s: s.service.branch("cow", "draft", 2), 7),
    Operation("new from a branch", stocked, forking, 14),
    Operation("import", stocked, importing("new-id"), 30),
    Operation("record usage", recorded_before, lambda s: _used(s, "bee"), 8),
    Operation("forget a user", forgettable, forgetting, 40),
    Operation("repair", damaged, repairing, 16),
)


# -- what must be so -------------------------------------------------------------------------------

State = dict[str, Any]
#: Moments that an operation may set, and numbers that a power cut may leave behind the messages.
_LOOSE = ("lastActiveAt",)


def read(sessions: Sessions, *, twice: bool = False) -> State:
    """Return what can be read of every session: metadata, messages, and where it is.

    ``twice`` allows one to be in its place and another of its id in the trash.
    """
    found: State = {}
    try:
        rows = {row["sessionId"]: row for row in sessions.listed()}
    except NotFoundError:
        rows = {}
    for name in rows:
        shown, messages = sessions.service.show(name), sessions.messages(name)
        meta, following = sessions.show(name), messages[-1]["idx"] + 1 if messages else 0
        if following != meta["messageCount"]:
            short = "history-short" in [warning.code for warning in shown.warnings]
            assert short or meta["knownGap"] == [following, meta["messageCount"]], name
        found[_known(name)] = ("here", _firm(meta), messages, _derived(sessions, name))
    for entry in trash.entries(sessions.paths.trash):
        messages = [json.loads(line) for line in _lines(entry.path / "messages.jsonl")]
        assert entry.name not in found or twice, "in two places"
        found[f"trash {entry.name}" if twice else entry.name] = (
            "trash",
            json.loads((entry.path / "meta.json").read_text()),
            messages,
        )
    return found


def _derived(sessions: Sessions, name: str) -> State | None:
    """Return the checkpoint of a session; fail when its summary is there and cannot be used."""
    files = sessions.files(name)
    assert summaries.read(files, sessions.show(name)["messageCount"])[1] is None
    assert all(row["matches"] for row in sessions.service.branches(name).data["items"])
    checkpoint = checkpoints.read(files).checkpoint
    return checkpoint and {**checkpoint, "lastResumeAttemptAtUtc": None}


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines() if path.exists() else []


def _known(name: str) -> str:
    """Return the id, or one word for the id that a new session gets."""
    return "new" if name.startswith("s-") else name


def _firm(meta: State) -> State:
    loose = dict.fromkeys(_LOOSE)
    firm = {**meta, **loose, "sessionId": _known(meta["sessionId"])}
    firm.pop("knownGap", None)  # said before the messages go
    return firm


def check_listing(sessions: Sessions, *, counted: bool) -> None:
    """The listing says what showing each session says; after a power cut counters may be late."""
    late = () if counted else (*COUNTERS, *_LOOSE, "status")
    try:
        rows = sessions.listed()
    except NotFoundError:
        return
    for row in rows:
        shown = sessions.show(row["sessionId"])
        wrong = {n: (row[n], shown[n]) for n in shown if row[n] != shown[n] and n not in late}
        assert not wrong, wrong


@dataclass
class Record:
    """An operation as it goes when nothing stops it."""

    operation: Operation
    template: Path
    steps: list[Step] = field(default_factory=list)
    before: State = field(default_factory=dict)
    after: State = field(default_factory=dict)

    def copy(self, folder: Path) -> Sessions:
        """Make a fresh copy of the prepared state in ``folder``, with inodes and times as new."""
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.template, folder, symlinks=True)
        return self.sessions(folder)

    def sessions(self, folder: Path) -> Sessions:
        sessions = Sessions(folder / "state", moment=START)
        sessions.later(hours=1)
        return sessions

    def perform(self, folder: Path) -> object:
        return self.operation.run(self.sessions(folder))

    def is_safe(self, stopped: int) -> bool:
        """Tell whether the operation is acknowledged when step ``stopped`` is not taken."""
        wanted = self.operation.acknowledged
        done = [s.number for s in self.steps if (s.kind, s.path.name) == wanted]
        return stopped > (max(done) if done else len(self.steps))


def recorded(operation: Operation, folder: Path) -> Record:
    """Prepare ``operation``, and run it undisturbed."""
    record = Record(operation, folder / "template")
    record.template.mkdir(parents=True)
    operation.prepare(Sessions(record.template / "state"))
    sessions = record.copy(folder / "whole")
    record.before = read(sessions)
    with Machine(folder / "whole").running() as machine:
        record.perform(folder / "whole")
    record.steps = machine.steps
    record.after = read(sessions)
    return record


_ORDINARY = re.compile(
    r"catalog\.jsonl|catalog\.lock|lookup\.lock|sessions\.json"
    r"|[\w-]+|[\w-]+/(meta\.json|messages\.jsonl(\.gz)?|writer\.lock)"
    r"|[\w-]+/(checkpoint|context)\.json|[\w-]+/branches(/[\w-]+\.json)?"
    r"|[\w-]+/(messages\.jsonl|checkpoint\.json)\.(torn|bad)-\w+(\.\d+)?"
)


def check(record: Record, folder: Path, stopped: int, *, counted: bool) -> None:
    """Readers see what existed and change nothing; the next writers find nothing in their way."""
    sessions = record.sessions(folder)
    before = _tree(folder)
    found = read(sessions)
    _check_state(record, found, stopped)
    check_listing(sessions, counted=counted)
    assert _tree(folder) == before, "reading has changed a file"
    _check_recovery(record, sessions)


def _check_state(record: Record, found: State, stopped: int) -> None:
    if record.is_safe(stopped):
        assert found == record.after
        return
    for name in found.keys() | record.before.keys() | record.after.keys():
        allowed = [record.before.get(name), record.after.get(name)]
        if record.operation.partly and _is_between(found[name], *allowed):
            continue
        assert found.get(name) in allowed, (name, found.get(name), allowed)


def _is_between(found: tuple, before: tuple, after: tuple) -> bool:
    """Tell whether a history has some of the messages of a batch, and all that were there."""
    count = len(found[2])
    return len(before[2]) <= count and found[2] == after[2][:count]


def _check_recovery(record: Record, sessions: Sessions) -> None:
    """Everything can be written to afterwards, once, and nothing is left lying about."""
    sessions.new("otter", channel="zoo", chat="1")
    for name in [row["sessionId"] for row in sessions.listed()]:
        before, due = sessions.messages(name), sessions.show(name)["messageCount"]
        first = sessions.append(name, "after all").data["firstIdx"]
        assert sessions.messages(name) == [*before, sessions.messages(name, 1)[0]]
        assert first == due
    result = sessions.verify(repair=True)
    assert "failed" not in result.data, result.data["failed"]
    check_listing(sessions, counted=True)
    if sessions.paths.trash.is_dir():
        sessions.service.trash_empty(sessions.moment.replace(year=2000), dry_run=False)
        left = [p.name for p in sessions.paths.trash.iterdir()]
        assert not [name for name in left if name.startswith(".")], left
    root = sessions.paths.root
    left = [str(path.relative_to(root)) for path in root.rglob("*")]
    assert not [name for name in left if not _ORDINARY.fullmatch(name)], left
    if "ant" in record.before:
        assert (root / FOREIGN).read_text() == "of another program"


def _tree(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
