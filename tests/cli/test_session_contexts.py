"""Contexts, checkpoints and resuming from end to end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.llm.server import completion, reply, serving
from tests.session.providers import check_anthropic, check_openai

TURN = (
    {"role": "system", "content": "be kind"},
    {"role": "user", "content": "天气怎么样？"},
    {
        "role": "assistant",
        "content": "",
        "toolCalls": [{"id": "c1", "name": "weather", "args": {"city": "北京"}}],
    },
    {"role": "tool", "content": "sunny\x1b[31m", "toolCallId": "c1"},
)
CHECKPOINT = {
    "checkpointId": "k1",
    "kind": "tool_batch",
    "state": "ready_to_resume",
    "sequence": 1,
    "historyCount": 4,
    "toolCalls": [{"callId": "c1", "toolName": "weather"}],
}


@pytest.fixture
def ant(run_cli):
    """A session whose history ends in a tool batch."""
    run_cli("session", "new", "--id", "ant")
    lines = "".join(json.dumps(message) + "\n" for message in TURN)
    assert run_cli("session", "append", "ant", stdin=lines).status == 0
    return "ant"


def test_a_context_is_text_for_people_and_a_document_for_scripts(run_cli, ant):
    run = run_cli("session", "context", ant)
    assert "user: 天气怎么样？" in run.out
    assert 'assistant calls weather (c1): {"city":"北京"}' in run.out
    assert r"returns: sunny\x1b[31m" in run.out
    document = run_cli("session", "context", ant, "--json").document
    assert document["schema"] == "openclaw.session.context/1"
    data = document["data"]
    named = {"sessionId", "strategy", "tokens", "estimated", "dropped", "messages"}
    assert named <= set(data)
    assert [message["role"] for message in data["messages"]] == [m["role"] for m in TURN]
    assert (data["strategy"], data["estimated"], data["dropped"]) == ("sliding-window", True, 0)


def test_a_context_for_a_provider_is_printed_as_it_takes_it(run_cli, ant):
    check_openai(json.loads(run_cli("session", "context", ant, "--format", "openai").out))
    body = json.loads(run_cli("session", "context", ant, "--format", "anthropic").out)
    assert set(body) == {"system", "messages"}
    check_anthropic(body["messages"], body["system"])
    stored = json.loads(run_cli("session", "context", ant, "--format", "json").out)
    assert stored[1]["content"] == TURN[1]["content"]


def test_a_budget_that_is_too_small_names_the_least_one_that_works(run_cli, ant):
    run = run_cli("session", "context", ant, "--budget", "2", "--json")
    assert (run.status, run.error["code"], run.error["budget"]) == (2, "usage", 2)
    least = str(run.error["least"])
    assert least in run.error["hint"]
    assert run_cli("session", "context", ant, "--budget", least).status == 0
    assert run_cli("session", "context", ant, "--budget", str(int(least) - 1)).status == 2


@pytest.mark.parametrize("args", [["--budget", "0"], ["--strategy", "magic"], ["--format", "xml"]])
def test_what_there_is_not_is_a_usage_error(run_cli, ant, args):
    assert run_cli("session", "context", ant, *args).status == 2


def test_explaining_shows_what_each_message_takes_and_how_it_scores(run_cli, ant):
    run = run_cli("session", "context", ant, "--explain")
    assert run.out.splitlines()[-1].endswith("of 32000 tokens, 0 messages left out")
    run = run_cli("session", "context", ant, "--explain", "--strategy", "importance")
    assert "weights: user 1" in run.out
    assert "recency" in run.out
    data = run_cli("session", "context", ant, "--explain", "--json").data
    assert [row["idx"] for row in data["explain"]["messages"]] == [0, 1, 2, 3]


def test_a_summary_is_asked_of_the_configured_model_and_its_failure_is_a_warning(
    run_cli, ant, state_dir
):
    lines = "".join(json.dumps({"role": "user", "content": f"n{n}"}) + "\n" for n in range(40))
    run_cli("session", "append", ant, stdin=lines)
    env = {"MY_KEY": "sk-secret-value"}
    broken, working = reply("404 No", b"{}"), completion("他们问了天气。")
    with serving(broken, working) as server:
        model = {"baseUrl": server.url, "model": "small", "apiKeyEnv": "MY_KEY"}
        config = {"session": {"context": {"pruneStrategy": "summary", "model": model}}}
        (state_dir / "openclaw.json").write_text(json.dumps(config))
        run = run_cli("session", "context", ant, "-q", env=env)
        assert (run.status, run.err) == (0, "")
        run = run_cli("session", "context", ant, "--json", env=env)
    assert run.data["strategy"] == "summary"
    assert "他们问了天气。" in run.data["messages"][1]["content"]
    assert "authorization: bearer sk-secret-value" in server.heads[1].lower()
    assert run_cli("session", "show", ant, "--json").data["summaryCheckpoint"] == 33
    run = run_cli("session", "context", ant, "--strategy", "summary")
    assert (run.status, run.err) == (0, "")


def test_a_checkpoint_is_stored_and_resumed_from(run_cli, ant):
    run = run_cli("session", "checkpoint", ant, stdin=json.dumps(CHECKPOINT))
    said = "checkpoint k1 of session ant: ready_to_resume, sequence 1, 4 messages\n"
    assert (run.status, run.out) == (0, said)
    run = run_cli("session", "resume", ant, "-m", "be quick")
    assert run.out.startswith("checkpoint: the history ends in the tool batch of checkpoint k1\n")
    assert run.out.endswith("[Note of the operator] be quick\n")
    data = run_cli("session", "resume", ant, "--format", "openai", "--json").data
    assert (data["resumed"], data["reason"]) == ("checkpoint", "fits")
    check_openai(data["messages"])
    assert run_cli("session", "show", ant, "--json").data["messageCount"] == 4


def test_of_checkpoints_stored_at_once_the_latest_one_stays(run_cli, ant):
    command = [sys.executable, "-m", "openclaw_cli", "session", "checkpoint", ant]
    started = []
    for sequence in (5, 3, 6, 1, 4, 2):
        body = json.dumps({**CHECKPOINT, "checkpointId": f"k{sequence}", "sequence": sequence})
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        process.stdin.write(body.encode())
        process.stdin.close()
        started.append((sequence, process))
    ended = {sequence: process.wait(60) for sequence, process in started}
    assert ended[6] == 0
    assert set(ended.values()) <= {0, 2}
    data = run_cli("session", "checkpoint", ant, "--json", stdin=json.dumps(CHECKPOINT))
    assert (data.status, data.error["stored"], data.error["given"]) == (2, 6, 1)


def test_without_a_fitting_checkpoint_the_reason_is_told(run_cli, ant):
    data = run_cli("session", "resume", ant, "--message", "hello", "--json").data
    assert (data["resumed"], data["reason"], data["appended"]) == ("continuation", "none", 4)
    run = run_cli("session", "resume", ant, "--format", "text")
    assert run.out.startswith("continuation: there is no checkpoint\n")
    body = json.loads(run_cli("session", "resume", ant, "--format", "anthropic").out)
    check_anthropic(body["messages"], body["system"])


def test_a_checkpoint_that_is_none_is_refused(run_cli, ant):
    run = run_cli("session", "checkpoint", ant, "--json", stdin='{"state":"ready_to_resume"}')
    assert (run.status, run.error["code"]) == (2, "invalid-text")
    assert run_cli("session", "checkpoint", ant, stdin="").status == 2
    assert run_cli("session", "checkpoint", "no-such-one", stdin="{}").status in (2, 10)


@pytest.mark.parametrize("command", ["context", "resume"])
def test_a_session_that_is_not_there_is_exit_10(run_cli, ant, command):
    assert run_cli("session", command, "no-such-session").status == 10


def test_branches_are_made_listed_and_begun_with(run_cli, ant):
    run = run_cli("session", "branch", ant, "draft", "--at", "1")
    assert (run.status, run.out) == (0, "branch draft of session ant after message 1\n")
    run = run_cli("session", "branches", ant)
    assert run.out.splitlines()[0].split() == ["NAME", "AFTER", "MADE", "FITS"]
    data = run_cli("session", "branches", ant, "--json").data
    assert [(row["name"], row["idx"], row["matches"]) for row in data["items"]] == [
        ("draft", 1, True)
    ]
    child = run_cli("session", "new", "--from", f"{ant}:draft", "-q").out.strip()
    tail = run_cli("session", "tail", child, "--json").data
    assert [m["content"] for m in tail["items"]] == ["be kind", "天气怎么样？"]
    shown = run_cli("session", "show", child, "--json").data
    assert (shown["parentSessionId"], shown["messageCount"]) == (ant, 2)
    assert run_cli("session", "branch", ant, "draft").status == 2
    assert run_cli("session", "new", "--from", f"{ant}:nothing").status == 10
