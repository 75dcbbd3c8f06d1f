"""What would mislead if it were accepted in silence: settings, empty values, places, sizes."""

from __future__ import annotations

import json
import os

import pytest

from openclaw_cli.cli.filters import LANGUAGES
from openclaw_cli.text import languages

OPENAI = {"OPENCLAW_EMBEDDING_PROVIDER": "openai"}
NO_OPENAI = "provider openai is not available in this version"
EMBEDDING = [
    ["memory", "add", "another"],
    ["memory", "search", "x"],
    ["memory", "search", "x", "--mode", "dense"],
    ["memory", "index"],
    ["memory", "index", "--all-agents"],
    ["memory", "import", "-"],
]
NOT_EMBEDDING = [
    ["memory", "add", "another", "--no-embed"],
    ["memory", "search", "x", "--mode", "lexical"],
    ["memory", "index", "--no-embed"],
    ["memory", "import", "-", "--no-embed"],
    ["memory", "list"],
    ["memory", "status"],
    ["memory", "get", "mem-1"],
]


@pytest.fixture
def stored(run_cli):
    assert run_cli("memory", "add", "x", "--id", "mem-1", "--no-embed").status == 0


@pytest.mark.parametrize("args", EMBEDDING, ids=" ".join)
def test_a_provider_that_does_not_exist_ends_what_needs_vectors_with_15(run_cli, stored, args):
    run = run_cli(*args, "--json", env=OPENAI, stdin='{"text": "y"}\n')
    assert (run.status, run.error["code"]) == (15, "unavailable")
    assert run.error["message"] == NO_OPENAI
    assert "memory.embedding.provider" in run.error["hint"]
    assert run_cli("memory", "list", "--json").data["total"] == 1


@pytest.mark.parametrize("args", NOT_EMBEDDING, ids=" ".join)
def test_a_provider_that_does_not_exist_hinders_nothing_that_needs_no_vectors(
    run_cli, stored, args
):
    assert run_cli(*args, env=OPENAI, stdin='{"text": "y"}\n').status == 0


def test_the_provider_and_the_mode_of_the_file_count_likewise(run_cli, stored, state_dir):
    file = state_dir / "openclaw.json"
    file.write_text('{memory: {embedding: {provider: "openai"}}}')
    assert run_cli("memory", "search", "x").status == 15
    file.write_text('{memory: {embedding: {provider: "openai"}, retrieval: {mode: "lexical"}}}')
    assert run_cli("memory", "search", "x").status == 0


def test_auto_is_the_local_models(run_cli, stored):
    env = {"OPENCLAW_EMBEDDING_PROVIDER": "auto", "OPENAI_API_KEY": "sk-x"}
    run = run_cli("memory", "add", "The user lives in Berlin", "--json", env=env)
    assert (run.status, run.document["warnings"]) == (0, [])
    assert run.data["record"]["embeddingPending"] is False


@pytest.mark.parametrize("args", EMBEDDING, ids=" ".join)
def test_a_model_that_does_not_exist_is_15_and_the_known_ones_are_named(run_cli, stored, args):
    env = {"OPENCLAW_EMBEDDING_LOCAL_MODEL": "bge-big"}
    run = run_cli(*args, "--json", env=env, stdin='{"text": "y"}\n')
    assert (run.status, run.error["code"]) == (15, "unavailable")
    assert "'bge-big'" in run.error["message"]
    assert "bge-small-zh-v1.5" in run.error["hint"]
    assert run_cli("memory", "list", env=env).status == 0


def test_the_list_of_models_warns_of_a_provider_and_a_model_that_are_not_there(run_cli):
    env = {**OPENAI, "OPENCLAW_EMBEDDING_LOCAL_MODEL": "bge-big"}
    run = run_cli("model", "list", "--json", env=env)
    assert run.status == 0
    assert [warning["code"] for warning in run.document["warnings"]] == ["unavailable"] * 2
    shown = run_cli("model", "list", env=env).err
    assert NO_OPENAI in shown
    assert "memory.embedding.localModel: there is no embedding model 'bge-big'" in shown
    known = {"OPENCLAW_EMBEDDING_LOCAL_MODEL": "bge-small-zh-v1.5"}
    assert run_cli("model", "list", env=known).err == ""


@pytest.mark.parametrize("value", ["", "  "])
@pytest.mark.parametrize(
    ("args", "option"),
    [
        (["memory", "list"], "--agent"),
        (["memory", "list"], "--state-dir"),
        (["memory", "list"], "--now"),
        (["memory", "list"], "--user"),
        (["memory", "list"], "--category"),
        (["memory", "list"], "--tag"),
        (["memory", "list"], "--language"),
        (["memory", "list"], "--since"),
        (["memory", "search", "x"], "--user"),
        (["memory", "add", "x", "--no-embed"], "--key"),
        (["memory", "add", "x", "--no-embed"], "--category"),
        (["memory", "add", "x", "--no-embed"], "--user"),
        (["memory", "add", "x", "--no-embed"], "--l1"),
        (["memory", "add", "x", "--no-embed"], "--id"),
        (["memory", "add", "--no-embed"], "--file"),
        (["memory", "import", "-", "--no-embed"], "--user"),
    ],
)
def test_an_option_with_an_empty_value_is_a_usage_error(run_cli, stored, args, option, value):
    run = run_cli(*args, option, value, "--json")
    assert (run.status, run.error["code"]) == (2, "usage")
    assert run.error["message"] == f"invalid value for '{option}': it is empty"


def test_a_global_option_is_not_empty_before_the_command_either(run_cli, state_dir):
    assert run_cli("--agent", "", "memory", "add", "x", "--no-embed").status == 2
    assert not state_dir.exists()


def test_an_empty_file_name_is_a_usage_error_and_an_empty_variable_no_value(run_cli, stored):
    assert run_cli("memory", "import", "").status == 2
    assert run_cli("memory", "list", env={"OPENCLAW_AGENT": ""}).status == 0


@pytest.mark.parametrize("code", ["en", "EN", "en-US", "en_GB.UTF-8"])
def test_a_language_is_known_whatever_its_case_and_region(run_cli, code):
    run_cli("memory", "add", "The user lives in Berlin", "--no-embed")
    assert run_cli("memory", "list", "--language", code, "--json").data["total"] == 1
    found = run_cli("memory", "search", "Berlin", "--mode", "lexical", "--language", code, "-q")
    assert len(found.out.split()) == 1


@pytest.mark.parametrize("code", ["klingon", "e", "中文", "12"])
def test_what_is_no_language_code_is_a_usage_error_with_the_known_ones(run_cli, stored, code):
    run = run_cli("memory", "list", "--language", code, "--json")
    assert run.status == 2
    assert run.error["message"] == f"--language: {code!r} is no language code"
    assert "en" in run.error["hint"]
    assert "zh" in run.error["hint"]


def test_the_known_languages_are_those_that_are_told_apart():
    scripts = {name for name, _ranges in languages._SCRIPTS} - {"latin"}
    assert set(LANGUAGES) == scripts | set(languages.LATIN_LANGUAGES) | {"und"}


@pytest.mark.parametrize("option", ["--user", "--key", "--tag"])
@pytest.mark.parametrize("char", ["\u202e", "\u200f", "\u061c", "\ufeff", "\U000e0041", "\xad"])
def test_a_label_holds_nothing_that_is_not_seen(run_cli, state_dir, option, char):
    run = run_cli("memory", "add", "x", "--no-embed", option, f"a{char}b", "--json")
    assert (run.status, run.error["code"]) == (2, "invalid-text")
    assert not state_dir.exists()


def test_the_joiners_of_words_and_emoji_may_be_in_a_label(run_cli):
    for tag in ("می\u200cخواهم", "👩\u200d🚀"):
        assert run_cli("memory", "add", tag, "--no-embed", "--tag", tag).status == 0


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize(
    "args",
    [
        ["memory", "list"],
        ["memory", "add", "x", "--no-embed"],
        ["memory", "status", "--all-agents"],
        ["config", "validate"],
        ["model", "list"],
    ],
    ids=" ".join,
)
def test_a_file_in_place_of_the_state_directory_is_told(run_cli, tmp_path, args, below):
    file = tmp_path / "file"
    file.write_text("")
    run = run_cli(*args, "--state-dir", file / "sub" / "state" if below else file, "--json")
    assert (run.status, run.error["code"]) == (1, "storage")
    assert run.error["message"] == f"{file} is not a directory"


@pytest.mark.parametrize("kind", ["pipe", "directory", "device"])
def test_what_is_no_file_in_place_of_the_configuration_is_told(run_cli, state_dir, kind):
    state_dir.mkdir()
    place = state_dir / "openclaw.json"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    run = run_cli("memory", "list", "--json", timeout=20)
    assert (run.status, run.error["code"]) == (1, "storage")
    assert run.error["message"] == f"cannot read {place}: not a regular file"


def test_an_agent_without_memory_is_skipped_with_a_note(run_cli, stored, state_dir):
    (state_dir / "agents" / "chatty" / "sessions").mkdir(parents=True)
    for command in ("index", "status"):
        run = run_cli("memory", command, "--all-agents", "--json")
        assert run.status == 0
        assert [part["agent"] for part in run.data["agents"]] == ["main"]
        assert (run.data["skipped"], run.data["failed"]) == (["chatty"], [])
        told = run_cli("memory", command, "--all-agents")
        assert "no memory, skipped: chatty" in told.out
        assert told.err == ""


def test_endless_input_is_not_read_to_its_end(run_cli, state_dir):
    run = run_cli("memory", "add", "--file", "/dev/zero", "--json", timeout=60)
    assert (run.status, run.error["code"]) == (2, "invalid-text")
    assert run.error["message"] == "/dev/zero: the text has more than 64 MiB"
    run = run_cli("memory", "add", "-", "--json", stdin=b"x" * ((64 << 20) + 1))
    assert run.error["message"] == "standard input: the text has more than 64 MiB"
    assert not state_dir.exists()


def test_a_file_that_is_missing_is_not_taken_for_a_limit(run_cli, state_dir):
    for word in ("one", "two"):
        run_cli("memory", "add", word, "--id", word, "--no-embed")
    next(state_dir.rglob("one.json")).unlink()
    run = run_cli("memory", "list")
    assert "two" in run.out
    assert "--limit" not in run.out
    assert json.loads(run_cli("memory", "list", "--json").out)["data"]["limit"] == 50
    assert "1 of 2 (--limit 0 lists all)" in run_cli("memory", "list", "--limit", "1").out
    next(state_dir.rglob("two.json")).unlink()
    assert run_cli("memory", "list").out == "none of them can be read\n"
