"""doctor and status --bytes as an operator types them."""

from __future__ import annotations

import json
import re

import pytest

from tests.cli.terminal import on_terminal

EN = "The user lives in Berlin and works remotely"


@pytest.fixture
def stored(run_cli):
    """An agent with two memories, one of them in the index."""
    run_cli("memory", "add", EN, "--id", "mem-berlin", "--no-embed")
    run_cli("memory", "index", "--no-embed")
    run_cli("memory", "add", "部署脚本在 deploy.sh", "--id", "mem-deploy", "--no-embed")


@pytest.fixture
def records(stored, state_dir):
    return state_dir / "agents" / "main" / "memory" / "records" / "user"


def bytes_below(folder):
    return {
        path: (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


def test_a_healthy_store_gets_one_line_a_check(run_cli, stored):
    run = run_cli("doctor")
    assert (run.status, run.err) == (0, "")
    *lines, last = run.out.splitlines()
    assert all(line.startswith("ok ") for line in lines)
    assert re.fullmatch(r"\d+ checks, all ok", last)
    assert int(last.split()[0]) == len(lines)
    assert any("main: records" in line and "2 sound" in line for line in lines)
    assert run_cli("doctor", "-q").out == ""


def test_the_document_has_a_check_with_its_outcome(run_cli, stored):
    run = run_cli("doctor", "--json")
    assert (run.status, run.document["schema"]) == (0, "openclaw.doctor/1")
    for check in run.data["checks"]:
        assert {"name", "agent", "ok", "state", "detail", "fixed", "hint", "faults"} == set(check)
        assert (check["ok"], check["state"], check["fixed"]) == (True, "ok", False)
    assert run.data["counts"]["ok"] == len(run.data["checks"])


def test_what_can_be_repaired_is_told_then_repaired_then_ok(run_cli, records, state_dir):
    (records / "mem-berlin.json").chmod(0o644)
    before = bytes_below(state_dir)
    run = run_cli("doctor")
    assert run.status == 3
    assert re.search(r"^fixable  main: modes .*mem-berlin\.json: file 0644$", run.out, re.M)
    assert "1 fixable; --fix repairs what is safe" in run.out
    assert bytes_below(state_dir) == before
    run = run_cli("doctor", "--fix", "--quiet")
    assert run.status == 3
    assert re.fullmatch(r"fixed    main: modes  .*\n", run.out)
    assert (records / "mem-berlin.json").stat().st_mode & 0o777 == 0o600
    assert run_cli("doctor", "--fix").status == 0


def test_damage_is_set_aside_and_named(run_cli, records):
    (records / "mem-berlin.json").write_text("{")
    run = run_cli("doctor", "--json")
    (check,) = (check for check in run.data["checks"] if not check["ok"])
    assert (run.status, check["name"], check["state"]) == (14, "records", "damaged")
    assert check["faults"][0]["path"] == str(records / "mem-berlin.json")
    run = run_cli("doctor", "--fix")
    (kept,) = records.glob("mem-berlin.json.bad-*")
    assert (run.status, kept.read_text()) == (14, "{")
    assert str(kept) in run.err
    assert run_cli("doctor", "--fix", "--json").status == 0
    assert run_cli("memory", "get", "mem-deploy").status == 0


def test_a_broken_configuration_and_a_broken_agent_are_told_and_the_rest_is_checked(
    run_cli, records, state_dir
):
    (state_dir / "openclaw.json").write_text('{"memory": {"retrieval": {"topK": "many"}}}')
    (state_dir / "openclaw.json").chmod(0o600)
    (state_dir / "agents" / "two").mkdir(mode=0o700)
    (state_dir / "agents" / "two" / "memory").write_text("a file")
    run = run_cli("doctor", "--fix", "--json")
    found = {(check["agent"], check["name"]): check for check in run.data["checks"]}
    assert run.status == 14
    assert "topK" in found[None, "configuration"]["detail"]
    assert not found["two", "places"]["ok"]
    assert found["main", "records"]["ok"]
    assert json.loads((state_dir / "openclaw.json").read_text())["memory"]


def test_a_file_in_the_place_of_the_state_directory_is_a_check_that_fails(run_cli, tmp_path):
    (tmp_path / "file").write_text("x")
    run = run_cli("doctor", "--state-dir", tmp_path / "file", "--json")
    assert run.status == 14
    assert run.data["checks"][0]["detail"] == f"{tmp_path / 'file'} is not a folder"


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["--agent", "other"], 10),
        (["--agent", "a/b"], 2),
        (["--agent", "main", "--all-agents"], 2),
        (["--all-agents"], 0),
        (["--agent", "main"], 0),
        (["--fxi"], 2),
    ],
)
def test_which_agents_are_checked(run_cli, stored, args, status):
    assert run_cli("doctor", *args).status == status


def test_on_a_terminal_every_check_is_one_line(stored, records):
    (records / "mem-berlin.json").write_text("{")
    status, seen = on_terminal("doctor", "--verbose", columns=80)
    assert status == 14
    lines = re.sub(r"\x1b\[\d*m", "", seen).splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert sum("main: records" in line for line in lines) == 1
    assert any(str(records / "mem-berlin.json")[:30] in line for line in lines)


def test_status_shows_where_the_space_went(run_cli, stored, state_dir):
    folder = state_dir / "agents" / "main" / "memory"
    total = sum(path.stat().st_size for path in folder.glob("**/*") if is_counted(path))
    run = run_cli("memory", "status", "--bytes")
    assert run.status == 0
    assert re.search(rf"^{total:,} .* memory in all$", run.out, re.M)
    assert re.search(r"write-ahead log$", run.out, re.M)
    sizes = run_cli("memory", "status", "--bytes", "--json").data["bytes"]
    assert sizes["total"] == total
    assert set(run_cli("memory", "status", "--json").data["bytes"]) == {
        *("records", "index", "wal", "vectors")
    }


def is_counted(path):
    return path.is_file() and not path.is_symlink() and "index" not in path.parts


def test_sessions_are_checked_and_repaired_with_the_rest(run_cli, stored, state_dir):
    run_cli("session", "new", "--id", "s-talk")
    for text in ("你好", "and again"):
        run_cli("session", "append", "s-talk", "--role", "user", "--content", text)
    history = state_dir / "agents/main/sessions/s-talk/messages.jsonl"
    assert "main: sessions" in run_cli("doctor").out
    whole = history.read_bytes()
    history.write_bytes(whole + '{"idx":2,"role":"user","content":"好'.encode()[:-1])
    run = run_cli("doctor", "--json")
    (check,) = [check for check in run.data["checks"] if check["name"] == "sessions"]
    assert (run.status, check["state"]) == (3, "fixable")
    assert run_cli("doctor", "--fix", "-q").out.startswith("fixed")
    assert history.read_bytes() == whole
    assert run_cli("doctor").status == 0
