"""Sessions travel in files: everything comes back, each session whole or not at all."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from html.parser import HTMLParser
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.errors import (
    DamagedError,
    FormatTooNewError,
    FormatTooOldError,
    NotFoundError,
    UsageError,
)
from openclaw_cli.session.requests import NewRequest
from openclaw_cli.transfer.sessions.export import (
    SessionExport,
    SessionExportRequest,
    export_sessions,
)
from openclaw_cli.transfer.sessions.importing import SessionImportRequest, import_sessions
from openclaw_cli.transfer.sessions.readable import FORMS
from tests.session.support import Sessions, put, said


def exported(sessions, *ids, **options) -> bytes:
    export = SessionExport(sessions.service, SessionExportRequest(ids, **options))
    export.check()
    data = b"".join(export.pieces())
    assert export.result().data["failed"] == []
    return data


def imported(sessions, data: bytes, **options):
    request = SessionImportRequest("file", **options)
    return import_sessions(sessions.service, request, BytesIO(data))


def counts(result) -> dict:
    data = result.data
    names = ("added", "skipped", "overwritten", "renamed", "refused")
    assert data["read"] == sum(data[name] for name in names)
    return {name: data[name] for name in names if data[name]}


@pytest.fixture
def sessions(tmp_path):
    sessions = Sessions(tmp_path / "state")
    sessions.new("ant", channel="tg", chat="1", user="u1", title="标题", tags=("a",))
    call = {"id": "c1", "name": "sh", "args": {"x": [1, 2.50, None]}}
    sessions.append(
        "ant",
        said("你好", sender={"userId": "u2"}),
        said("", "assistant", toolCalls=[call], mine={"b": 1, "a": 2}),
        said("ok", "tool", toolCallId="c1"),
    )
    sessions.service.branch("ant", "here", 1)
    sessions.later(hours=1)
    sessions.new("bee")
    sessions.append("bee", "x")
    sessions.service.archive(["bee"])
    sessions.new("cow")
    return sessions


@pytest.fixture
def other(tmp_path):
    return Sessions(tmp_path / "other")


def test_everything_comes_back(sessions, other):
    data = exported(sessions)
    assert counts(imported(other, data)) == {"added": 3}
    for name in ("ant", "bee", "cow"):
        assert other.meta(name) == sessions.meta(name)
        assert other.messages(name) == sessions.messages(name)
    assert other.files("bee").packed.exists()
    assert not other.files("bee").history.exists()
    assert other.service.branches("ant").data == sessions.service.branches("ant").data
    other.sound()
    assert exported(other) == data


@pytest.mark.parametrize("archived", [False, True])
def test_branch_points_of_lines_that_others_wrote_fit_on_the_other_machine(
    sessions, other, archived
):
    files = sessions.files("ant")
    first, *more = files.history.read_bytes().splitlines()
    cut = b'{"idx":3,"role":"user","content":"\\ud83d \\ud83d\\ude00"}'
    lines = [b"\xef\xbb\xbf" + first, *more, cut]
    files.history.write_bytes(b"".join(b" " + line + b" \r\n\n" for line in lines))
    for name, at in (("first", 0), ("second", 1), ("all", None), ("edited", 3)):
        sessions.service.branch("ant", name, at)
    point = files.branches / "edited.json"
    edited = json.loads(point.read_bytes()) | {"sha256": "0" * 64}
    point.write_text(json.dumps(edited))
    if archived:
        sessions.service.archive(["ant"])
    data = exported(sessions, "ant")
    assert counts(imported(other, data)) == {"added": 1}
    found = other.service.branches("ant").data["items"]
    assert {item["name"]: item["matches"] for item in found} == {
        "all": True,
        "edited": False,
        "first": True,
        "here": True,
        "second": True,
    }
    assert all("messages" not in item for item in found)
    child = other.service.fork(NewRequest(), "ant:second").data["sessionId"]
    assert other.messages(child) == sessions.messages("ant")[:2]
    assert other.contents("ant")[-1] == sessions.contents("ant")[-1] == "\ufffd \U0001f600"
    assert counts(imported(other, data)) == {"skipped": 1}


def test_a_file_is_written_whole_and_packed_by_its_name(sessions, other, tmp_path):
    path = tmp_path / "out.jsonl.gz"
    result = export_sessions(sessions.service, SessionExportRequest((), path))
    assert gzip.decompress(path.read_bytes()) == exported(sessions)
    assert (result.data["sessions"], result.data["messages"]) == (3, 4)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="there already"):
        export_sessions(sessions.service, SessionExportRequest((), path))
    export_sessions(sessions.service, SessionExportRequest((), path, force=True))
    assert counts(imported(other, path.read_bytes())) == {"added": 3}


def test_named_sessions_only_and_one_that_is_not_there_is_an_error(sessions):
    lines = exported(sessions, "bee").splitlines()
    assert json.loads(lines[0])["sessions"] == 1
    with pytest.raises(NotFoundError):
        exported(sessions, "nothing-there")


def test_damaged_lines_are_left_out_and_told(sessions):
    history = sessions.files("ant").history
    put(history, history.read_bytes() + b"{bad\n")
    export = SessionExport(sessions.service, SessionExportRequest(("ant",)))
    export.check()
    assert b"{bad" not in b"".join(export.pieces())
    failed = export.result().data["failed"]
    assert [f["id"] for f in failed] == ["ant"]
    assert failed[0]["reason"].startswith("line 4: no JSON")


def test_what_is_there_is_skipped_renamed_or_overwritten(sessions):
    data = exported(sessions, "ant")
    assert counts(imported(sessions, data)) == {"skipped": 1}
    assert counts(imported(sessions, data, on_conflict="overwrite")) == {"skipped": 1}
    sessions.append("ant", "one more")
    result = imported(sessions, data, on_conflict="new-id")
    assert counts(result) == {"renamed": 1}
    new = result.data["renamedIds"][0]["to"]
    assert sessions.messages(new) == sessions.messages("ant")[:-1]
    assert counts(imported(sessions, data, on_conflict="new-id")) == {"skipped": 1}
    assert counts(imported(sessions, data, on_conflict="overwrite")) == {"overwritten": 1}
    assert len(sessions.messages("ant")) == 3
    assert [e["sessionId"] for e in sessions.service.trash_list().data["items"]] == ["ant"]
    sessions.sound()


def test_a_dry_run_says_the_same_and_writes_nothing(sessions, other):
    data = exported(sessions)
    assert counts(imported(other, data, dry_run=True)) == {"added": 3}
    assert not other.state.exists()


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'{"message":{"idx":1', b'{"message":{"idx":-1', "no idx"),
        (b'"sessionId":"ant","status"', b'"sessionId":null,"status"', "no session id"),
        (b'"overrides":{}', b'"overrides":%s' % (b"[" * 300 + b"]" * 300), "nested"),
        (b'"overrides":{}', b'"overrides":%s' % (b"[" * 242 + b"]" * 242), "overrides is nested"),
        (b'"toolCallId"', b'"x":%s,"toolCallId"' % (b"[" * 240 + b"]" * 240), "nested"),
        ("你好".encode(), "他好".encode(), "digest differs"),
        (b'"messages":3', b'"messages":4', "3 messages where 4 are due"),
        (b'"sessionId":"ant","messages"', b'"sessionId":"any","messages"', "another session"),
        (b'"sessionId":"ant","status"', b'"sessionId":"../x","status"', "no session id"),
        (b'"status":"active"', b'"status":"busy"', "the metadata cannot be used"),
        (b'{"message":{"idx":2', b'{"massage":{"idx":2', "neither a session"),
        (b'{"message":{"idx":2', b'"message":{"idx":2', "no JSON"),
    ],
)
def test_a_bad_session_is_left_out_with_its_line_and_the_others_are_read(
    sessions, other, old, new, reason
):
    data = exported(sessions)
    assert old in data
    result = imported(other, data.replace(old, new, 1))
    assert counts(result) == {"added": 2, "refused": 1}
    assert len(result.data["failed"]) == 1
    assert reason in result.data["failed"][0]["reason"]
    assert 2 <= result.data["failed"][0]["line"] <= 6
    assert [row["sessionId"] for row in other.listed(sort="created")] == ["cow", "bee"]
    assert [p.name for p in other.paths.incoming.iterdir()] == ["import.lock"]
    other.sound()


@pytest.mark.parametrize("cut", [1, 3, 5])
def test_a_file_that_ends_too_early_is_told(sessions, other, cut):
    lines = exported(sessions).splitlines(keepends=True)
    result = imported(other, b"".join(lines[:cut]))
    assert result.data["failed"]
    assert other.listed() == [] if other.paths.root.exists() else True


@pytest.mark.parametrize(
    ("header", "error"),
    [
        ({"kind": "openclaw.sessions", "version": "3.0"}, FormatTooNewError),
        ({"kind": "openclaw.sessions", "version": "1.9"}, FormatTooOldError),
        ({"kind": "openclaw.sessions", "version": "x"}, UsageError),
        ({"kind": "openclaw.memories", "version": "2.0"}, UsageError),
        ({"records": []}, UsageError),
    ],
)
def test_another_file_is_refused_before_anything_is_done(other, header, error):
    with pytest.raises(error):
        imported(other, json.dumps(header).encode() + b"\n")
    assert not other.state.exists()


@given(st.lists(st.binary(max_size=60), max_size=6), st.randoms())
def test_any_bytes_give_a_result_or_an_error_of_ours(tmp_path_factory, pieces, chance):
    from openclaw_cli.errors import OpenclawError

    sessions = Sessions(tmp_path_factory.mktemp("s") / "state")
    sessions.new("ant")
    sessions.append("ant", "一", "two")
    data = bytearray(exported(sessions))
    for piece in pieces:
        at = chance.randrange(len(data) + 1)
        data[at : at + chance.randrange(9)] = piece
    other = Sessions(tmp_path_factory.mktemp("o") / "state")
    try:
        counts(imported(other, bytes(data)))
    except OpenclawError:
        return
    if other.paths.exists():
        other.sound()


def test_memory_does_not_grow_with_the_history(sessions, other, tmp_path):
    lines = b"".join(
        b'{"idx":%d,"role":"user","content":"%b"}\n' % (n, b"x" * 1000) for n in range(20_000)
    )
    sessions.new("big")
    put(sessions.files("big").history, lines)
    path = tmp_path / "big.jsonl"
    tracemalloc.start()
    export_sessions(sessions.service, SessionExportRequest(("big",), path))
    with path.open("rb") as stream:
        import_sessions(other.service, SessionImportRequest("file"), stream)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 << 20
    assert len(other.messages("big")) == 20_000


EVIL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</pre><script>x</script>",
    "'\" onmouseover='x",
    "```\n<b>\n```\n# heading",
    "````\n[a](javascript:x)",
    "\u202egnp.exe\x1b[31m",
)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.mark.parametrize("evil", EVIL)
def test_a_page_shows_what_was_said_and_runs_nothing(tmp_path, evil):
    sessions = Sessions(tmp_path / "state")
    sessions.service.new(NewRequest(id="ant", title=evil, channel=evil, user=evil))
    call = {"id": evil, "name": evil, "args": {evil: evil}}
    sessions.append(
        "ant", said(evil, sender={"userId": evil}), said("x", "assistant", toolCalls=[call])
    )
    page = Page()
    page.feed(exported(sessions, "ant", format="html").decode())
    allowed = {
        *("html", "head", "meta", "title", "style", "body", "h1", "dl", "dt", "dd", "article"),
        *("header", "pre", "div"),
    }
    assert {tag for tag, _attrs in page.tags} <= allowed
    names = {name for _tag, attrs in page.tags for name in attrs}
    assert names <= {"charset", "http-equiv", "content", "name", "class"}
    shown = "".join(page.texts)
    assert not {"\x1b", "\u202e"} & set(shown)
    if "`" not in evil and "\x1b" not in evil:
        assert shown.count(evil) >= 5


@pytest.mark.parametrize("evil", EVIL)
def test_markdown_keeps_what_was_said_inside_of_its_fence(evil):
    lines = FORMS["markdown"].message({"idx": 0, "role": "user", "content": evil}).decode()
    fence = next(line for line in lines.splitlines() if line.startswith("```"))[: -len("text")]
    inside = lines.split(fence + "text\n", 1)[1].split("\n" + fence + "\n", 1)
    assert len(inside) == 2
    assert fence not in inside[0]
    assert inside[1].strip() == ""
    assert inside[0] == evil or "\ufffd" in inside[0]


def test_transcripts_keep_chinese_and_code(sessions):
    sessions.append("ant", "看：\n```python\nif a < b:\n    print('你')\n```\n完")
    page = exported(sessions, "ant", format="html").decode()
    assert "<pre class='code'>if a &lt; b:\n    print(&#x27;你&#x27;)\n</pre>" in page
    assert "标题" in exported(sessions, "ant", format="markdown").decode()


# -- every whole message, or it is said ------------------------------------------------------------


def export_of(sessions, *ids, **options):
    """Return what is written, its messages by session, and the result."""
    export = SessionExport(sessions.service, SessionExportRequest(ids, **options))
    export.check()
    data = b"".join(export.pieces())
    return data, export.result()


def contents_of(data: bytes) -> list[str]:
    rows = map(json.loads, data.splitlines())
    return [row["message"]["content"] for row in rows if "message" in row]


def reasons(result) -> list[tuple[str, str]]:
    return [(failed["id"], failed["reason"]) for failed in result.data["failed"]]


@pytest.mark.parametrize("status", ["active", "archived"])
@pytest.mark.parametrize("format_", FORMS)
def test_metadata_from_yesterday_leave_no_message_out(sessions, other, status, format_):
    sessions.new("old")
    sessions.append("old", "one", "two")
    old = {**sessions.meta("old"), "status": status}
    sessions.append("old", "three", "four", "five")
    sessions.service.archive(["old"])
    put(sessions.files("old").meta, json.dumps(old).encode())
    data, result = export_of(sessions, "old")
    assert contents_of(data) == ["one", "two", "three", "four", "five"]
    assert [w.code for w in result.warnings] == ["counter-differs"] * (status == "archived")
    readable, _result = export_of(sessions, "old", format=format_)
    assert b"five" in readable
    imported(other, data)
    assert other.append("old", "six").data["firstIdx"] == 5


def test_messages_out_of_order_are_exported_as_they_stand(sessions):
    history = sessions.files("cow").history
    put(
        history,
        b"".join(
            b'{"idx":%d,"role":"user","content":"m%d"}\n' % (n, n) for n in (0, 1, 5000, 2, 3)
        ),
    )
    data, result = export_of(sessions, "cow")
    assert contents_of(data) == ["m0", "m1", "m5000", "m2", "m3"]
    assert result.exit_status == 0


def test_a_session_deleted_meanwhile_is_listed_and_not_exported_empty(sessions, other):
    export = SessionExport(sessions.service, SessionExportRequest())
    export.check()
    pieces = export.pieces()
    data = b"".join(next(pieces) for _ in range(3))
    sessions.service.delete(["ant", "bee"], dry_run=False)
    data += b"".join(pieces)
    assert reasons(export.result()) == [("bee", "it was deleted while the export went on")]
    imported(other, data)
    assert {row["sessionId"] for row in other.listed(("active", "archived"))} == {"ant", "cow"}
    assert other.messages("ant")[0]["content"] == "你好"


def test_what_is_appended_meanwhile_is_left_for_the_next_time(sessions, other):
    export = SessionExport(sessions.service, SessionExportRequest(("ant",)))
    export.check()
    pieces = export.pieces()
    data = b"".join(next(pieces) for _ in range(2))
    sessions.append("ant", "later")
    data += b"".join(pieces)
    assert export.result().data["failed"] == []
    assert counts(imported(other, data)) == {"added": 1}
    assert other.meta("ant")["messageCount"] == len(other.messages("ant")) == 3


@pytest.mark.parametrize("kind", ["gone", "cut", "emptied", "unpackable"])
def test_messages_that_are_missing_are_a_failure(sessions, other, kind):
    files = sessions.files("ant")
    if kind == "gone":
        files.history.unlink()
    elif kind == "cut":
        files.history.write_bytes(files.history.read_bytes().splitlines(keepends=True)[0])
    elif kind == "emptied":
        files.history.write_bytes(b"")
    else:
        files = sessions.files("bee")
        put(files.packed, b"")
    data, result = export_of(sessions, files.id)
    assert result.exit_status == 3
    assert {failed["id"] for failed in result.data["failed"]} == {files.id}
    imported(other, data)
    count = 1 if files.id == "bee" else 3
    assert other.append(files.id, "next").data["firstIdx"] == count


def test_a_session_that_cannot_be_read_fails_and_the_others_are_exported(sessions, tmp_path):
    files = sessions.files("ant")
    files.history.rename(tmp_path / "elsewhere")
    files.history.symlink_to(tmp_path / "elsewhere")
    for catalogue in (True, False):
        if not catalogue:
            sessions.paths.catalog.unlink()
        for ids in ((), ("ant", "bee", "cow")):
            _data, result = export_of(sessions, *ids)
            assert (result.exit_status, result.data["sessions"]) == (3, 2)
            assert [failed["id"] for failed in result.data["failed"]] == ["ant"]
    with pytest.raises(DamagedError):
        export_of(sessions, "ant")
