"""Verification reads everything; repair keeps every whole message and sets the rest aside."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path

import pytest

from openclaw_cli.session.context import summaries
from openclaw_cli.session.context.summaries import Summary
from tests.session.support import put, said
from tests.session.test_branches import fork


@pytest.fixture
def ant(sessions):
    sessions.new("ant")
    sessions.append("ant", *[said(f"m{n}", tokens=n) for n in range(6)])
    return "ant"


def codes(result) -> list[str]:
    return [failed["code"] for failed in result.data.get("failed", [])]


def rewrite(sessions, change) -> bytes:
    history = sessions.files("ant").history
    lines = history.read_bytes().splitlines(keepends=True)
    history.write_bytes(b"".join(change(lines)))
    return history.read_bytes()


def test_a_sound_session_has_no_problems(sessions, ant):
    result = sessions.verify()
    assert (result.data["checked"], result.data["messages"]) == (1, 6)
    assert (result.data["problems"], result.warnings, result.exit_status) == ([], (), 0)


LINES = {
    "bad": (lambda lines: [*lines[:2], b"{bad\n", *lines[2:]], ["history-damaged"], 6),
    "zeros": (lambda lines: [*lines[:2], bytes(50) + lines[2], *lines[3:]], ["history-damaged"], 6),
    "torn": (lambda lines: [*lines, lines[0][:-5]], ["torn-tail"], 6),
    "both": (lambda lines: [b"\xff\n", *lines, bytes(9)], ["history-damaged", "torn-tail"], 6),
}


@pytest.mark.parametrize("kind", LINES)
@pytest.mark.parametrize("packed", [False, True])
def test_damage_is_found_and_repair_keeps_every_whole_message(sessions, ant, kind, packed):
    change, found, count = LINES[kind]
    data = rewrite(sessions, change)
    if packed:
        files = sessions.files(ant)
        put(files.packed, gzip.compress(data))
        files.history.unlink()
    before = sessions.contents(ant)
    tree = {p: p.read_bytes() for p in sessions.files(ant).folder.iterdir()}
    result = sessions.verify()
    assert codes(result) == found
    assert result.exit_status == 3
    assert {p: p.read_bytes() for p in sessions.files(ant).folder.iterdir()} == tree
    repaired = sessions.verify(ant, repair=True)
    assert "failed" not in repaired.data
    assert {problem["code"] for problem in repaired.data["repaired"]} == set(found)
    assert sessions.contents(ant) == before
    assert len(before) == count
    (kept,) = repaired.data["kept"]
    aside = Path(kept).read_bytes()
    assert (gzip.decompress(aside) == data) if packed else aside in (data, *_parts(data))
    assert sessions.files(ant).packed.exists() is packed
    sessions.sound()


def _parts(data: bytes) -> list[bytes]:
    """Return what the lines of `LINES` that are no messages come to."""
    lines = data.splitlines(keepends=True)
    bad = [line for line in lines if not line.startswith(b'{"idx"') or not line.endswith(b"\n")]
    return [b"".join(bad)]


GLUED = {
    "two on a line": lambda lines: [*lines[:3], lines[3].rstrip(), *lines[4:]],
    "torn and the next": lambda lines: [*lines[:2], b'{"idx":1,"role":"us', *lines[2:]],
    "zeros": lambda lines: [*lines[:2], bytes(9) + lines[2], *lines[3:]],
}


@pytest.mark.parametrize("kind", GLUED)
@pytest.mark.parametrize("packed", [False, True])
def test_repair_puts_whole_messages_on_lines_of_their_own(sessions, ant, kind, packed):
    whole = rewrite(sessions, lambda lines: lines)
    lines = whole.splitlines(keepends=True)
    sessions.service.branch(ant, "early", 0)
    sessions.service.branch(ant, "late", 4)
    data = rewrite(sessions, GLUED[kind])
    files = sessions.files(ant)
    if packed:
        put(files.packed, gzip.compress(data))
        files.history.unlink()
    assert sessions.contents(ant) == [f"m{n}" for n in range(6)]
    repaired = sessions.verify(ant, repair=True)
    assert "failed" not in repaired.data
    kept = Path(repaired.data["kept"][0]).read_bytes()
    assert (gzip.decompress(kept) if packed else kept) in (data, *_bad(data, lines))
    found = gzip.decompress(files.packed.read_bytes()) if packed else files.history.read_bytes()
    assert found == whole
    assert {b["name"]: b["matches"] for b in sessions.service.branches(ant).data["items"]} == {
        "early": True,
        "late": True,
    }
    sessions.sound()


def _bad(data: bytes, whole: list[bytes]) -> list[bytes]:
    return [line for line in data.splitlines(keepends=True) if line not in whole]


def test_repair_leaves_every_byte_of_sound_lines_and_branch_points_fit(sessions, ant):
    odd = [b"\xef\xbb\xbf%b\r\n", b" %b\r\n", b"\n%b  \n", b"%b\n\r\n", b"%b\n", b"%b\r\n"]
    sound = rewrite(
        sessions, lambda lines: [f % raw.rstrip() for f, raw in zip(odd, lines, strict=True)]
    )
    cut = b'{"idx":6,"role":"user","content":"\\ud83d"}\r\n'
    files = sessions.files(ant)
    files.history.write_bytes(sound + cut)
    sessions.service.branch(ant, "all", None)
    files.history.write_bytes(sound + cut + b'{"idx":7,"ro')
    assert "failed" not in sessions.verify(repair=True).data
    assert files.history.read_bytes() == sound + cut
    assert sessions.contents(ant)[-1] == "\ufffd"
    assert sessions.service.branches(ant).data["items"][0]["matches"] is True
    assert len(sessions.messages(fork(sessions, "ant:all")[0])) == 7


def test_branch_points_after_damage_that_was_there_are_carried_over(sessions, ant):
    rewrite(sessions, lambda lines: [*lines[:2], b"{bad\n", *lines[2:]])
    sessions.service.branch(ant, "early", 1)
    sessions.service.branch(ant, "late", 4)
    sessions.service.branch(ant, "changed", 5)
    rewrite(sessions, lambda lines: [*lines[:-1], lines[-1].replace(b"m5", b"M5")])
    before = {b["name"]: b for b in sessions.service.branches(ant).data["items"]}
    result = sessions.verify(repair=True)
    assert [Path(warning.path).stem for warning in result.warnings] == ["changed"]
    after = {b["name"]: b for b in sessions.service.branches(ant).data["items"]}
    assert (after["early"], after["changed"]) == (before["early"], before["changed"])
    assert (after["late"]["matches"], after["late"]["idx"]) == (True, 4)
    noted = after["late"]["repaired"]
    assert (noted["bytes"], noted["sha256"]) == (before["late"]["bytes"], before["late"]["sha256"])
    assert after["late"]["bytes"] == before["late"]["bytes"] - len(b"{bad\n")


def test_wrong_counters_are_found_and_corrected(sessions, ant):
    path = sessions.files(ant).meta
    path.write_text(json.dumps({**sessions.meta(ant), "totalInputTokens": 99, "messageCount": 4}))
    assert codes(sessions.verify()) == ["counter-differs", "counter-differs"]
    assert "failed" not in sessions.verify(repair=True).data
    assert (sessions.meta(ant)["messageCount"], sessions.meta(ant)["totalInputTokens"]) == (6, 15)


@pytest.mark.parametrize("data", [None, b"", b"{bad"])
def test_metadata_that_are_gone_are_written_again(sessions, ant, data):
    path = sessions.files(ant).meta
    path.unlink() if data is None else put(path, data)
    assert codes(sessions.verify()) == ["meta-damaged"]
    assert "failed" not in sessions.verify(repair=True).data
    assert sessions.meta(ant)["messageCount"] == 6
    sessions.sound()


def test_gaps_and_results_without_calls_are_told_and_break_nothing(sessions):
    sessions.new("ant")
    sessions.append("ant", *"abcdef")
    rewrite(sessions, lambda lines: [*lines[:2], *lines[4:]])
    sessions.append("ant", said("x", "tool", toolCallId="c9"))
    result = sessions.verify()
    assert codes(result) == []
    assert [w.code for w in result.warnings] == ["idx-gap", "call-missing"]
    assert "line 3: idx 4 where 2 is due: 2 are missing" in result.warnings[0].message


def test_a_number_that_comes_twice_is_told_and_both_messages_stay(sessions, ant):
    rewrite(sessions, lambda lines: [*lines[:3], lines[1].replace(b"m1", b"mm"), *lines[3:]])
    result = sessions.verify(repair=True)
    assert codes(result) == ["idx-repeated"]
    assert sessions.contents(ant) == ["m0", "m1", "m2", "mm", "m3", "m4", "m5"]
    assert sessions.append(ant, "more").data["firstIdx"] == 6


def test_wide_modes_are_found_and_narrowed(sessions, ant):
    files = sessions.files(ant)
    os.chmod(files.history, 0o644)
    os.chmod(files.folder, 0o755)
    result = sessions.verify()
    assert codes(result) == ["mode-wide"] * 2
    assert [failure["reason"].partition(":")[0] for failure in result.data["failed"]] == [
        "the session's folder",
        "messages.jsonl",
    ]
    assert "failed" not in sessions.verify(repair=True).data
    assert files.history.stat().st_mode & 0o777 == 0o600
    assert files.folder.stat().st_mode & 0o777 == 0o700


def test_very_many_problems_of_a_kind_are_listed_in_part(sessions, ant):
    rewrite(sessions, lambda lines: [*lines, *[b"{bad\n"] * 500])
    assert codes(sessions.verify()) == ["history-damaged"] * 100 + ["counter-differs"]
    repaired = sessions.verify(repair=True)
    assert "failed" not in repaired.data
    assert Path(repaired.data["kept"][0]).read_bytes() == b"{bad\n" * 500
    assert len(sessions.contents(ant)) == 6


def test_only_the_sessions_that_are_named_are_checked(sessions, ant):
    sessions.new("bee")
    sessions.files("bee").meta.write_bytes(b"")
    assert codes(sessions.verify(ant)) == []
    assert codes(sessions.verify()) == ["meta-damaged"]


def batch(count: int, **fields) -> dict:
    call = {"callId": "c1", "toolName": "look"}
    return {
        "checkpointId": "k",
        "state": "ready_to_resume",
        "sequence": 1,
        "historyCount": count,
        "toolCalls": [call],
        **fields,
    }


def store_checkpoint(sessions, document: dict) -> None:
    sessions.service.checkpoint("ant", io.BytesIO(json.dumps(document).encode()))


MISFITS = {
    "shorter": (batch(9), "the history has only 6 messages, the checkpoint is of 9"),
    "other batch": (batch(6), "it ends in a message of the user"),
    "kind": (batch(6, kind="plan"), "the checkpoint is of the kind plan"),
}


@pytest.mark.parametrize("kind", MISFITS)
def test_a_checkpoint_that_belongs_to_another_history_is_told(sessions, ant, kind):
    document, words = MISFITS[kind]
    store_checkpoint(sessions, document)
    result = sessions.verify()
    (warning,) = result.warnings
    assert (warning.code, result.exit_status) == ("checkpoint-unfit", 0)
    assert words in warning.message
    assert warning.path == str(sessions.files(ant).checkpoint)


def test_a_checkpoint_that_was_left_behind_or_is_over_is_no_news(sessions, ant):
    for document in (batch(4), batch(9, state="completed", sequence=2)):
        store_checkpoint(sessions, document)
        assert sessions.verify().warnings == ()


DAMAGE = {
    "cut": b'{"checkpointId": "k", "sta',
    "nothing": b"",
    "no object": b"[1]",
    "wrong kind": b'{"checkpointId": 7, "idx": "x", "bytes": [], "sha256": 3}',
}


SMALL = {
    "checkpoint.json": "checkpoint-damaged",
    "branches/draft.json": "branch-damaged",
    "context.json": "summary-damaged",
}


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", SMALL)
def test_small_files_that_are_damaged_are_found_and_set_aside(sessions, ant, name, kind):
    store_checkpoint(sessions, batch(4))
    sessions.service.branch(ant, "draft", 2)
    path = sessions.files(ant).folder / name
    put(path, DAMAGE[kind])
    code = SMALL[name]
    result = sessions.verify()
    assert (codes(result), result.exit_status) == ([code], 3)
    repaired = sessions.verify(repair=True)
    assert [problem["code"] for problem in repaired.data["repaired"]] == [code]
    (kept,) = repaired.data["kept"]
    assert Path(kept).read_bytes() == DAMAGE[kind]
    assert Path(kept).name.startswith(f"{path.name}.bad-")
    assert not path.exists()
    sessions.sound()


@pytest.mark.parametrize("name", SMALL)
def test_a_folder_where_a_small_file_should_be_is_set_aside(sessions, ant, name):
    path = sessions.files(ant).folder / name
    path.mkdir(parents=True, mode=0o700)
    path.parent.chmod(0o700)
    assert len(codes(sessions.verify())) == 1
    assert "failed" not in sessions.verify(repair=True).data
    assert not path.exists()


def test_a_branch_point_that_the_history_left_is_told(sessions, ant):
    sessions.service.branch(ant, "early", 1)
    sessions.service.branch(ant, "late", 4)
    rewrite(sessions, lambda lines: [*lines[:3], lines[3].replace(b"m3", b"M3"), *lines[4:]])
    (warning,) = sessions.verify().warnings
    assert (warning.code, Path(warning.path).name) == ("branch-differs", "late.json")


def test_a_summary_of_messages_that_are_not_there_is_told(sessions, ant):
    document = {"summary": "all of it", "last": 40, "end": 4000}
    put(sessions.files(ant).context, json.dumps(document).encode())
    (warning,) = sessions.verify().warnings
    assert warning.code == "summary-unusable"
    assert warning.message.count(ant) == 1
    repaired = sessions.verify(repair=True)
    assert (repaired.warnings, len(repaired.data["kept"])) == ((), 1)
    assert not sessions.files(ant).context.exists()


def test_a_summary_is_carried_over_by_a_repair(sessions, ant):
    rewrite(sessions, lambda lines: [*lines[:2], b"{bad\n", *lines[2:]])
    store, files = sessions.service.store, sessions.files(ant)
    end = len(b"".join(files.history.read_bytes().splitlines(keepends=True)[:5]))
    summaries.keep(store, files, Summary("all of it", 3, end, {}))
    assert "failed" not in sessions.verify(repair=True).data
    found, problem = summaries.read(files, 6)
    assert problem is None
    assert (found.last, found.end) == (3, end - len(b"{bad\n"))
    assert found.text == "all of it"


def test_what_was_carried_over_fits_where_the_repair_was_cut_short_before_its_end(sessions, ant):
    damaged = rewrite(sessions, lambda lines: [*lines[:2], b"{bad\n", *lines[2:]])
    files = sessions.files(ant)
    sessions.service.branch(ant, "late", 4)
    summaries.keep(sessions.service.store, files, Summary("all of it", 5, len(damaged), {}))
    sessions.verify(repair=True)
    carried = {path: path.read_bytes() for path in (files.context, files.branches / "late.json")}
    files.history.write_bytes(damaged)
    assert sessions.verify().warnings == ()
    assert sessions.service.branches(ant).data["items"][0]["matches"] is True
    assert len(sessions.messages(fork(sessions, "ant:late")[0])) == 5
    assert summaries.read(files, 6)[1] is None
    sessions.verify(ant, repair=True)
    assert {path: path.read_bytes() for path in carried} == carried
    rewrite(sessions, lambda lines: [lines[0].replace(b"m0", b"M0"), *lines[1:]])
    assert [warning.code for warning in sessions.verify(ant).warnings] == [
        "branch-differs",
        "summary-unusable",
    ]
