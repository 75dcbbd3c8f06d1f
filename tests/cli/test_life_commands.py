"""edit, history, undo, delete and purge as an operator types them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.terminal import on_terminal


@pytest.fixture
def memory(run_cli):
    """A store of three memories of two users."""
    for name, user, text in (
        ("mem-theirs", "u1", "用户喜欢安静的咖啡馆 😀"),
        ("mem-other", "u2", "somebody else likes the sea"),
        ("mem-last", "u2", "somebody else likes the mountains"),
    ):
        run_cli("memory", "add", text, "--id", name, "--user", user, "--no-embed")
    return lambda *args, **more: run_cli("memory", *args, **more)


def at_terminal(answer: str, *args: str, **env: str) -> tuple[int, str]:
    """Run a command on a terminal where ``answer`` is typed; return status and output."""
    return on_terminal("memory", *args, typed=answer, columns=80, **env)


def test_an_edit_is_shown_in_the_history_and_taken_back(memory):
    run = memory(
        "edit", "mem-theirs", "--l0", "用户喜欢热闹的酒吧", "--tag", "place", "--no-embed", "--json"
    )
    assert run.data["record"]["content"]["l0"] == "用户喜欢热闹的酒吧"
    shown = memory("history", "mem-theirs").out
    assert "- l0: 用户喜欢安静的咖啡馆" in shown
    assert "+ l0: 用户喜欢热闹的酒吧" in shown
    assert "+ tags: place" in shown
    run = memory("undo", "mem-theirs", "--no-embed")
    assert (run.status, "安静的咖啡馆" in run.out) == (0, True)
    (first, second) = memory("history", "mem-theirs", "--json").data["entries"]
    assert (first["n"], first["reason"], second["reason"]) == (1, "edited", "undone")


@pytest.mark.parametrize(
    ("args", "status", "code"),
    [
        (["edit", "mem-none", "--l0", "x"], 10, "not-found"),
        (["edit", "mem-theirs"], 2, "usage"),
        (["edit", "mem-theirs", "--l0", "用户喜欢安静的咖啡馆 😀"], 2, "usage"),
        (["edit", "mem-theirs", "--category", "x"], 2, "usage"),
        (["edit", "../x", "--l0", "x"], 2, "invalid-name"),
        (["undo", "mem-theirs"], 2, "usage"),
        (["undo", "mem-none"], 10, "not-found"),
        (["history", "mem-none"], 10, "not-found"),
        (["delete", "mem-none", "--yes"], 10, "not-found"),
        (["delete", "--yes"], 2, "usage"),
        (["delete", "mem-theirs"], 2, "usage"),
        (["purge", "--user", "u1"], 2, "usage"),
        (["purge", "--yes"], 2, "usage"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_one_error_and_changes_nothing(memory, args, status, code):
    listing = ("list", "--json", "--now", "2030-01-01")
    before = memory(*listing).data
    run = memory(*args, "--json")
    assert (run.status, run.error["code"]) == (status, code)
    assert run.error["hint"]
    assert memory(*listing).data == before


def test_delete_lists_what_is_missing_and_deletes_the_rest(memory):
    run = memory("delete", "mem-theirs", "mem-none", "--yes", "--json")
    assert run.status == 3
    assert (run.data["deleted"], run.data["missing"]) == (["mem-theirs"], ["mem-none"])


def test_delete_by_filter_shows_in_a_dry_run_what_would_go(memory):
    run = memory("delete", "--user", "u2", "--dry-run")
    assert "would delete 2 memories" in run.out
    assert "likes the sea" in run.out
    assert memory("list", "--json").data["total"] == 3
    assert (
        memory("delete", "--user", "u2", "--yes", "-q").out.split()
        == ["mem-last", "mem-other"][::-1]
    )


def test_what_the_operator_has_seen_goes_and_not_its_namesake(memory, state_dir):
    folder = state_dir / "agents" / "main" / "memory" / "records"
    other = json.loads((folder / "user" / "mem-other.json").read_bytes())
    memory("add", "an agent likes the sea", "--id", "mem-agents", "--category", "case")
    namesake = folder / "user" / "mem-agents.json"
    namesake.write_text(json.dumps({**other, "id": "mem-agents"}))
    status, shown = at_terminal("y\n", "delete", "--category", "case")
    assert (status, "deleted 1 memory" in shown) == (0, True)
    assert not (folder / "agent" / "mem-agents.json").exists()
    assert namesake.exists()


def test_the_operator_is_asked_on_a_terminal(memory):
    status, shown = at_terminal("n\n", "delete", "mem-other")
    assert (status, "Delete 1 memory of agent main? [y/N]" in shown) == (1, True)
    assert "likes the sea" in shown
    status, shown = at_terminal("y\n", "delete", "mem-other")
    assert (status, "deleted 1 memory" in shown) == (0, True)
    status, shown = at_terminal("\n", "purge", "--user", "u1")
    assert (status, "Forget user u1 for ever? [y/N]" in shown) == (1, True)
    assert "main: would forget 1 memory (" in shown
    assert "forgot" not in shown
    assert "exports made before still hold it" in shown
    assert memory("list", "--json").data["total"] == 2


def test_a_purge_of_nothing_says_so_and_does_not_ask(memory, state_dir):
    status, shown = at_terminal("", "purge", "--user", "nobody")
    assert (status, shown) == (0, "main: nothing to forget of user nobody\n")
    assert memory("list", "--json").data["total"] == 3


def test_a_purge_tells_that_older_exports_bring_back_what_it_forgot(memory, tmp_path):
    export = str(tmp_path / "before.json")
    memory("export", "--output", export)
    told = "exports made before still hold it"
    assert told not in memory("purge", "--user", "u1", "--dry-run").out
    assert told in memory("purge", "--user", "u1", "--yes", "--verify").out
    assert told not in memory("purge", "--user", "u1", "--yes").out
    assert memory("import", export, "--json", "--no-embed").data["added"] == 1


def test_a_deletion_tells_that_it_is_final_and_what_brings_it_back(memory, tmp_path):
    export = str(tmp_path / "before.json")
    memory("export", "--output", export)
    way = "memory import FILE --on-conflict overwrite"
    for typed in ("n\n", "y\n"):
        _status, shown = at_terminal(typed, "delete", "mem-theirs")
        assert "this cannot be undone" in shown.partition("[y/N]")[0]
        assert ("this cannot be undone" in shown.partition("[y/N]")[2]) == (typed == "y\n")
    for indexed in (False, True):
        if indexed:
            memory("index", "--no-embed")
        for command in ("get", "history", "undo", "edit", "delete"):
            more = {"edit": ["--l0", "x"], "delete": ["--yes"]}.get(command, [])
            run = memory(command, "mem-theirs", *more, "--json")
            assert (run.status, run.error["code"]) == (10, "not-found"), command
            assert run.error["message"] == "record mem-theirs: it was deleted", command
            assert way in run.error["hint"]
    failed = memory("get", "mem-theirs", "mem-other", "mem-none", "--json").data["failed"]
    assert [item["reason"] for item in failed] == ["it was deleted", "no such record"]
    failed = memory("delete", "mem-theirs", "mem-none", "mem-last", "--yes", "--json").data[
        "failed"
    ]
    assert [item["reason"] for item in failed] == ["it was deleted", "no such record"]
    memory("import", export, "--on-conflict", "overwrite", "--no-embed")
    assert memory("get", "mem-theirs").status == 0
    memory("purge", "--user", "u1", "--yes")
    assert memory("get", "mem-theirs", "--json").error["message"].endswith("no such record")


@pytest.mark.parametrize("editor", ["sed -i s/sea/desert/", "/bin/false", "no-such-editor", "true"])
def test_the_editor_of_the_operator_is_used_on_a_terminal(memory, editor):
    status, shown = at_terminal("", "edit", "mem-other", "--no-embed", EDITOR=editor, VISUAL="")
    (record,) = memory("get", "mem-other", "--json").data["items"]
    changed = editor.startswith("sed")
    assert status == {"sed": 0, "tru": 2}.get(editor[:3], 1)
    assert record["content"]["l0"] == f"somebody else likes the {'desert' if changed else 'sea'}"
    assert "Traceback" not in shown


def test_what_the_editor_left_is_kept_when_it_cannot_be_read(memory):
    status, _shown = at_terminal("", "edit", "mem-other", EDITOR="sed -i /==/d", VISUAL="")
    (kept,) = Path(os.environ["TMPDIR"]).glob("openclaw-edit-*")
    assert status == 1
    assert "likes the sea" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_what_is_not_touched_in_the_editor_stays_to_the_letter(memory):
    memory("edit", "mem-other", "--l2", "line a\r\nline b\n\n\n", "--tag", "a,b", "--no-embed")
    before = memory("get", "mem-other", "--json").data
    assert at_terminal("", "edit", "mem-other", EDITOR="true", VISUAL="")[0] == 2
    assert memory("get", "mem-other", "--json").data == before
    args = ("edit", "mem-other", "--no-embed")
    assert at_terminal("", *args, EDITOR="sed -i s/sea/desert/", VISUAL="")[0] == 0
    (after,) = memory("get", "mem-other", "--json").data["items"]
    assert (after["content"]["l2"], after["tags"]) == ("line a\r\nline b\n\n\n", ["a,b"])


def test_purge_forgets_and_proves_it(memory, state_dir):
    memory("index", "--no-embed")
    plan = memory("purge", "--user", "u1", "--dry-run", "--json").data
    assert plan["agents"][0]["ids"] == ["mem-theirs"]
    run = memory("purge", "--user", "u1", "--yes", "--verify", "--json")
    assert run.data["agents"][0]["records"] == 1
    assert run.data["verified"]["matches"] == 0
    assert run.data["verified"]["filesScanned"] > 5
    files = [path for path in state_dir.rglob("*") if path.is_file()]
    assert not [path for path in files if "咖啡馆".encode() in path.read_bytes()]
    assert memory("list", "--json").data["total"] == 2


def test_a_trace_that_is_left_makes_the_proof_fail(memory, state_dir):
    (state_dir / "copy.txt").write_text("用户喜欢安静的咖啡馆 😀")
    run = memory("purge", "--user", "u1", "--yes", "--verify", "--json")
    assert (run.status, run.error["code"]) == (1, "not-forgotten")
    assert run.error["path"] == str(state_dir / "copy.txt")
    assert run.error["data"]["verified"]["matches"] == 1


def test_a_short_chinese_sentence_is_looked_for_and_shorter_texts_are_counted(run_cli, memory):
    run_cli("session", "new", "--id", "s-bob", "--user", "bob")
    for text in ("张三对花生过敏", "四个汉字", "short"):
        memory("add", text, "--user", "u9", "--no-embed")
        if text != "short":
            run_cli("session", "append", "s-bob", "--role", "user", "--content", text)
    run = memory("purge", "--user", "u9", "--yes", "--verify", "--json")
    verified = run.error["data"]["verified"]
    assert (run.status, verified["matches"]) == (1, 2)
    assert verified["where"][0]["path"].endswith("s-bob/messages.jsonl")
    assert verified["textsTooShort"] >= 1
    memory("add", "tiny", "--user", "u8", "--no-embed")
    shown = memory("purge", "--user", "u8", "--yes", "--verify").out
    assert "not looked for: 1 shorter text (under 8 characters, 4 of Han" in shown


def test_short_messages_of_forgotten_sessions_are_counted_too(run_cli):
    run_cli("session", "new", "--id", "s-theirs", "--user", "u1")
    run_cli("session", "append", "s-theirs", "--role", "user", "--content", "好的")
    purge = ("memory", "purge", "--user", "u1", "--sessions", "--yes", "--verify", "--json")
    assert run_cli(*purge).data["verified"]["textsTooShort"] == 1


def test_purge_names_other_agents_and_reaches_them_all(run_cli, memory):
    run_cli(
        "memory", "add", "told to another agent", "--user", "u1", "--agent", "two", "--no-embed"
    )
    run = memory("purge", "--user", "u1", "--yes", "--json")
    assert run.data["elsewhere"] == ["two"]
    run = memory("purge", "--user", "u1", "--all-agents", "--yes", "--json")
    assert {part["agent"]: part["records"] for part in run.data["agents"]} == {"main": 0, "two": 1}
    assert run.data["elsewhere"] == []


def test_purge_reaches_sessions_and_the_ledger_when_told_to(run_cli, memory, state_dir):
    said = "这是一个秘密，只在会话里说过"
    run_cli("session", "new", "--id", "s-theirs", "--user", "u1")
    run_cli("session", "append", "s-theirs", "--role", "user", "--content", said)
    run_cli("session", "new", "--id", "s-other", "--user", "u2")
    run_cli("session", "append", "s-other", "--role", "user", "--content", "of another user")
    turn = {"SessionId": "s-theirs", "InputTokens": 1, "OutputTokens": 1}
    recorded = run_cli("session", "usage", "--record", stdin=json.dumps(turn))
    assert recorded.status == 0, recorded
    kept = memory("purge", "--user", "u1", "--yes", "--verify", "--json")
    assert (kept.status, kept.data["agents"][0]["sessions"]) == (0, 0)
    plan = memory("purge", "--user", "u1", "--sessions", "--dry-run", "--json").data["agents"][0]
    run = memory("purge", "--user", "u1", "--sessions", "--yes", "--verify", "--json")
    (part,) = run.data["agents"]
    assert (part["sessions"], part["ledgerLines"]) == (plan["sessions"], plan["ledgerLines"])
    assert (part["sessions"], part["ledgerLines"]) == (1, 1)
    files = [path for path in state_dir.rglob("*") if path.is_file()]
    for trace in (said, "s-theirs"):
        assert not [path for path in files if trace.encode() in path.read_bytes()]
    assert "of another user" in run_cli("session", "tail", "s-other").out


def test_sessions_of_an_agent_without_a_memory_are_purged(run_cli, state_dir):
    run_cli("session", "new", "--id", "s-theirs", "--user", "u1")
    run = run_cli("memory", "purge", "--user", "u1", "--sessions", "--yes", "--json")
    assert (run.status, run.data["agents"][0]["sessions"]) == (0, 1)


@pytest.mark.parametrize("words", ["see you all on friday", "ok"])
def test_what_a_user_has_said_in_groups_is_counted_where_it_goes_and_where_it_stays(run_cli, words):
    run_cli("session", "new", "--id", "room", "--user", "u2")
    for user, text in (("u2", "hello everybody"), ("bob", words), ("bob", words)):
        line = {"role": "user", "content": text, "sender": {"userId": user}}
        run_cli("session", "append", "room", stdin=json.dumps(line))
    purge = ("memory", "purge", "--user", "bob", "--sessions")
    left = run_cli(*purge, "--yes", "--json")
    (part,) = left.data["agents"]
    assert (part["groupMessages"], part["cleanedSessions"]) == (0, [])
    assert (part["groupMessagesLeft"], part["groupSessions"]) == (2, ["room"])
    assert (
        "nothing to forget of user bob; 2 messages in 1 session of others stay"
        in run_cli(*purge, "--yes").out
    )
    purge = (*purge, "--group-messages")
    plan = run_cli(*purge, "--dry-run", "--json").data["agents"][0]
    assert (plan["groupMessages"], plan["cleanedSessions"]) == (2, ["room"])
    assert (plan["groupMessagesLeft"], plan["groupSessions"]) == (0, [])
    assert plan["bytes"] > 2 * len(words)
    shown = run_cli(*purge, "--dry-run", "-v").out
    assert "would forget 2 messages in 1 session of others (" in shown
    assert "messages in room" in shown
    run = run_cli(*purge, "--yes", "--verify", "--json")
    del plan["ids"]
    assert (run.status, run.data["agents"], run.document["warnings"]) == (0, [plan], [])
    again = run_cli(*purge, "--yes", "--verify")
    assert "nothing to forget" in again.out
    assert "nothing was left to remove" in again.err
