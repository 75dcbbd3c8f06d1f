"""Verification reads everything; repair keeps every whole message and sets the rest aside."""

from __future__ import annotations

import gzip
import io
import json
import os
from pathlib import Path

import pytest

from tests.session.support import put, said


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
    assert codes(sessions.verify()) == ["mode-wide"] * 2
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


@pytest.mark.parametrize("kind", DAMAGE)
@pytest.mark.parametrize("name", ["checkpoint.json", "branches/draft.json"])
def test_small_files_that_are_damaged_are_found_and_set_aside(sessions, ant, name, kind):
    store_checkpoint(sessions, batch(4))
    sessions.service.branch(ant, "draft", 2)
    path = sessions.files(ant).folder / name
    put(path, DAMAGE[kind])
    code = "branch-damaged" if "branches" in name else "checkpoint-damaged"
    result = sessions.verify()
    assert (codes(result), result.exit_status) == ([code], 3)
    repaired = sessions.verify(repair=True)
    assert [problem["code"] for problem in repaired.data["repaired"]] == [code]
    (kept,) = repaired.data["kept"]
    assert Path(kept).read_bytes() == DAMAGE[kind]
    assert Path(kept).name.startswith(f"{path.name}.bad-")
    assert not path.exists()
    sessions.sound()


@pytest.mark.parametrize("name", ["checkpoint.json", "branches/draft.json"])
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
