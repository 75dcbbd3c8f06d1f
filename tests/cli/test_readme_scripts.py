"""What the README shows: the demo, and every block of "In scripts and cron", run as printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from openclaw_cli.clock import Clock
from openclaw_cli.store import locks
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text("utf-8")
SECTION = README.partition("## In scripts and cron\n")[2]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", SECTION.partition("\n## ")[0], re.DOTALL)
_CRON = re.compile(r"(?:\S+\s+){5}(.*)")


def block(start: str) -> str:
    """Return the one block whose text begins so."""
    (found,) = (text for _kind, text in BLOCKS if text.startswith(start))
    return found


@pytest.fixture
def home(hermetic, tmp_path, monkeypatch) -> Path:
    """A home with two agents, a name with blanks in its path, and the program on PATH."""
    home = tmp_path / "a home"
    programs = tmp_path / "bin"
    for folder in (home, programs):
        folder.mkdir()
    for name in ("openclaw", "openclaw-cli"):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m openclaw_cli "$@"\n')
        program.chmod(0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.chdir(home)
    run("openclaw memory add 'The user drinks green tea' --id mem-tea --no-embed")
    run("openclaw memory add 'Old news' --id mem-old --no-embed --now 2020-01-01 --agent other")
    run("openclaw session new --id s-1 --now 2020-01-01")
    return home


def run(script: str, status: int = 0, shell: str = "sh") -> subprocess.CompletedProcess:
    done = subprocess.run(
        [shell, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == status, done
    return done


@pytest.fixture
def jq():
    """The program jq, without which a block cannot be run."""
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed: this block of the README was not run")


def test_every_block_has_a_test():
    assert [kind for kind, _text in BLOCKS] == ["cron", "sh", "sh", "sh"]


def test_the_lines_for_cron_work_and_say_nothing(home):
    lines = block("15 3").splitlines()
    assert len(lines) == 3
    for line in lines:
        done = run(_CRON.fullmatch(line)[1].replace(r"\%", "%"))
        assert (done.stdout, done.stderr) == ("", ""), line
    assert (home / f"memories-{date.today()}.jsonl.gz").stat().st_size > 0
    assert "archived" in run("openclaw session list --status all").stdout
    assert '"stale":[]' in run("openclaw memory status --json").stdout


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_backup_has_a_file_for_every_agent_that_can_be_read_back(home, shell):
    for _ in range(2):  # twice on one day is no failure
        done = run(block("backup="), shell=shell)
        assert (done.stdout, done.stderr) == ("", "")
    folder = home / "backups" / str(date.today())
    assert {path.name for path in folder.iterdir()} == {"main.jsonl.gz", "other.jsonl.gz"}
    run(f"openclaw memory import '{folder}/main.jsonl.gz' --state-dir restored --no-embed")
    assert "green tea" in run("openclaw memory get mem-tea --state-dir restored").stdout


def test_the_examples_with_jq_print_what_they_say(home, jq):
    run("openclaw memory index --all-agents")
    lines = block("openclaw memory search").splitlines()
    assert len(lines) == 4
    table, fading, cost, behind = (run(line).stdout for line in lines)
    assert table == "mem-tea\tThe user drinks green tea\n"
    assert fading == ""
    assert run(f"export OPENCLAW_AGENT=other; {lines[1]}").stdout == "mem-old\n"
    assert (cost, behind) == ("0\n", "")


def test_the_import_tells_bad_lines_from_a_busy_store(home, jq):
    script = block("openclaw memory import").replace("--lock-timeout 60", "--lock-timeout 0")
    notes = home / "notes.jsonl"
    assert "cannot read notes.jsonl" in run(script, 1).stderr
    notes.write_text('{"text": "a line"}\n')
    assert run(script).stderr == ""
    notes.write_text('{"text": "another line"}\n{\n')
    assert run(script).stderr.startswith("line 2: ")
    notes.write_text('{"text": "one more line"}\n')
    lock = home / ".openclaw" / "agents" / "main" / "memory" / "writer.lock"
    with locks.hold(lock, clock=Clock(), timeout=0, holder="another"):
        assert "try again" in run(script, 75).stderr


def _masked(text: str) -> str:
    """Leave out what differs from run to run: ids drawn by lot, ages, durations."""
    text = re.sub(r"mem-[0-9a-f-]{36}", "ID", text)
    return re.sub(r"\d+ years ago|in [\d.]+ s\b", "TIME", text)


def test_the_demo_prints_what_the_readme_shows(run_cli):
    shown = re.search(r"^\.venv/bin/openclaw --version$.*?(?=^```$)", README, re.S | re.M)
    assert shown
    printed = []
    for line in shown[0].splitlines():
        if line.startswith(".venv/bin/openclaw "):
            words = shlex.split(line.replace("tests/data", str(ROOT / "tests/data")))
            printed += [line, *run_cli(*words[1:]).out.splitlines()]
    assert _masked("\n".join(printed)) == _masked(shown[0].rstrip("\n"))


def test_the_readme_shows_the_commands_of_the_demo_in_their_order():
    made = (ROOT / "Makefile").read_text().partition("\ndemo:")[2].partition("\ntest:")[0]
    made = made.replace("$(OPENCLAW)", ".venv/bin/openclaw").replace(
        "$(SAMPLE)", "tests/data/sample"
    )
    lines = re.findall(r"^\t(\.venv/bin/openclaw .*)$", made, re.M)
    shown = re.findall(r"^\.venv/bin/openclaw .*$", README, re.M)
    assert len(shown) > 4
    assert shown == lines[: len(shown)]
