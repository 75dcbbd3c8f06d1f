"""Real processes at once, some of them killed: one session a key, every message once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

from tests.concurrency.test_processes import finished, start
from tests.session.support import Sessions

PATIENCE = ("--json", "--lock-timeout", "60")
SECONDS = float(os.environ.get("OPENCLAW_STORM_SECONDS", "8"))
PROCESSES = 8


def test_eight_processes_that_ensure_one_key_get_one_session(tmp_path):
    state = tmp_path / "state"
    words = ("session", "ensure", "--channel", "tg", "--chat", "群", *PATIENCE)
    answers = [json.loads(finished(p))["data"] for p in [start(state, *words) for _ in range(8)]]
    assert len({answer["sessionId"] for answer in answers}) == 1
    assert sum(answer["created"] for answer in answers) == 1
    sessions = Sessions(state)
    assert len(sessions.listed()) == 1
    sessions.sound()


def test_eight_processes_with_batches_leave_each_batch_in_one_piece(tmp_path):
    sessions = Sessions(tmp_path / "state")
    sessions.new("ant")
    running = []
    for number in range(PROCESSES):
        lines = [json.dumps({"role": "user", "content": f"{number}.{n}"}) for n in range(50)]
        command = [sys.executable, "-m", "openclaw_cli", "--state-dir", str(sessions.state)]
        process = subprocess.Popen(
            [*command, "session", "append", "ant", *PATIENCE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        process.stdin.write("\n".join(lines).encode())
        process.stdin.close()
        process.stdin = None
        running.append((number, process))
    contents = {}
    for number, process in running:
        contents[number] = json.loads(finished(process))["data"]["firstIdx"]
    found = sessions.contents("ant")
    assert len(found) == 50 * PROCESSES
    for number, first in contents.items():
        assert found[first : first + 50] == [f"{number}.{n}" for n in range(50)]
    sessions.sound()


def test_appends_killed_at_random_keep_every_acknowledged_message_once(tmp_path):
    sessions = Sessions(tmp_path / "state")
    sessions.new("ant", channel="tg", chat="1")
    chance = random.Random(os.environ.get("OPENCLAW_STORM_SEED", "1"))
    acknowledged: dict[str, int] = {}
    running: list[tuple[str, subprocess.Popen]] = []
    started, ended = 0, Counter()
    end = time.monotonic() + SECONDS

    def collect(*, wait: bool) -> None:
        for text, process in list(running):
            if not wait and process.poll() is None:
                continue
            out, err = process.communicate(timeout=120)
            running.remove((text, process))
            assert b"Traceback" not in err, err
            assert process.returncode in (0, -signal.SIGKILL), (out, err)
            ended["killed" if process.returncode else "done"] += 1
            if out.endswith(b"}\n"):
                acknowledged[text] = json.loads(out)["data"]["firstIdx"]

    while time.monotonic() < end:
        while len(running) < PROCESSES:
            text = f"message {started} " + "词" * 500
            words = ("session", "append", "ant", "--role", "user", "--content", text, *PATIENCE)
            running.append((text, start(sessions.state, *words)))
            started += 1
        time.sleep(chance.random() * 0.1)
        if chance.random() < 0.5:
            os.kill(chance.choice(running)[1].pid, signal.SIGKILL)
        collect(wait=False)
    collect(wait=True)
    messages = sessions.messages("ant")
    assert [message["idx"] for message in messages] == list(range(len(messages)))
    texts = Counter(message["content"] for message in messages)
    assert set(texts.values()) <= {1}
    for text, idx in acknowledged.items():
        assert messages[idx]["content"] == text
    assert ended["done"] > SECONDS
    assert ended["killed"] > SECONDS / 2
    (row,) = sessions.listed()
    assert row["messageCount"] == len(messages)
    sessions.verify(repair=True)
    sessions.sound()


def test_readers_never_fail_while_a_session_is_written_to(tmp_path):
    sessions = Sessions(tmp_path / "state")
    sessions.new("ant", channel="tg", chat="1")
    turn = tmp_path / "turn.jsonl"
    turn.write_text(
        "\n".join(json.dumps({"role": "user", "content": "词" * 2000}) for _ in range(20))
    )
    command = '"$0" -m openclaw_cli --state-dir "$1" session append ant --quiet < "$2" || exit 1'
    loop = f"for n in 1 2 3 4 5 6; do {command}; done"
    writer = subprocess.Popen(["/bin/sh", "-c", loop, sys.executable, sessions.state, turn])
    counts = []
    while writer.poll() is None:
        found = len(sessions.messages("ant"))
        row = sessions.listed()[0]
        result = sessions.verify()
        assert "failed" not in result.data or {f["code"] for f in result.data["failed"]} <= {
            "torn-tail",
            "counter-differs",
        }
        counts += [found, row["messageCount"]]
        assert sessions.show("ant")["messageCount"] >= found
    assert writer.returncode == 0
    assert counts == sorted(counts)
    assert len(sessions.messages("ant")) == 120
    sessions.sound()
