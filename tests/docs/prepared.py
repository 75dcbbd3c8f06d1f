"""A store in which every id, file and setting that the examples of the help name exists."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from openclaw_cli.cli import registry
from openclaw_cli.cli.commandline import load_command

TAIL = "01a22ce0-bf74-78f0-8e23-eac4"
#: Records and sessions by the ids that examples give in full, or by their last 8 characters.
RECORDS = {
    f"mem-{TAIL}5f3c9a1e": ["User is 31 years old", "--user", "123456789"],
    "mem-001": ["The editor is vim", "--category", "preference", "--tag", "tools"],
    "mem-002": ["部署 with deploy 脚本 deploy.sh", "--user", "123456789"],
    "mem-003": ["Check the disk before a release", "--category", "lesson"],
}
SESSIONS = {
    f"s-{TAIL}5f3c9a1e": ["--channel", "telegram", "--chat", "12345", "--title", "the release"],
    f"s-{TAIL}7d2e41bb": ["--title", "small talk"],
    f"s-{TAIL}9b1c2d3e": ["--title", "thrown away"],
    "s-abc123": ["--channel", "cron"],
}
_OLD = {"version": "1.x", "memories": [{"id": "mem-old", "content": "an old one", "scope": "user"}]}


def examples() -> list[str]:
    """Return every example that the help prints."""
    return [line for path in registry.COMMANDS for line in load_command(path).module.EXAMPLES]


def openclaw(state: Path, *args: str, stdin: bytes = b"") -> bytes:
    """Run the program on ``state``; whatever it says, it must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "openclaw_cli", "--state-dir", state, *args],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, (args, done.stdout, done.stderr)
    return done.stdout


def build(folder: Path) -> None:
    """Make the store in ``folder/state`` and the files that examples read beside it."""
    state = folder / "state"
    for record_id, words in RECORDS.items():
        openclaw(state, "memory", "add", "--no-embed", "--id", record_id, *words)
    openclaw(state, "memory", "edit", "mem-001", "--l0", "The editor is helix")
    openclaw(state, "memory", "edit", "mem-001", "--l0", "The editor is emacs")
    openclaw(state, "memory", "edit", "5f3c9a1e", "--l0", "User is 32 years old")
    older = {"version": "1.x", "id": "mem-004", "content": "an old one", "scope": "user"}
    place = state / "agents" / "main" / "memory" / "records" / "user" / "mem-004.json"
    place.write_text(json.dumps(older))
    openclaw(state, "memory", "migrate")
    openclaw(state, "memory", "index")
    for session_id, words in SESSIONS.items():
        openclaw(state, "session", "new", "--id", session_id, *words)
        message = json.dumps({"role": "user", "content": "What is the weather?"}).encode()
        openclaw(state, "session", "append", session_id, stdin=message + b"\n")
    more = [{"role": "user", "content": f"Mind the timeout of step {n}"} for n in range(60)]
    lines = "".join(json.dumps(message) + "\n" for message in more).encode()
    openclaw(state, "session", "append", "5f3c9a1e", stdin=lines)
    openclaw(state, "session", "delete", "9b1c2d3e", "--yes")
    point = {"checkpointId": "c1", "state": "ready_to_resume", "sequence": 1, "historyCount": 2}
    (folder / "checkpoint.json").write_text(json.dumps(point))
    turn = {"SessionId": "s-abc123", "ModelId": "m", "InputTokens": 12, "OutputTokens": 3}
    (folder / "turn.json").write_text(json.dumps(turn))
    openclaw(state, "session", "usage", "--record", stdin=json.dumps(turn).encode())
    openclaw(state, "session", "branch", "5f3c9a1e", "before", "--at", "3")
    openclaw(state, "session", "export", "--all", "--output", str(folder / "sessions.jsonl"))
    openclaw(state, "session", "export", "--all", "--output", str(folder / "sessions.jsonl.gz"))
    line = json.dumps({"text": "The user walks to work"}).encode() + b"\n"
    (folder / "memories.jsonl").write_bytes(line)
    for name in ("chart.svg", "chart.txt", "picture.png", "drawn.svg/in"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"")
    (folder / "notes.jsonl.gz").write_bytes(gzip.compress(line))
    (folder / "notes.txt").write_text("Restart the worker after a change of its queue\n")
    (folder / "turn.jsonl").write_text('{"role":"assistant","content":"Sunny."}\n')
    (folder / "old-export.json").write_text(json.dumps(_OLD))
    (folder / "export.json").write_bytes(openclaw(state, "memory", "export"))


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of an operator whose ``openclaw`` works on the store in ``folder``."""
    for name in ("openclaw", "openclaw-cli"):
        tool = folder / "bin" / name
        if not tool.exists():
            tool.parent.mkdir(exist_ok=True)
            tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m openclaw_cli "$@"\n')
            tool.chmod(0o755)
    path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "OPENCLAW_STATE_DIR": str(folder / "state")}
