"""Standard streams that are closed, full or cut off, odd locales, and names that are no UTF-8."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.contract.documents import check

FULL = "/dev/full"
READING = [
    "memory list",
    "memory list --json",
    "memory list --jsonl",
    "memory list --quiet",
    "memory search tea --mode lexical",
    "memory get mem-tea",
    "memory history mem-tea",
    "memory status",
    "memory export",
    "session list",
    "session list --jsonl",
    "session show s-1",
    "session tail s-1",
    "session tail s-1 --json",
    "model list",
    "config show",
    "schema",
    "schema memory search",
    "--help",
    "memory add --help",
    "memory get none --json",
]
ODD = os.fsdecode(b"two words\nand \xff\xfe bytes")
WITHOUT_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.fixture
def stored(run_cli, state_dir):
    """A state with a memory and a session of a message."""
    assert run_cli("memory", "add", "likes tea", "--id", "mem-tea", "--no-embed").status == 0
    assert run_cli("session", "new", "--id", "s-1").status == 0
    assert run_cli("session", "append", "s-1", "--role", "user", "--content", "hi").status == 0
    return state_dir


def _bash(line: str, **env: str) -> subprocess.CompletedProcess:
    command = line.replace("openclaw", f"{sys.executable} -m openclaw_cli", 1)
    return subprocess.run(
        ["/bin/bash", "-c", command],
        capture_output=True,
        env={**os.environ, **env},
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(not os.path.exists(FULL), reason="no /dev/full on this system")
@pytest.mark.parametrize("line", READING)
def test_a_full_output_ends_with_1_and_is_told(stored, line):
    done = _bash(f"openclaw {line} > {FULL}")
    told = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert told[0] == ("openclaw: error: cannot write to standard output: No space left on device")
    assert told[1].startswith("hint: what the command did is done")
    assert len(told) == 2


@pytest.mark.parametrize("line", READING)
def test_a_closed_output_ends_with_1_and_is_told(stored, line):
    done = _bash(f"openclaw {line} >&-")
    told = done.stderr.decode().splitlines()
    assert done.returncode == 1
    assert told[0] == "openclaw: error: standard output is closed"
    assert len(told) == 2


@pytest.mark.parametrize("line", READING)
def test_a_reader_that_has_gone_is_no_failure(stored, line):
    # Standard output is a pipe without a reader before anything is written to it.
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "openclaw_cli", *line.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("line", ["memory add -", "memory import -", "session append s-1"])
def test_a_closed_input_is_told(stored, line):
    done = _bash(f"openclaw {line} --json <&-")
    assert done.returncode == 2
    error = check(json.loads(done.stdout))["error"]
    assert error["message"] == "standard input is closed"


def test_with_all_streams_closed_a_memory_is_stored_and_whole(stored, run_cli):
    done = _bash("openclaw memory add 'likes cake' --id mem-cake --no-embed <&- >&- 2>&-")
    assert done.returncode == 1  # it could not say so
    assert run_cli("memory", "get", "mem-cake", "--json").data["items"][0]["id"] == "mem-cake"
    assert run_cli("memory", "index", "--verify", "--no-embed", "--json").data["damaged"] == []


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path):
    code = (
        "import os; from openclaw_cli.cli.render import prepare_streams; prepare_streams();"
        f"fd = os.open({str(tmp_path / 'log')!r}, os.O_CREAT | os.O_WRONLY);"
        "os.write(2, b'stray'); os._exit(fd > 2)"
    )
    done = subprocess.run(
        ["/bin/bash", "-c", f'{sys.executable} -c "$0" <&- >&- 2>&-', code], check=False
    )
    assert done.returncode == 1
    assert (tmp_path / "log").read_bytes() == b""


@pytest.mark.parametrize("env", [{"LC_ALL": "C"}, WITHOUT_UTF8, {"LANG": "xx_YY.nonsense"}])
def test_texts_and_labels_are_the_same_in_any_locale(run_cli, env):
    words = ["--tag", "标签", "--user", "用户", "--key", "飲み物"]
    added = run_cli("memory", "add", "他喜欢喝茶", "--no-embed", *words, "--json", env=env)
    assert added.data["record"]["content"]["l0"] == "他喜欢喝茶"
    chosen = ["--tag", "标签", "--user", "用户"]
    for line in (["list"], ["search", "喝茶", "--mode", "lexical"]):
        found = run_cli("memory", *line, *chosen, env=env)
        assert "他喜欢喝茶" in found.out, line
    run_cli("session", "new", "--title", "早上好", "--channel", "微信", "--chat", "家", env=env)
    assert "早上好" in run_cli("session", "list", "--channel", "微信", env=env).out
    assert run_cli("memory", "delete", *chosen, "--yes", "-q", env=env).out.strip() != ""


@pytest.mark.parametrize("option", ["--tag", "--user"])
def test_a_filter_that_is_no_utf8_is_told_and_finds_not_nothing(stored, run_cli, option):
    run = run_cli("memory", "list", option, b"\xff", "--json")
    assert (run.status, run.error["code"]) == (2, "invalid-text")
    assert run.error["message"] == f"{option}: byte 0 (0xff) is not UTF-8"


def test_files_and_folders_of_any_name_are_written_and_read(run_cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    state = ["--state-dir", ODD]
    (tmp_path / (ODD + ".txt")).write_text("likes tea")
    added = run_cli("memory", "add", "--file", ODD + ".txt", "--no-embed", *state, "--json")
    check(added.document)
    assert run_cli("memory", "index", *state).status == 0
    written = run_cli("memory", "export", "-o", ODD + ".jsonl", *state, "--json")
    assert check(written.document)["data"]["records"] == 1
    again = run_cli("memory", "import", ODD + ".jsonl", "--state-dir", ODD + "2", "--json")
    assert again.data["added"] == 1
    (tmp_path / (ODD + ".old")).write_text('{"version": "1.2", "records": []}')
    told = run_cli("memory", "import", ODD + ".old", *state)
    assert told.status == 12
    assert len(told.err.splitlines()) == 2
    session = run_cli("session", "new", *state, "--json").data["sessionId"]
    shown = run_cli("session", "show", session, *state, "--json")
    assert "\\xff\\xfe" in check(shown.document)["data"]["path"]
    assert run_cli("config", "show", *state).status == 0
