"""config get, show, validate, schema."""

from __future__ import annotations

import pytest


@pytest.fixture
def write(state_dir):
    def write(text: str) -> str:
        state_dir.mkdir(exist_ok=True)
        path = state_dir / "openclaw.json"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_one_value_is_bare_and_a_section_is_named(run_cli, write):
    write("{memory: {retrieval: {topK: 7}, shareUserMemory: true}}")
    assert run_cli("config", "get", "memory.retrieval.topK").out == "7\n"
    assert run_cli("config", "get", "memory.shareUserMemory").out == "true\n"
    assert run_cli("config", "get", "memory.wal").out == (
        "memory.wal.maxEntries = 1000\nmemory.wal.maxBytes = 8388608\n"
    )
    data = run_cli("config", "get", "memory.retrieval.topK", "--json").data
    assert data == {
        "key": "memory.retrieval.topK",
        "value": 7,
        "values": {"memory.retrieval.topK": 7},
    }


def test_an_unknown_key_suggests_the_nearest(run_cli):
    run = run_cli("config", "get", "memory.retreival.topK")
    assert run.status == 2
    assert "did you mean memory.retrieval.topK?" in run.err


def test_origins_are_shown(run_cli, write):
    write('{"memory": {"retrieval": {"topK": 7}}}')
    run = run_cli("config", "show", "--origin", "--json", env={"OPENCLAW_MEMORY_MODE": "lexical"})
    origins = {item["key"]: item["origin"] for item in run.data["items"]}
    assert origins["memory.retrieval.topK"] == "file"
    assert origins["memory.retrieval.mode"] == "environment OPENCLAW_MEMORY_MODE"
    assert origins["memory.locale"] == "default"
    assert "ORIGIN" not in run_cli("config", "show").out


def test_a_valid_file_is_told(run_cli, write, state_dir):
    assert "defaults apply" in run_cli("config", "validate").out
    assert not state_dir.exists()
    path = write("{gateway: {port: 1}}")
    assert run_cli("config", "validate").out == f"{path}: valid\n"
    assert run_cli("config", "validate", "--json").data == {
        "path": path,
        "exists": True,
        "problems": [],
    }


def test_a_key_that_does_not_exist_is_a_warning_with_the_nearest_and_its_line(run_cli, write):
    path = write("{memory: {\n retrieval: {topk: 3},\n retreival: {},\n backend: 1}}")
    run = run_cli("config", "validate", "--json")
    assert (run.status, run.data["problems"]) == (0, [])
    assert run.document["warnings"] == [
        {
            "code": "unknown-key",
            "message": f"line {line}: {name} is no key; did you mean {near}?",
            "path": path,
        }
        for line, name, near in (
            (2, "memory.retrieval.topk", "memory.retrieval.topK"),
            (3, "memory.retreival", "memory.retrieval"),
        )
    ]
    shown = run_cli("config", "validate")
    assert (shown.status, shown.out) == (0, f"{path}: valid\n")
    assert shown.err.count("openclaw: warning: line ") == 2
    for args in (["config", "get"], ["config", "show"], ["model", "list"]):
        assert run_cli(*args).err == ""


def test_a_setting_without_effect_is_a_warning(run_cli, write):
    write("{memory: {embedding: {provider: 'openai'},\n shareUserMemory: true}}")
    warnings = run_cli("config", "validate", "--json").document["warnings"]
    assert [(w["code"], w["message"].partition(" is ")[0]) for w in warnings] == [
        ("no-effect", "line 1: memory.embedding.provider"),
        ("no-effect", "line 2: memory.shareUserMemory"),
    ]


def test_a_wrong_file_ends_with_2_and_all_problems(run_cli, write):
    path = write("{\nmemory: {\n locale: 3,\n retrieval: {topK: 0}}}")
    run = run_cli("config", "validate", "--json")
    assert run.status == 2
    assert run.error["path"] == path
    assert [(p["key"], p["line"]) for p in run.error["problems"]] == [
        ("memory.locale", 3),
        ("memory.retrieval.topK", 4),
    ]
    shown = run_cli("config", "validate").err
    assert f"{path}:3: memory.locale must be one of zh, en or null, not 3" in shown
    assert "memory.retrieval.topK" in shown


def test_a_wrong_file_stops_every_command_that_would_use_it(run_cli, write):
    write("{memory: 1}")
    for args in (["memory", "add", "x"], ["memory", "list"], ["config", "get"]):
        run = run_cli(*args, "--json")
        assert (run.status, run.error["code"]) == (2, "config")


def test_the_schema_lists_what_is_allowed(run_cli):
    items = {item["key"]: item for item in run_cli("config", "schema", "--json").data["items"]}
    assert items["memory.retrieval.fusion"]["expected"] == "one of relative, rrf"
    assert items["memory.retrieval.fusion"]["environment"] == "OPENCLAW_MEMORY_FUSION"
    shown = run_cli("config", "schema").out
    assert "memory.retrieval.topK" in shown
    assert "a whole number from 1 to 1000; default 10" in shown
