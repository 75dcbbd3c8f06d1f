"""What other programs have written into a session comes back from a backup, or is told."""

from __future__ import annotations

import json
from io import BytesIO

import orjson
import pytest

from openclaw_cli.errors import StorageError
from openclaw_cli.session.requests import ContextRequest, SearchRequest
from openclaw_cli.transfer.sessions.export import SessionExport, SessionExportRequest
from openclaw_cli.transfer.sessions.importing import SessionImportRequest, import_sessions
from openclaw_cli.transfer.sessions.readable import FORMS
from tests.session.support import Sessions, jsonl, put, said

CHECKPOINT = {
    "checkpointId": "a",
    "state": "completed",
    "sequence": 1,
    "historyCount": 2,
}


@pytest.fixture
def sessions(tmp_path):
    sessions = Sessions(tmp_path / "state")
    sessions.new("ant", channel="tg", chat="1", title="标题")
    sessions.append("ant", "one", said("two", "assistant", tokens=3))
    sessions.service.branch("ant", "ok", 1)
    sessions.service.checkpoint("ant", BytesIO(orjson.dumps(CHECKPOINT)))
    sessions.new("bee")
    sessions.append("bee", "after")
    return sessions


@pytest.fixture
def other(tmp_path):
    return Sessions(tmp_path / "other")


def exported(sessions, *ids, form=None):
    export = SessionExport(sessions.service, SessionExportRequest(ids, None, form))
    export.check()
    return b"".join(export.pieces()), export.result().data["failed"]


def imported(sessions, data: bytes, **options):
    request = SessionImportRequest("file", **options)
    return import_sessions(sessions.service, request, BytesIO(data))


def add(sessions, *messages: dict | bytes) -> None:
    """Put lines into the history as another program would."""
    history = sessions.files("ant").history
    put(history, history.read_bytes() + jsonl(*messages))


ODD = [
    {"idx": 0, **said("a number that was there already")},
    {"idx": 2, "role": "developer", "content": "x"},
    {"idx": 2, "role": None, "content": "x"},
    {"idx": 2, "role": ["user"], "content": "x"},
    {"idx": 2, "content": "x"},
    {"idx": 2, **said("x"), "content": [{"type": "text", "text": "parts"}]},
    {"idx": 2, **said("x"), "content": None},
    {"idx": 2, "role": "user"},
    {"idx": 2, **said("x", ts=1750000000)},
    {"idx": 2, **said("x", ts="yesterday")},
    {"idx": 2, **said("x", tokens=3.5)},
    {"idx": 2, **said("x", tokens=(1 << 64) - 1, cost=1e308, cacheReadTokens=-4)},
    {"idx": 2, **said("x", sender="me")},
    {"idx": 2, **said("x", "tool", toolCallId=5)},
    {"idx": 2, **said("x", "assistant", toolCalls=5)},
    {"idx": 2, **said("x", "assistant", toolCalls=[{"id": 1}, 5])},
    {"idx": 1, **said("again")},
    {"idx": 5000, **said("far ahead")},
    b'{"role":"user" , "content":"\\u4f60", "idx":2,\t"x":1.50}  \r\n',
    b'{"idx":2,"message":{},"session":{},"role":"user","content":"x"}\n',
]


_TS = (str, type(None))


@pytest.mark.parametrize("archived", [False, True])
@pytest.mark.parametrize("line", ODD, ids=lambda line: str(line)[:50])
def test_an_odd_message_comes_back_as_it_is(sessions, other, line, archived):
    add(sessions, line)
    if archived:
        sessions.service.archive(["ant"])
    wanted = sessions.messages("ant")
    data, failed = exported(sessions)
    assert failed == []
    result = imported(other, data)
    assert (result.data["added"], result.data["refused"], result.data["failed"]) == (2, 0, [])
    assert result.data["messages"] == len(wanted) + 1
    assert other.messages("ant") == wanted
    assert other.show("ant")["messageCount"] == sessions.show("ant")["messageCount"]
    assert [row["sessionId"] for row in other.listed()] == ["bee", "ant"]
    assert exported(other)[0] == data
    assert imported(other, data).data["skipped"] == 2
    assert imported(other, data, on_conflict="overwrite").data["skipped"] == 2


@pytest.mark.parametrize("line", [line for line in ODD if isinstance(line, dict)], ids=str)
def test_an_odd_message_stops_no_reader(sessions, line):
    add(sessions, line)
    for form in ("json", "text", "openai", "anthropic"):
        data = sessions.service.context("ant", ContextRequest(format=form)).data
        assert orjson.dumps({"data": data})
    for roles in ((), ("user",)):
        found = sessions.service.search(SearchRequest("x", roles=roles)).data["results"]
        assert all(type(hit["role"]) is str and type(hit["ts"]) in _TS for hit in found)
    for form in FORMS:
        assert exported(sessions, form=form)[0]
    sessions.append("ant", "next")
    assert sessions.contents("ant", 1) == ["next"]
    codes = {found["code"] for found in sessions.verify(repair=True).data.get("failed", [])}
    assert codes <= {"idx-repeated"}


def test_messages_of_one_idx_and_those_in_parts_are_found(sessions):
    parts = [{"type": "text", "text": "the needle in parts"}]
    add(sessions, *({"idx": 1, **said(f"needle {number}", ts=None)} for number in range(30)))
    add(sessions, {"idx": 2, "role": "user", "content": parts})
    found = sessions.service.search(SearchRequest("needle", limit=10)).data["results"]
    assert [hit["idx"] for hit in found] == [2, *[1] * 9]
    assert found[0]["snippet"] == "the needle in parts"


def test_a_warning_names_what_is_odd(sessions, other):
    add(sessions, *({"idx": idx, "role": "developer", "content": "x"} for idx in range(2, 12)))
    result = imported(other, exported(sessions)[0])
    assert [warning.code for warning in result.warnings] == ["odd-messages"]
    said_of_it = result.warnings[0].message
    assert said_of_it.startswith("session ant: kept as they are: message 2: role 'developer'")
    assert said_of_it.endswith("; 5 more")


def test_an_exact_count_still_proves_a_session_with_repeated_idx(sessions, other):
    add(sessions, {"idx": 1, **said("again")})
    data, _failed = exported(sessions)
    lines = data.splitlines(keepends=True)
    without = b"".join(line for line in lines if b"again" not in line)
    assert imported(other, without).data["failed"][0]["reason"] == "2 messages where 3 are due"
    twice = b"".join(line * (2 if b"again" in line else 1) for line in lines)
    assert imported(other, twice).data["refused"] == 1


@pytest.mark.parametrize(
    "content", [b"{}", b"5", b"{bad", b"", b'{"name":"x","idx":0}', b"[" * 300 + b"]" * 300]
)
def test_a_damaged_branch_or_checkpoint_is_left_out_and_told(sessions, other, content):
    files = sessions.files("ant")
    put(files.branches / "x.json", content)
    put(files.checkpoint, content)
    data, failed = exported(sessions)
    assert [failure["id"] for failure in failed] == ["ant", "ant"]
    assert sorted(failure["reason"].split(":")[0] for failure in failed) == [
        "branch x",
        "checkpoint.json",
    ]
    assert imported(other, data).data["added"] == 2
    assert [item["name"] for item in other.service.branches("ant").data["items"]] == ["ok"]
    assert not other.files("ant").checkpoint.exists()
    other.sound()


def test_foreign_files_among_the_branches_are_not_ours(sessions):
    for name in ("notes.txt", "no name.json", ".hidden.json"):
        put(sessions.files("ant").branches / name, b"theirs")
    assert exported(sessions)[1] == []
    sessions.sound()


def test_a_copied_branch_keeps_its_name(sessions, other):
    folder = sessions.files("ant").branches
    put(folder / "copy.json", (folder / "ok.json").read_bytes())
    assert imported(other, exported(sessions)[0]).data["added"] == 2
    assert [item["name"] for item in other.service.branches("ant").data["items"]] == ["copy", "ok"]


def test_branches_of_a_renamed_session_are_its_own(sessions):
    data, _failed = exported(sessions, "ant")
    sessions.append("ant", "more")
    new_id = imported(sessions, data, on_conflict="new-id").data["renamedIds"][0]["to"]
    stored = json.loads((sessions.files(new_id).branches / "ok.json").read_bytes())
    assert (stored["sessionId"], stored["name"]) == (new_id, "ok")
    assert sessions.service.branches(new_id).data["items"][0]["matches"]


@pytest.mark.parametrize(
    "old_and_new",
    [
        (b'"branches":[{', b'"branches":[{},5,null,[],{"name":null},{"name":"../x"},{'),
        (b'"name":"ok"', b'"nome":"ok"'),
        (b'"name":"ok"', b'"name":5'),
        (b'"name":"ok"', b'"name":{}'),
        (b'"branches":[', b'"branches":5,"b":['),
        (b'"branches":[', b'"branches":{"a":1},"b":['),
        (b'"branches":[{', b'"branches":[%s,{' % (b"[" * 400 + b"]" * 400)),
        (b'"branches":[{', b'"branches":[{"x":%s,' % (b"[" * 400 + b"]" * 400)),
        (b'"checkpoint":{', b'"checkpoint":{"x":%s,' % (b"[" * 400 + b"]" * 400)),
        (b'"checkpoint":{', b'"checkpoint":5,"b":{'),
        (b'"checkpoint":{', b'"checkpoint":[],"b":{'),
    ],
    ids=lambda pair: pair[1][:40].decode(),
)
def test_branches_and_checkpoints_of_any_kind_stop_no_import(sessions, other, old_and_new):
    data, _failed = exported(sessions)
    assert old_and_new[0] in data
    result = imported(other, data.replace(*old_and_new, 1))
    assert (result.data["added"], result.data["failed"]) == (2, [])
    codes = {warning.code for warning in result.warnings}
    assert codes in ({"branch-left-out"}, {"checkpoint-left-out"})
    assert other.contents("ant") == ["one", "two"]
    other.sound()


@pytest.mark.parametrize(
    "line",
    [
        b'{"message":{"idx":2,"role":"user","content":"x"},"message":{"idx":3}}',
        b'{"message":{"idx":2,"role":"user","content":"x"},"more":1}',
        b' {"message": {"idx":2,"role":"user","content":"x"} } ',
    ],
)
def test_only_whole_messages_reach_a_history(sessions, other, line):
    data, _failed = exported(sessions, "ant")
    lines = data.splitlines()
    end = json.loads(lines[-1])
    del end["end"]["sha256"]
    end["end"]["messages"] += 1
    result = imported(other, b"\n".join([*lines[:-1], line, json.dumps(end).encode()]))
    assert result.data["added"] == 1
    stored = other.files("ant").history.read_bytes().splitlines()
    assert [json.loads(raw)["idx"] for raw in stored][:2] == [0, 1]
    assert len(other.messages("ant")) == 3


@pytest.mark.parametrize("end", [b'{"end":{"sessionId":"ant","messages":%s}}', b"%s"])
def test_a_line_that_nests_too_deeply_refuses_its_session_only(sessions, other, end):
    data, _failed = exported(sessions)
    lines = data.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith(b'{"end"'))
    lines[place] = end % (b"[" * 900 + b"]" * 900)
    result = imported(other, b"\n".join(lines))
    assert (result.data["added"], result.data["refused"]) == (1, 1)
    assert [row["sessionId"] for row in other.listed()] == ["bee"]


def test_a_history_that_cannot_be_opened_stops_no_other_session(sessions, other):
    data, _failed = exported(sessions)
    imported(other, data)
    other.append("bee", "more")
    history = other.files("ant").history
    history.unlink()
    history.symlink_to(sessions.files("ant").history)
    result = imported(other, data, on_conflict="overwrite")
    assert (result.data["overwritten"], result.data["refused"]) == (1, 1)
    assert "not a regular file" in result.data["failed"][0]["reason"]
    assert other.contents("bee") == ["after"]


def test_nothing_is_made_outside_of_the_store(sessions, other, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".x.tmp-1").write_text("theirs")
    other.new("cow")
    other.paths.incoming.symlink_to(outside)
    with pytest.raises(StorageError, match="leads out of the state directory"):
        imported(other, exported(sessions)[0])
    assert [path.name for path in outside.iterdir()] == [".x.tmp-1"]


def test_a_link_in_place_of_the_branches_is_told(sessions, tmp_path):
    folder = sessions.files("ant").branches
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    data, failed = exported(sessions, "ant")
    assert [failure["id"] for failure in failed] == ["ant"]
    assert "is not a folder" in failed[0]["reason"]
    assert data.count(b'{"message":') == 2
