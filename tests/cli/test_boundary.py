"""How a run ends: failures, interruption, broken outputs, odd locales and bytes."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

_CRASH = """
import sys
import openclaw_cli.cli.app as app
def boom(invocation, argv):
    raise {error}
app._execute = boom
sys.exit(app.run(sys.argv[1:]))
"""


def _crashing(*args: str, error: str = "ValueError('inner secret')") -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", _CRASH.format(error=error), *args],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _shell(line: str, **options) -> subprocess.CompletedProcess:
    command = line.replace("openclaw", f"{sys.executable} -m openclaw_cli")
    return subprocess.run(
        ["/bin/bash", "-c", command], capture_output=True, text=True, check=False, timeout=60
    )


def test_an_unexpected_failure_shows_no_traceback_and_keeps_it_in_a_private_log(state_dir):
    state_dir.mkdir()
    done = _crashing()
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    log = next(state_dir.glob("logs/crash-*.log"))
    assert f"unexpected failure: ValueError; the traceback is in {log}" in done.stderr
    assert "ValueError: inner secret" in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700


def test_without_a_state_directory_the_log_is_a_temporary_file(state_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = _crashing("--json")
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "internal"
    log = Path(error["path"])
    assert log.parent == tmp_path
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert not state_dir.exists()


def test_verbose_shows_the_traceback(state_dir):
    assert "Traceback (most recent call last)" in _crashing("--verbose").stderr


def test_a_failure_of_the_operating_system_is_told_as_one(state_dir):
    done = _crashing("--json", error="PermissionError(13, 'Permission denied', '/some/file')")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"] == {
        "code": "storage",
        "message": "/some/file: Permission denied",
        "hint": "check that the file exists, its permissions, and the free space",
        "path": "/some/file",
    }


def test_every_failure_is_one_document_with_json(run_cli):
    run = run_cli("config", "get", "nothing.like.this", "--json")
    assert run.status == 2
    assert run.err == ""
    assert run.document["schema"] == "openclaw.config.get/1"
    assert set(run.error) == {"code", "message", "hint"}


def test_ctrl_c_ends_with_130_and_one_line(state_dir, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [sys.executable, "-m", "openclaw_cli", "memory", "add", "--file", fifo],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with fifo.open("wb"):  # comes back when the command has begun to read
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err) == (b"", b"openclaw: error: interrupted\n")
    assert not state_dir.exists()


#: Whoever runs the tests may have these ignored, as nohup and shells in the background do.
_HEARD = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "signal.signal(signal.SIGTERM, signal.SIG_DFL); signal.signal(signal.SIGHUP, signal.SIG_DFL)"
)
_INTERRUPTED_IMPORT = """
import os, sys
{heard}
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), {ending})
sys.meta_path.insert(0, Interrupting())
from openclaw_cli.__main__ import main
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["typer", "orjson", "json.encoder", "openclaw_cli.cli.app"])
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_modules_are_loaded_waits_for_the_command(state_dir, name, ending):
    code = _INTERRUPTED_IMPORT.format(name=name, ending=int(ending), heard=_HEARD)
    argv = [sys.executable, "-c", code, "memory", "list"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 128 + ending
    assert done.stderr.startswith("openclaw: error: interrupted")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_ends_the_program_leaves_no_half_made_file(run_cli, tmp_path, ending):
    for number in range(3):
        run_cli("memory", "add", f"thing {number}", "--no-embed")
    target = tmp_path / "out.json"
    # The export waits in the middle of its file: a piece of it is never handed over.
    code = (
        f"{_HEARD}; import sys, time; from openclaw_cli.transfer import exporter;"
        "from openclaw_cli.cli.app import run;"
        "whole = exporter.Export.pieces;"
        "wait = lambda: print('begun', flush=True) or time.sleep(60);"
        "exporter.Export.pieces = lambda self: (wait() or piece for piece in whole(self));"
        f"sys.exit(run(['memory', 'export', '--output', {str(target)!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    (half,) = tmp_path.glob(".out.json.tmp-*")
    process.send_signal(ending)
    _out, err = process.communicate(timeout=30)
    assert process.returncode == 128 + ending
    assert err.startswith(b"openclaw: error: interrupted")
    assert not half.exists()
    assert not target.exists()


def test_the_next_export_sweeps_what_a_killed_one_left_of_the_same_file(run_cli, tmp_path):
    run_cli("memory", "add", "thing", "--no-embed")
    names = [
        ".out.json.tmp-0123456789ab",  # of this file: swept
        ".out.json.tmp-ffffffffffff",  # of this file, being written
        ".out.json.tmp-notours",
        ".out.json.tmp-0123456789abc",
        ".out.jsonl.tmp-0123456789ab",
        "out.json.tmp-0123456789ab",
    ]
    for name in names:
        (tmp_path / name).write_text("half")
    with (tmp_path / names[1]).open("rb") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        assert run_cli("memory", "export", "--output", tmp_path / "out.json").status == 0
    left = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert left == {*names[1:], "out.json"}


def test_a_closed_pipe_is_no_failure(state_dir):
    done = _shell("set -o pipefail; openclaw config show | head -c 1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
@pytest.mark.parametrize(
    "command", ["--version", "--help", "config get", "config get --json", "config gte --json"]
)
def test_a_full_output_is_a_failure(state_dir, command):
    done = _shell(f"openclaw {command} > /dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("openclaw: error: cannot write to standard output: No space left")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("command", ["--version", "--help", "config get", "config get --json"])
def test_a_closed_output_is_a_failure(state_dir, command):
    done = _shell(f"openclaw {command} >&-")
    assert done.returncode == 1
    assert "openclaw: error: standard output is closed" in done.stderr


def test_a_closed_error_output_changes_no_status(state_dir):
    assert _shell("openclaw config get nothing 2>&-").returncode == 2
    assert _shell("openclaw config get memory.locale 2>&-").stdout == "null\n"


def test_a_closed_input_is_told(state_dir):
    done = _shell("openclaw memory add - <&-")
    assert done.returncode == 2
    assert "standard input is closed" in done.stderr


ASCII = [
    {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"LANG": "C"},
    {"PYTHONIOENCODING": "ascii"},
]


@pytest.mark.parametrize("env", ASCII)
def test_chinese_is_heard_and_spoken_in_every_locale(run_cli, env):
    run = run_cli("memory", "add", "用户偏好 TypeScript", "--no-embed", "--json", env=env)
    assert run.data["record"]["content"]["l0"] == "用户偏好 TypeScript"
    assert "用户偏好 TypeScript" in run_cli("memory", "list", env=env).out


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_arguments_that_are_no_utf8_crash_nothing(run_cli, form):
    run = run_cli("config", "get", b"caf\xe9", *form)
    assert run.status == 2
    assert r"no such key: caf\xe9" in (run.error["message"] if form else run.err)


def test_text_that_is_no_utf8_is_refused_with_its_place(run_cli, tmp_path):
    gbk = tmp_path / "gbk.txt"
    gbk.write_bytes("ok 中文".encode("gbk"))
    for args, stdin, name in (
        (["memory", "add", "--file", gbk], None, str(gbk)),
        (["memory", "add", "-"], gbk.read_bytes(), "standard input"),
        (["memory", "add", gbk.read_bytes()], None, "the text"),
        (["memory", "search", gbk.read_bytes()], None, "QUERY"),
    ):
        run = run_cli(*args, "--json", stdin=stdin)
        assert run.status == 2
        assert run.error["code"] == "invalid-text"
        assert run.error["message"] == f"{name}: byte 3 (0xd6) is not UTF-8"


def test_a_missing_text_file_is_told(run_cli, tmp_path):
    run = run_cli("memory", "add", "--file", tmp_path / "missing")
    assert run.status == 1
    assert f"cannot read {tmp_path / 'missing'}: No such file or directory" in run.err


def test_a_message_cannot_drive_the_terminal(run_cli):
    run = run_cli("config", "get", "x\x1b]0;title\x07")
    assert "\x1b" not in run.err
    assert r"x\x1b]0;title\x07" in run.err
