"""memory export, import and migrate as typed: what they print, and how they end."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OLDER = Path(__file__).parents[1] / "compat" / "data"


@pytest.fixture
def stored(run_cli):
    lines = [{"id": f"r{n}", "text": f"note {n} 喜欢绿茶", "tags": ["t"]} for n in range(5)]
    lines.append({"id": "case", "text": "Restart helps", "category": "case"})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    assert run_cli("memory", "import", "-", "--no-embed", stdin=text).status == 0


@pytest.mark.usefixtures("stored")
def test_export_prints_the_document_itself_also_with_json(run_cli):
    plain = run_cli("memory", "export")
    assert plain.status == 0
    assert plain.err == ""
    assert json.loads(plain.out)["version"] == "2.0"
    assert len(json.loads(plain.out)["records"]) == 6
    for words in (("--json",), ("--output", "-"), ("--json", "--quiet"), ("--now", "2031-01-01")):
        assert run_cli("memory", "export", *words).out == plain.out
    lines = run_cli("memory", "export", "--format", "jsonl", "--scope", "agent").out.splitlines()
    assert [json.loads(line).get("id") for line in lines] == [None, "case"]


@pytest.mark.usefixtures("stored")
def test_export_to_a_file_sums_up(run_cli, tmp_path):
    path = tmp_path / "out" / "memories.jsonl.gz"
    missing = run_cli("memory", "export", "--output", path)
    assert missing.status == 1
    assert "cannot write" in missing.err
    path.parent.mkdir()
    data = run_cli("memory", "export", "--output", path, "--json").data
    assert (data["path"], data["records"]) == (str(path), 6)
    assert data["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == 7
    again = run_cli("memory", "export", "--output", path)
    assert again.status == 2
    assert "--force" in again.err
    told = run_cli("memory", "export", "--output", path, "--force", "--tag", "t")
    assert told.out.startswith(f"exported 5 to {path} (")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.usefixtures("stored")
def test_export_names_what_it_could_not_read(run_cli, state_dir, tmp_path):
    run_cli("memory", "index", "--no-embed")
    (state_dir / "agents/main/memory/records/user/r3.json").write_text("{")
    run = run_cli("memory", "export", "--output", tmp_path / "x.json", "--json")
    assert run.status == 3
    assert [item["id"] for item in run.data["failed"]] == ["r3"]
    printed = run_cli("memory", "export")
    assert printed.status == 3
    assert "openclaw: failed: r3: damaged" in printed.err
    assert len(json.loads(printed.out)["records"]) == 5


def test_export_of_an_agent_that_is_not_there_is_10(run_cli, stored):
    run = run_cli("memory", "export", "--agent", "mian", "--json")
    assert (run.status, run.error["code"]) == (10, "not-found")
    assert "main" in run.error["hint"]


@pytest.mark.usefixtures("stored")
def test_a_closed_pipe_is_no_failure(run_cli, state_dir, tmp_path):
    rows = "".join(json.dumps({"text": f"{n} " + "x" * 900}) + "\n" for n in range(2000))
    run_cli("memory", "import", "-", "--no-embed", stdin=rows)
    command = f"{sys.executable} -m openclaw_cli memory export | head -c 10"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.usefixtures("stored")
def test_a_full_disk_under_standard_output_is_told(run_cli):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "openclaw_cli", "memory", "export", "--json"],
            stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert b"cannot write to standard output" in done.stderr


@pytest.mark.parametrize("name", ["out.json", "out.jsonl", "out.json.gz", "packed"])
@pytest.mark.usefixtures("stored")
def test_what_was_exported_is_imported_whatever_its_name(run_cli, tmp_path, name):
    path = tmp_path / ("out.json.gz" if name == "packed" else name)
    run_cli("memory", "export", "--output", path)
    if name == "packed":
        path = path.rename(tmp_path / "no-suffix")
    before = path.read_bytes()
    other = ("--state-dir", tmp_path / "other")
    data = run_cli("memory", "import", path, "--no-embed", "--json", *other).data
    assert (data["read"], data["added"], data["failed"], data["total"]) == (6, 6, [], 6)
    again = run_cli("memory", "import", "-", "--no-embed", "--json", *other, stdin=before).data
    assert again["skipped"] == 6
    assert path.read_bytes() == before
    first = run_cli("memory", "export").out
    assert run_cli("memory", "export", *other).out == first


def test_an_older_export_is_refused_with_the_command_that_helps(run_cli, tmp_path):
    path = Path(shutil.copy(OLDER / "export_1x.json", tmp_path / "my export.json"))
    run = run_cli("memory", "import", path, "--json")
    assert (run.status, run.error["code"]) == (12, "format-too-old")
    command = run.error["hint"].removeprefix("run: ")
    assert command == f"openclaw memory migrate --from 1.2 --to 2.0 '{path}'"
    shell = command.replace("openclaw", f"{sys.executable} -m openclaw_cli", 1)
    assert subprocess.run(["sh", "-c", shell], check=True, capture_output=True)
    assert run_cli("memory", "import", path, "--no-embed").out == "read 3: 3 added\n"
    newer = tmp_path / "newer.json"
    newer.write_text('{"version":"3.0","records":[]}')
    assert run_cli("memory", "import", newer).status == 13


def test_import_names_a_file_of_another_kind_and_an_empty_one(run_cli, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,text\n1,hello\n")
    run = run_cli("memory", "import", path)
    assert run.status == 2
    assert "a CSV table, not JSON" in run.err
    path.write_text("")
    empty = run_cli("memory", "import", path)
    assert empty.status == 0
    assert "no record in it" in empty.err


@pytest.fixture
def older(state_dir):
    shutil.copytree(OLDER / "folders_1x", state_dir)


@pytest.mark.usefixtures("older")
def test_an_older_store_is_read_and_migrated_and_rolled_back(run_cli, state_dir):
    listed = run_cli("memory", "list")
    assert len(listed.out.splitlines()) == 4
    assert listed.err.count("run: openclaw memory migrate") == 1
    found = run_cli("memory", "search", "绿茶", "--mode", "lexical", "--json")
    assert [hit["id"] for hit in found.data["results"]] == ["mem-001"]
    assert [warning["code"] for warning in found.document["warnings"]] == ["older-format"]
    assert run_cli("memory", "get", "mem-101", "--json").data["items"][0]["scope"] == "agent"
    assert run_cli("memory", "status", "--json").data["records"] == 3
    refused = run_cli("memory", "add", "more", "--json")
    assert (refused.status, refused.error["hint"]) == (12, "run: openclaw memory migrate")

    dry = run_cli("memory", "migrate", "--dry-run")
    assert "mem-001: version none becomes 2.0; content becomes levels" in dry.out
    assert "user.bak" in dry.out
    assert dry.out.splitlines()[-1] == "dry run: 3 changed, 0 unchanged"
    run = run_cli("memory", "migrate", "--json")
    root = state_dir / "agents/main/memory"
    assert (run.status, run.data["changed"], run.data["failed"]) == (0, 3, [])
    assert run.data["backup"] == str(root)
    assert {path.name for path in root.glob("*.bak")} == {"user.bak", "agent.bak", "index.bak"}
    assert run_cli("memory", "list").err == ""
    assert run_cli("memory", "migrate").out == (
        f"0 changed, 3 unchanged\noriginals are kept in {root}\n"
    )
    assert run_cli("memory", "migrate", "--rollback").out == "3 changed, 0 unchanged\n"
    assert not list(root.glob("*.bak"))
    for path in (OLDER / "folders_1x").rglob("*.*"):
        if path.is_file():
            kept = state_dir / path.relative_to(OLDER / "folders_1x")
            assert kept.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--rollback",), 10, "nothing is kept"),
        (("nowhere.json",), 1, "cannot read"),
        (("-",), 2, "a file with a name"),
        (("--to", "3.0"), 13, "this program knows 2.0"),
        (("--to", "1.0"), 2, "--to"),
        (("--from", "2.0"), 2, "older versions are 1.x"),
        (("--rollback", "nowhere.json"), 10, "nothing to roll back"),
    ],
)
@pytest.mark.usefixtures("stored")
def test_migrate_refuses_what_it_cannot_do(run_cli, words, status, message):
    run = run_cli("memory", "migrate", *words)
    assert run.status == status
    assert message in run.err


def test_migrate_of_a_store_that_is_not_there_is_10(run_cli):
    assert run_cli("memory", "migrate").status == 10


@pytest.mark.parametrize("name", ["export", "import", "migrate"])
def test_help_has_examples_and_exit_statuses(run_cli, name):
    text = run_cli("memory", name, "--help").out
    assert f"openclaw memory {name}" in text.partition("Examples:")[2]
    assert "finished, with some items failed" in text.partition("Exit status:")[2]


def test_an_older_export_on_standard_input_has_a_hint_that_can_be_followed(run_cli):
    run = run_cli("memory", "import", "-", "--json", stdin='{"version": "1.2", "records": []}')
    assert run.status == 12
    assert run.error["hint"].startswith(
        "save it as a file, run: openclaw memory migrate --from 1.2"
    )
    assert "'" not in run.error["hint"]


def test_errors_of_values_say_what_to_do(run_cli):
    run_cli("memory", "add", "x", "--id", "m-1", "--no-embed")
    clear = run_cli("memory", "edit", "m-1", "--clear", "tags", "--tag", "a", "--json")
    assert "leave out --clear tags" in clear.error["hint"]
    assert run_cli("memory", "add", "x", "--tag", "t" * 5000, "--json").error["hint"]
    assert "no such command: openclaw ''" in run_cli("").err
