"""The session commands from end to end: what they print to people and to scripts."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

META = {
    *("sessionId", "agentId", "channel", "chatId", "userId", "createdAt", "lastActiveAt"),
    *("messageCount", "totalInputTokens", "totalOutputTokens", "totalCacheReadTokens"),
    *("totalCacheWriteTokens", "totalCost", "status", "runState", "model", "summaryCheckpoint"),
    *("title", "tags", "overrides", "goal", "backgroundRun", "parentSessionId", "childSessionIds"),
}


@pytest.fixture
def ant(run_cli) -> str:
    """A session with two messages; returns its id."""
    run = run_cli("session", "new", "--channel", "tg", "--chat", "1", "--title", "标题", "-q")
    name = run.out.strip()
    for role, content in (("user", "今天天气怎么样"), ("assistant", "Sunny")):
        assert run_cli("session", "append", name, "--role", role, "--content", content).status == 0
    return name


def test_new_says_which_id_it_has(run_cli):
    run = run_cli("session", "new", "--tag", "a", "--model", "m", "--user", "u1")
    assert re.fullmatch(r"made session s-[0-9a-f-]{36}\n", run.out)
    document = run_cli("session", "new", "--json").document
    assert document["schema"] == "openclaw.session.new/1"
    assert set(document["data"]) == META


def test_ensure_says_whether_it_was_there(run_cli, ant):
    run = run_cli("session", "ensure", "--channel", "tg", "--chat", "1")
    assert run.out == f"session {ant} (active, 2 messages)\n"
    data = run_cli("sessions", "ensure", "--channel", "tg", "--chat", "1", "--json").data
    assert (data["sessionId"], data["created"], set(data)) == (ant, False, {*META, "created"})
    made = run_cli("session", "ensure", "--channel", "tg", "--chat", "2")
    assert made.out.startswith("made session s-")
    assert run_cli("session", "ensure", "--channel", "tg").status == 2


def test_list_is_a_table_for_people_and_lines_for_scripts(run_cli, ant, state_dir):
    run_cli("session", "new", "--id", "bee")
    run = run_cli("sessions", "list")
    assert run.out.splitlines()[0].split() == [
        *("ID", "LAST", "ACTIVE", "STATUS", "CHANNEL", "CHAT", "MESSAGES", "TITLE"),
    ]
    assert ant[-8:] in run.out
    assert "标题" in run.out
    assert run_cli("session", "list", "-q", "--sort", "created").out.split() == ["bee", ant]
    data = run_cli("session", "list", "--limit", "1", "--json").data
    assert (len(data["items"]), data["total"], set(data["items"][0])) == (1, 2, META)
    lines = run_cli("session", "list", "--jsonl").out.splitlines()
    assert {json.loads(line)["sessionId"] for line in lines} == {ant, "bee"}
    (state_dir / "agents/main/sessions/sessions.json").write_text("{}")
    told = run_cli("session", "list", "--limit", "1").out.splitlines()[-2:]
    assert told == [
        "1 of 2 (--limit 0 lists all)",
        "also there, of other programs and left alone: 1 (sessions.json)",
    ]
    assert run_cli("session", "list", "--status", "archived").out.startswith("no sessions\n")
    assert run_cli("session", "list", "--json", "--jsonl").status == 2


def test_show_tells_where_it_lies_and_how_large_it_is(run_cli, ant):
    data = run_cli("session", "show", ant[-8:], "--json").data
    assert set(data) == {*META, "path", "bytes"}
    assert data["path"].endswith(ant)
    run = run_cli("session", "show", ant)
    assert run.out.startswith(f"{ant}\n")
    assert re.search(r"^messages +2$", run.out, re.MULTILINE)


def test_tail_shows_the_end(run_cli, ant):
    run = run_cli("session", "tail", ant, "--now", "2026-03-01")
    assert re.fullmatch(
        r"#0  user  [\d-]+ [\d:]+\n  今天天气怎么样\n#1  assistant  [\d-]+ [\d:]+\n  Sunny\n",
        run.out,
    )
    data = run_cli("session", "tail", ant, "-n", "1", "--json").data
    assert data["sessionId"] == ant
    assert [(m["idx"], m["content"]) for m in data["items"]] == [(1, "Sunny")]
    lines = run_cli("session", "tail", ant, "--jsonl").out.splitlines()
    assert [json.loads(line)["role"] for line in lines] == ["user", "assistant"]
    assert run_cli("session", "tail", ant, "-n", "0").out == ""
    assert run_cli("session", "tail", ant, "--follow", "--json").status == 2


def test_a_long_message_is_cut_for_people_unless_they_want_all(run_cli, ant):
    text = "x" * 9000
    run_cli("session", "append", ant, stdin=json.dumps({"role": "user", "content": text}))
    run = run_cli("session", "tail", ant, "-n", "1")
    assert "… 5000 more characters (--verbose shows them)" in run.out
    assert text in run_cli("session", "tail", ant, "-n", "1", "--verbose").out
    assert text in run_cli("session", "tail", ant, "-n", "1", "--json").out


def test_stored_text_cannot_drive_the_terminal(run_cli, ant):
    evil = "\x1b]0;owned\x07"
    message = {"role": "user", "content": evil, "toolCallId": evil, "sender": {"userId": evil}}
    run_cli("session", "append", ant, stdin=json.dumps(message))
    run_cli("session", "rename", ant, evil)
    run_cli("session", "tag", ant, "--add", evil)
    for words in (
        *(("tail", ant), ("show", ant), ("list",), ("verify",)),
        *(("rename", ant, evil + "!"), ("tag", ant, "--remove", "x")),
    ):
        assert "\x1b" not in run_cli("session", *words).out, words


def test_follow_prints_what_others_append_at_once(run_cli, ant, state_dir):
    process = subprocess.Popen(
        [sys.executable, "-m", "openclaw_cli", "session", "tail", ant, "-n", "1", "-f", "--jsonl"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert json.loads(process.stdout.readline())["content"] == "Sunny"
    run_cli("session", "append", ant, "--role", "user", "--content", "more")
    assert json.loads(process.stdout.readline())["content"] == "more"
    process.send_signal(signal.SIGINT)
    _out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"openclaw: error: interrupted\n")


def test_append_takes_a_message_or_many(run_cli, ant):
    run = run_cli("session", "append", ant, "--role", "user", "--content", "x", "--user", "u1")
    assert run.out == f"appended message 2 to session {ant}\n"
    lines = "\n".join(json.dumps({"role": "user", "content": str(n)}) for n in range(3))
    data = run_cli("session", "append", ant, "--json", stdin=lines).data
    assert data == {
        "sessionId": ant,
        "appended": 3,
        "firstIdx": 3,
        "lastIdx": 5,
        "messageCount": 6,
    }
    bad = run_cli("session", "append", ant, "--json", stdin=lines + "\n{bad")
    assert (bad.status, bad.error["code"], bad.error["line"]) == (2, "invalid-text", 4)
    assert bad.error["message"].startswith("line 4: no JSON")
    assert len(run_cli("session", "tail", ant, "--json").data["items"]) == 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--role", "user"), "--role and --content go together"),
        (("--content", "x"), "--role and --content go together"),
        (("--user", "u"), "--user, --call and --tokens go with --role and --content"),
        (("--role", "boss", "--content", "x"), "invalid value for '--role'"),
        ((), "no message given"),
    ],
)
def test_append_without_a_message_is_refused(run_cli, ant, words, message):
    run = run_cli("session", "append", ant, *words, "--json")
    assert run.status == 2
    assert message in run.error["message"]


def test_rename_and_tag_say_what_has_changed(run_cli, ant):
    assert run_cli("session", "rename", ant, "新的").out == f"session {ant} is called 新的\n"
    assert run_cli("session", "rename", ant, "").out == f"session {ant} has no title\n"
    run = run_cli("session", "tag", ant, "--add", "a", "--add", "b", "--json")
    assert run.data["tags"] == ["a", "b"]
    assert run.data["changed"] == [{"sessionId": ant, "from": [], "to": ["a", "b"]}]
    assert run_cli("session", "tag", ant, "--remove", "a").out == f"session {ant}: tags: b\n"
    assert run_cli("session", "tag", ant).status == 2
    assert run_cli("session", "tag", ant, "--add", "x", "--remove", "x").status == 2


def test_sweep_and_archive_list_what_has_changed(run_cli, ant):
    later = ("--now", "2099-01-01T00:00:00Z")
    dry = run_cli("session", "sweep", "--dry-run", *later)
    assert dry.out == f"{ant[-8:]}  active would become archived\n"
    data = run_cli("session", "sweep", "--json", *later).data
    assert data["changed"] == [{"sessionId": ant, "from": "active", "to": "archived"}]
    assert run_cli("session", "sweep", *later).out == "nothing is due\n"
    assert run_cli("session", "archive", ant).out == "archived already\n"
    assert run_cli("session", "list", "-q").out == ""
    assert run_cli("session", "list", "--status", "all", "-q").out.strip() == ant
    assert "Sunny" in run_cli("session", "tail", ant).out


def test_sweep_and_verify_work_on_every_agent(run_cli, ant):
    run_cli("session", "new", "--agent", "other")
    run_cli("memory", "add", "x", "--no-embed", "--agent", "third")
    for command in ("sweep", "verify"):
        data = run_cli("session", command, "--all-agents", "--json").data
        assert [part["agent"] for part in data["agents"]] == ["main", "other"]
        assert data["skipped"] == ["third"]
        assert "no sessions, skipped: third" in run_cli("session", command, "--all-agents").out


def test_delete_asks_first_and_the_trash_gives_back(run_cli, ant):
    refused = run_cli("session", "delete", ant, "--json")
    assert (refused.status, refused.error["code"]) == (2, "usage")
    assert "--yes" in refused.error["hint"]
    dry = run_cli("session", "delete", ant, "--dry-run")
    assert dry.out == f"would move to the trash: {ant}\n"
    gone = run_cli("session", "delete", ant, "--yes", "--json").data
    assert (gone["deleted"], gone["missing"]) == ([ant], [])
    assert run_cli("session", "show", ant).status == 10
    listed = run_cli("session", "trash", "list", "--json").data
    assert (listed["total"], listed["items"][0]["sessionId"]) == (1, ant)
    assert ant[-8:] in run_cli("session", "trash", "list").out
    assert run_cli("session", "trash", "empty", "--older-than", "30d", "--yes").out == (
        "nothing to remove\n"
    )
    assert run_cli("session", "restore", ant[-8:]).out == f"restored: {ant}\n"
    run_cli("session", "delete", ant, "--yes")
    assert run_cli("session", "trash", "empty").status == 2
    assert run_cli("session", "trash", "empty", "--yes").out == f"removed for good: {ant}\n"
    assert run_cli("session", "trash", "list").out == "the trash is empty\n"


def test_some_that_are_missing_end_with_3_and_none_with_10(run_cli, ant):
    run = run_cli("session", "delete", ant, "nothing-there", "--yes", "--json")
    assert run.status == 3
    assert run.data["missing"] == ["nothing-there"]
    assert run_cli("session", "delete", "nothing-there", "--yes").status == 10


def test_verify_tells_and_repairs(run_cli, ant, state_dir):
    assert run_cli("session", "verify").out == "1 session, 2 messages checked\nno problems\n"
    history = state_dir / "agents/main/sessions" / ant / "messages.jsonl"
    with history.open("ab") as file:
        file.write(b"{bad\n")
    run = run_cli("session", "verify", ant, "--json")
    assert run.status == 3
    assert run.data["problems"][0]["code"] == "history-damaged"
    assert run.data["problems"][0]["line"] == 3
    told = run_cli("session", "verify")
    assert f"openclaw: failed: {ant}: line 3: no JSON" in told.err
    repaired = run_cli("session", "verify", "--repair")
    assert repaired.status == 0
    assert "set aside: " in repaired.out
    assert run_cli("session", "verify").out == "1 session, 2 messages checked\nno problems\n"


def test_verify_finds_no_peace_where_a_session_cannot_be_read(run_cli, ant, state_dir):
    history = state_dir / "agents" / "main" / "sessions" / ant / "messages.jsonl"
    history.unlink()
    history.mkdir()
    run = run_cli("session", "verify", ant)
    assert run.status == 3
    assert "no problems" not in run.out
    assert ant in run.err


def test_a_read_of_an_agent_that_is_not_there_names_the_nearest(run_cli, ant):
    run = run_cli("session", "list", "--agent", "mian", "--json")
    assert (run.status, run.error["hint"]) == (10, "did you mean --agent main?")
    assert run_cli("session", "show", "nothing-there", "--json").error["code"] == "not-found"


@pytest.mark.parametrize("command", ["list", "show", "tail", "append", "trash list", "verify"])
def test_help_has_an_example_and_the_exit_statuses(run_cli, command):
    run = run_cli("session", *command.split(), "--help")
    assert run.status == 0
    assert f"openclaw session {command}" in run.out
    assert "Exit status" in run.out


def test_a_lock_that_is_held_is_told_with_its_holder(run_cli, ant, state_dir):
    from tests.session.support import Sessions

    sessions = Sessions(state_dir)
    with sessions.service.store.writing(sessions.files(ant)):
        words = ("--role", "user", "--content", "x", "--lock-timeout", "0", "--json")
        run = run_cli("session", "append", ant, *words)
    assert (run.status, run.error["code"]) == (11, "locked")
    assert str(os.getpid()) in run.error["message"]
