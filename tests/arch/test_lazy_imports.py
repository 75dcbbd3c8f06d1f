"""A command loads only what it uses: measured on real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = {
    *("numpy", "onnxruntime", "tokenizers", "rich", "huggingface_hub", "hnswlib", "matplotlib"),
}
_PROBE = """
import sys
sys.argv = ["openclaw", *sys.argv[1:]]
from openclaw_cli.__main__ import main
status = main()
import json
json.dump([status, sorted(sys.modules)], sys.stderr)
"""


def _loaded(*args: str) -> set[str]:
    """Run a command in a process of its own and return the modules that it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *args], capture_output=True, check=False, timeout=120
    )
    status, modules = json.loads(done.stderr)
    assert status == 0, done
    return set(modules)


def _bare() -> set[str]:
    code = "import sys, json; json.dump(sorted(sys.modules), sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return set(json.loads(done.stderr))


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_the_version_loads_nothing_but_the_package(word):
    more = {name for name in _loaded(word) - _bare() if not name.startswith("json")}
    assert more == {"openclaw_cli", "openclaw_cli.__main__"}


@pytest.mark.parametrize("args", [["--help"], ["memory", "--help"], ["config", "--help"]])
def test_help_of_a_group_comes_from_the_table(args):
    loaded = _loaded(*args)
    assert not loaded & (HEAVY | {"orjson", "pyjson5", "openclaw_cli.config"})
    assert not {name for name in loaded if name.startswith("openclaw_cli.cli.commands.")}


def test_help_of_a_command_loads_only_its_module():
    loaded = _loaded("memory", "search", "--help")
    commands = {name for name in loaded if name.startswith("openclaw_cli.cli.commands.")}
    assert commands == {"openclaw_cli.cli.commands.memory_search"}
    assert not loaded & (HEAVY | {"orjson", "openclaw_cli.memory.service"})


@pytest.mark.parametrize(
    "args", [["config", "get"], ["model", "list"], ["config", "schema"], ["schema", "memory.get"]]
)
def test_a_command_without_memory_loads_none_of_it(state_dir, args):
    loaded = _loaded(*args)
    assert not loaded & (HEAVY | {"pyjson5"})
    assert not {name for name in loaded if name.startswith("openclaw_cli.memory")}


@pytest.fixture
def stored(run_cli) -> str:
    """A store with two indexed memories and one in the log; returns an id."""
    for text in ("用户偏好 TypeScript，不喜欢 Java", "The user lives in Berlin"):
        assert run_cli("memory", "add", text).status == 0
    assert run_cli("memory", "index").status == 0
    return run_cli("memory", "add", "部署脚本在 deploy.sh", "--no-embed", "--json").data["id"]


def test_reading_commands_load_neither_numbers_nor_models(stored):
    commands = [
        ["memory", "list"],
        ["memory", "list", "--jsonl"],
        ["memory", "get", stored],
        ["memory", "status"],
        ["memory", "status", "--plot"],
        ["memory", "search", "部署", "--mode", "lexical"],
        ["memory", "search", "where does the user live", "--mode", "lexical", "--json"],
    ]
    found = {" ".join(args): sorted(_loaded(*args) & HEAVY) for args in commands}
    assert found == {" ".join(args): [] for args in commands}


def test_session_commands_load_nothing_of_memory_numbers_or_models(run_cli):
    new = run_cli("session", "new", "--id", "ant", "--channel", "tg", "--chat", "1")
    assert new.status == 0
    commands = [
        ["session", "ensure", "--channel", "tg", "--chat", "1"],
        ["sessions", "list"],
        ["session", "append", "ant", "--role", "user", "--content", "hi"],
        ["session", "show", "ant"],
        ["session", "tail", "ant"],
        ["session", "context", "ant", "--format", "openai"],
        ["session", "context", "ant", "--strategy", "importance", "--explain"],
        ["session", "context", "ant", "--strategy", "summary", "-q"],
        ["session", "resume", "ant"],
        ["session", "usage", "--plot"],
        ["session", "sweep"],
        ["session", "verify"],
        ["session", "archive", "ant"],
        ["session", "delete", "ant", "--yes"],
        ["session", "trash", "list"],
    ]
    unwanted = ("openclaw_cli.memory", "openclaw_cli.index", "openclaw_cli.embed")
    for args in commands:
        loaded = _loaded(*args)
        assert not loaded & HEAVY, args
        assert not {name for name in loaded if name.startswith(unwanted)}, args
        assert not loaded & {"urllib.request", "http.client", "ssl", "socket"}, args


def test_adding_without_a_vector_loads_no_model(state_dir):
    assert not _loaded("memory", "add", "plain text", "--no-embed") & HEAVY


def test_the_version_costs_at_most_three_times_a_bare_interpreter():
    def cost(*args: str) -> float:
        before = os.times()
        for _ in range(8):
            subprocess.run([sys.executable, *args], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        return (
            after.children_user
            + after.children_system
            - (before.children_user + before.children_system)
        )

    # The least of a few rounds: other work on the machine only ever adds.
    bare = min(cost("-c", "pass") for _ in range(3))
    version = min(cost("-m", "openclaw_cli", "--version") for _ in range(3))
    assert version <= 3 * bare
