"""Search, usage, branches, export and import of sessions from end to end."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pytest


@pytest.fixture
def ant(run_cli) -> str:
    """A session with three messages; returns its id."""
    name = run_cli("session", "new", "--id", "ant-12345678", "--user", "u1", "-q").out.strip()
    for role, content in (
        ("user", "今天部署服务器"),
        ("assistant", "Deployed"),
        ("user", "ok\x1b[31m"),
    ):
        assert run_cli("session", "append", name, "--role", role, "--content", content).status == 0
    return name


def record(run_cli, **turn):
    body = {"SessionId": "ant-12345678", "ModelId": "m", "InputTokens": 1000, **turn}
    return run_cli("session", "usage", "--record", stdin=json.dumps(body))


def test_search_shows_hits_and_gives_scripts_their_place(run_cli, ant):
    run = run_cli("session", "search", "部署")
    assert run.out.splitlines()[0].startswith(f"{ant}  #0  user  ")
    assert "  今天部署服务器" in run.out.splitlines()
    data = run_cli("session", "search", "deploy", "--json").data
    hit = data["results"][0]
    assert {"sessionId", "idx", "ts", "role", "snippet"} <= set(hit)
    assert (hit["sessionId"], hit["idx"], hit["role"], hit["snippet"]) == (
        ant,
        1,
        "assistant",
        "Deployed",
    )
    assert run_cli("session", "search", "部署", "-q").out == f"{ant} 0\n"
    assert run_cli("session", "search", "部署", "--role", "tool").out == "nothing found\n"
    assert run_cli("session", "search", "ok", "--session", ant[-8:], "--since", "1d").out
    assert "\x1b" not in run_cli("session", "search", "ok").out
    run_cli("session", "archive", ant)
    assert run_cli("session", "search", "部署", "-q").out == f"{ant} 0\n"


def test_search_refuses_what_it_cannot_look_for(run_cli, ant):
    assert run_cli("session", "search", "...").status == 2
    assert run_cli("session", "search", "x", "--session", "nothing-there").status == 10
    assert run_cli("session", "search", "x", "--limit", "0").status == 2


def test_usage_is_a_table_with_bars_or_json_or_csv(run_cli, ant, state_dir):
    assert record(run_cli).out == f"recorded a turn of session {ant}\n"
    record(run_cli, TimestampUtc="2026-02-01T00:00:00Z", OutputTokens=500, ModelId="=cmd()")
    (state_dir / "openclaw.json").write_text("{session: {prices: {m: {input: 2}}}}")
    lines = run_cli("session", "usage").out.splitlines()
    assert lines[0].split() == [
        *("DAY", "TURNS", "INPUT", "OUTPUT", "CACHE", "READ", "CACHE", "WRITE", "COST"),
    ]
    assert any(line.startswith("2026-02-01  █") and line.endswith(" 1,500") for line in lines)
    assert lines[-1] == "costs leave out 1 turn of models without a price"
    data = run_cli("session", "usage", "--by", "model", "--json").data
    assert {row["key"]: row["cost"] for row in data["items"]} == {"=cmd()": None, "m": 0.002}
    assert data["sum"]["turns"] == 2
    rows = list(
        csv.DictReader(io.StringIO(run_cli("session", "usage", "--by", "model", "--csv").out))
    )
    assert [row["model"] for row in rows] == ["'=cmd()", "m"]
    assert rows[1]["inputTokens"] == "1000"
    assert run_cli("session", "usage", "--since", "2099-01-01").out == "no turns recorded\n"


def test_no_name_is_a_formula_in_a_spreadsheet(run_cli, ant):
    names = [" =1", "\t@x", "\n+1", "\u00a0-1", "\u200b=1", "\ufeff=1", "\uff1d1", "\x01=1", "\rm"]
    for name in [*names, "plain-1", "", " m"]:
        assert record(run_cli, ModelId=name).status == 0
    run = run_cli("session", "usage", "--by", "model", "--csv")
    found = {row["model"] for row in csv.DictReader(io.StringIO(run.out, newline=""))}
    assert found == {*(f"'{name}" for name in names), "plain-1", "", " m"}


def test_usage_refuses_bad_turns_and_options_that_do_not_go_together(run_cli, ant):
    bad = run_cli("session", "usage", "--record", "--json", stdin="{}")
    assert (bad.status, bad.error["code"]) == (2, "invalid-text")
    assert "SessionId" in bad.error["message"]
    assert run_cli("session", "usage", "--record", "--csv", stdin="{}").status == 2
    assert run_cli("session", "usage", "--csv", "--json").status == 2
    assert run_cli("session", "usage", "--by", "week").status == 2
    assert run_cli("session", "usage", "--agent", "nobody").status == 10


def test_prices_of_the_wrong_form_are_told_with_their_line(run_cli, state_dir):
    state_dir.mkdir()
    (state_dir / "openclaw.json").write_text('{session: {\n  prices: {m: {input: "x"}}}}')
    run = run_cli("config", "validate", "--json")
    assert "session.prices" in run.out
    assert run_cli("session", "usage").status == 2


def test_sessions_go_out_and_come_in(run_cli, ant, tmp_path):
    path = tmp_path / "out.jsonl.gz"
    run = run_cli("session", "export", "--all", "--output", path)
    assert run.out.startswith(f"exported 1 session, 3 messages to {path} (")
    assert run_cli("session", "export", "--all", "--output", path).status == 2
    assert run_cli("session", "export", "--all").out == gzip.decompress(path.read_bytes()).decode()
    other = ("--state-dir", tmp_path / "other")
    assert run_cli("session", "import", path, *other).out == "read 1 session: 1 added\n"
    assert run_cli("session", "import", path, *other).out == "read 1 session: 1 skipped\n"
    run_cli("session", "append", ant, "--role", "user", "--content", "x", *other)
    data = run_cli(
        "session",
        "import",
        "-",
        "--on-conflict",
        "new-id",
        "--json",
        *other,
        stdin=path.read_bytes(),
    ).data
    assert data["renamedIds"][0]["from"] == ant
    keys = {"read", "added", "skipped", "overwritten", "renamed", "refused", "messages"}
    assert keys | {"renamedIds", "skippedIds", "failed", "dryRun"} == set(data)
    tail = run_cli("session", "tail", ant, "--json").data["items"]
    assert (
        run_cli("session", "tail", data["renamedIds"][0]["to"], "--json", *other).data["items"]
        == tail
    )


def test_transcripts_are_written_by_the_name_of_the_file(run_cli, ant, tmp_path):
    for name, begins in (("talk.html", "<!DOCTYPE html>"), ("talk.md", "# ant")):
        run_cli("session", "export", ant, "--output", tmp_path / name)
        text = (tmp_path / name).read_text()
        assert text.startswith(begins)
        assert "今天部署服务器" in text
        assert "\x1b" not in text
    assert run_cli("session", "export", ant, "--format", "markdown").out.startswith("# ant")
    assert run_cli("session", "export").status == 2
    assert run_cli("session", "export", ant, "--all").status == 2
    assert run_cli("session", "export", "nothing-there").status == 10


def test_an_import_says_what_is_wrong_with_which_line(run_cli, ant, tmp_path):
    lines = run_cli("session", "export", "--all").out.splitlines(keepends=True)
    bad = tmp_path / "bad.jsonl"
    bad.write_text("".join([*lines[:2], "{bad\n", *lines[2:]]))
    other = ("--state-dir", tmp_path / "other")
    run = run_cli("session", "import", bad, "--json", *other)
    assert (run.status, run.data["failed"][0]["line"]) == (3, 3)
    bad.write_text(lines[0].replace('"2.0"', '"3.0"'))
    assert run_cli("session", "import", bad, *other).status == 13
    bad.write_text(lines[0].replace('"2.0"', '"1.0"'))
    assert run_cli("session", "import", bad, *other).status == 12
    bad.write_bytes(gzip.compress("".join(lines).encode())[:-20])
    assert run_cli("session", "import", bad, *other).status == 14
    assert run_cli("session", "import", tmp_path / "nothing", *other).status == 1


@pytest.mark.parametrize("command", ["search", "usage", "export", "import"])
def test_help_has_an_example_and_the_exit_statuses(run_cli, command):
    run = run_cli("session", command, "--help")
    assert run.status == 0
    assert f"openclaw session {command}" in run.out
    assert "Exit status" in run.out
