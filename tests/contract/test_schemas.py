"""Each command has its JSON Schema: committed, complete, open to new fields, and true."""

from __future__ import annotations

import copy
import json
import shutil
from importlib import import_module
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from openclaw_cli.cli import registry
from openclaw_cli.cli.contract.jsonschema import NO_COMMAND
from openclaw_cli.cli.contract.table import CONTRACTS
from openclaw_cli.clock import Clock
from openclaw_cli.store import locks
from tests.conftest import ROOT
from tests.contract.documents import check, validator
from tests.contract.regenerate import FOLDER, expected

OLD = ROOT / "tests" / "compat" / "data"


def test_every_command_has_a_contract_and_the_other_way_round():
    assert set(CONTRACTS) == set(registry.COMMANDS)


def test_a_contract_knows_which_commands_work_on_all_agents():
    several = {path for path, contract in CONTRACTS.items() if contract.each_agent}
    declared = {
        path
        for path in registry.COMMANDS
        if getattr(import_module(registry.module_name(path)), "ALL_AGENTS", False)
    }
    # A purge is of one user, a diagnosis of one machine: each names agents within its own data.
    assert several == declared - {"memory purge", "doctor"}


def test_the_committed_schemas_are_those_of_the_types():
    committed = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*")}
    assert committed == expected(), "run: make schemas"


@pytest.mark.parametrize("name", [path.replace(" ", ".") for path in CONTRACTS] + [NO_COMMAND])
def test_a_schema_is_valid_and_forbids_no_further_field(name):
    schema = validator(name).schema
    Draft202012Validator.check_schema(schema)
    assert schema["$id"].startswith(f"urn:openclaw:{name}:")
    closed = [held for held in _within(schema) if held.get("additionalProperties") is False]
    assert not closed


def _within(value):
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _within(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _within(inner)


@pytest.mark.parametrize(
    "words",
    [
        ["memory", "search"],
        ["memory search"],
        ["memory.search"],
        ["openclaw.memory.search/1"],
    ],
)
def test_the_schema_of_a_command_is_printed_as_it_is_committed(run_cli, words):
    wanted = (FOLDER / "memory.search.json").read_text("utf-8")
    assert run_cli("schema", *words).out == wanted
    assert run_cli("schema", *words, "--json").out == wanted


def test_the_schema_of_an_alias_and_of_failures_without_a_command_are_printed(run_cli):
    assert run_cli("schema", "sessions", "list").out == run_cli("schema", "session.list").out
    assert json.loads(run_cli("schema", "error").out)["$id"] == "urn:openclaw:error:1"


def test_schemas_are_listed_and_the_nearest_one_is_named(run_cli):
    document = check(run_cli("schema", "--json").document, "schema")
    assert {item["command"] for item in document["data"]["items"]} == set(registry.COMMANDS)
    assert run_cli("schema", "-q").out.splitlines() == list(registry.COMMANDS)
    run = run_cli("schema", "memory", "serch", "--json")
    assert (run.status, run.error["hint"]) == (2, "did you mean memory.search?")
    check(run.document, "schema")


@pytest.fixture
def ask(run_cli):
    """Run a command with --json and return its status and its document, which has its schema."""

    def run(line: str, status: int = 0, *, stdin: str | None = None, **env: str):
        done = run_cli(*line.split(), "--json", stdin=stdin, env=env)
        assert done.status == status, (done.out, done.err)
        return check(done.document, _command(line))

    return run


def _command(line: str) -> str:
    words = line.split()
    paths = (" ".join(words[:count]) for count in (3, 2, 1))
    return next(path for path in paths if path in registry.COMMANDS)


def test_memories_in_every_outcome(ask, run_cli, state_dir, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "The user likes tea", "id": "tea"}\n{bad}\n')
    ask("memory add likes-Rust --id rust --key language --category preference --user u1 --tag a")
    ask("memory add likes-Rust --category preference --user u1")
    ask("memory add likes-Go --key language --category preference --user u1 --no-embed")
    ask(f"memory import {tmp_path}/in.jsonl --no-embed", 3)
    ask(f"memory import {tmp_path}/in.jsonl --dry-run", 3)
    ask("memory get rust tea none", 3)
    ask("memory get rust --level l1")
    ask("memory get none", 10)
    ask("memory list")
    ask("memory list --limit 1 --sort retrievability")
    ask("memory search tea --mode lexical --explain --level l2")
    ask("memory index")
    ask("memory index --all-agents")
    ask("memory search user-drink --explain")
    ask("memory search user-drink --mode dense --touch")
    ask("memory status")
    ask("memory status --all-agents")
    ask("memory status --all-agents --plot")
    ask(f"memory status --plot {tmp_path}/chart.svg")
    ask("memory edit tea --l0 coffee --no-embed")
    ask("memory history tea")
    ask("memory undo tea --no-embed")
    ask("memory undo tea --to 9 --no-embed", 2)
    ask("memory export -o " + str(tmp_path / "out.json"))
    ask("memory export -o " + str(tmp_path / "out.json"), 2)
    ask("memory delete tea none --dry-run", 3)
    ask("memory delete tea --yes")
    ask("memory purge --user u1 --dry-run")
    ask("memory purge --user u1 --yes --verify")
    ask("memory migrate")
    run_cli("memory", "add", "x", "--id", "mem-x", "--no-embed")
    run_cli("memory", "add", "y", "--id", "mem-y", "--no-embed")
    run_cli("memory", "index", "--no-embed")
    (state_dir / "agents/main/memory/records/user/mem-x.json").write_text("{")
    ask("memory index --no-embed", 3)
    ask("memory get mem-x", 14)
    ask("memory export -o " + str(tmp_path / "part.json"), 3)


def test_lists_line_by_line_and_a_printed_export(run_cli):
    run_cli("memory", "add", "一句话", "--no-embed")
    run_cli("session", "new", "--id", "s-1")
    run_cli("session", "append", "s-1", "--role", "user", "--content", "hi")
    for line in ("memory list", "session list", "session tail s-1"):
        command = _command(line)
        schema = validator(command.replace(" ", ".")).schema
        ref = f"#/$defs/{CONTRACTS[command].item.__name__}"
        items = run_cli(*line.split(), "--jsonl").out.splitlines()
        assert items
        whole = Draft202012Validator({"$ref": ref, "$defs": schema["$defs"]})
        assert [list(whole.iter_errors(json.loads(item))) for item in items] == [[]] * len(items)
    assert validator("memory.export").is_valid(run_cli("memory", "export").document)


def test_older_stores_and_files_in_every_outcome(ask, state_dir, tmp_path):
    shutil.copytree(OLD / "records_1x", state_dir)
    ask("memory list")
    ask("memory migrate --dry-run")
    ask("memory migrate")
    ask("memory migrate --rollback")
    old = Path(shutil.copy(OLD / "export_1x.json", tmp_path))
    ask(f"memory import {old}", 12)
    ask(f"memory migrate {old} --dry-run")
    ask(f"memory migrate {old}")
    old.write_text('{"version": "9.0", "records": []}')
    ask(f"memory import {old}", 13)


def test_sessions_in_every_outcome(ask, run_cli, state_dir, tmp_path):
    ask("session list", 10)
    ask("session new --id s-1 --channel tg --chat 1 --user u --title T --model m --tag t")
    ask("session new --id s-1", 2)
    ask("session ensure --channel tg --chat 1")
    ask("session ensure --channel tg --chat 2")
    ask("session append s-1", stdin='{"role":"user","content":"a"}\n')
    ask("session append s-1", 2, stdin='{"role":"nobody"}\n')
    ask("session append none --role user --content x", 10)
    (state_dir / "agents/main/sessions/other.txt").write_text("")
    ask("session list")
    ask("session list --limit 1 --sort cost")
    ask("session show s-1")
    ask("session tail s-1")
    ask("session rename s-1 Title")
    ask("session tag s-1 --add a --remove t")
    ask("session sweep --dry-run --now 2050-01-01")
    ask("session sweep --all-agents --now 2050-01-01")
    ask("session archive s-1")
    ask("session archive s-1")
    ask("session verify")
    ask("session verify --all-agents")
    (state_dir / "openclaw.json").write_text("{session: {prices: {m: {input: 2}}}}")
    ask("session usage --record", stdin='{"SessionId":"s-1","ModelId":"m","InputTokens":5}')
    ask("session usage")
    ask("session usage --by model --plot")
    ask(f"session usage --by channel --plot {tmp_path}/chart.png")
    ask("session delete s-1 none --dry-run", 3)
    ask("session delete s-1 none --yes", 3)
    ask("session trash list")
    ask("session restore s-1 none", 3)
    ask("session restore none", 10)
    ask("session delete s-1 --yes")
    ask("session trash empty --yes")
    ask("session trash empty --dry-run")
    ask("session new --id s-2")
    ask("session append s-2 --role user --content x")
    with (state_dir / "agents/main/sessions/s-2/messages.jsonl").open("ab") as history:
        history.write(b"{damage}\n")
    ask("session verify", 3)
    ask("session verify s-2 --repair")


def test_locks_models_and_configurations_in_every_outcome(ask, state_dir):
    ask("model list")
    ask("model verify")
    ask("model list", OPENCLAW_EMBEDDING_PROVIDER="openai")
    ask("memory add x", 15, OPENCLAW_EMBEDDING_PROVIDER="openai")
    ask("config get")
    ask("config get memory.retrieval.topK")
    ask("config get none", 2)
    ask("config show")
    ask("config show --origin")
    ask("config validate")
    ask("config schema")
    ask("memory add x --no-embed")
    memory = state_dir / "agents/main/memory"
    with locks.hold(memory / "writer.lock", clock=Clock(), timeout=0, holder="a test"):
        ask("memory add y --no-embed --lock-timeout 0", 11)
    (state_dir / "openclaw.json").write_text('{memory: {retrieval: {topK: "x"}}, a: 1}')
    ask("config validate", 2)
    ask("config show", 2)


def test_a_model_that_is_damaged_fails_by_name(ask, state_dir):
    source = ROOT / "openclaw_cli/embed/data/bge-small-en-v1.5"
    copied = Path(shutil.copytree(source, state_dir / "models" / "another"))
    manifest = copied / "model.json"
    manifest.write_text(manifest.read_text().replace("bge-small-en-v1.5", "another", 1))
    (copied / "tokenizer.json").write_text("{}")
    ask("model verify", 3)


@pytest.mark.parametrize("line", ["--json", "memory --json", "nonsense --json", "memory x --json"])
def test_a_failure_without_a_command_has_the_schema_of_errors(run_cli, line):
    run = run_cli(*line.split())
    assert (run.status, run.document["schema"]) == (2, "openclaw.error/1")
    check(run.document)


def test_a_schema_takes_a_new_field_and_misses_an_old_one():
    document = {
        "schema": "openclaw.session.restore/1",
        "ok": True,
        "data": {"restored": ["s-1"], "failed": [{"id": "s-2", "reason": "locked"}]},
        "warnings": [{"code": "a", "message": "b"}],
    }
    restored = validator("session.restore")
    assert restored.is_valid(document)
    more = {**document, "data": {**document["data"], "further": 1}, "further": 1}
    assert restored.is_valid(more)
    for holder, field in ((None, "schema"), (None, "warnings"), ("data", "restored")):
        less = copy.deepcopy(document)
        del (less[holder] if holder else less)[field]
        assert not restored.is_valid(less)
