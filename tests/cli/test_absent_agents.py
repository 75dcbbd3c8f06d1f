"""A mistyped agent: told as one that is not there, and nothing is made for it by being asked."""

from __future__ import annotations

import shlex

import pytest

from openclaw_cli.cli import registry

#: Commands that work on no agent, or make one.
ELSEWHERE = ("config", "model", "schema", "completion")
MAKING = {"memory add", "memory import", "session new", "session ensure", "session import"}

ASKING = [
    "memory get x",
    "memory list",
    "memory search x",
    "memory edit x --l0 y",
    "memory history x",
    "memory undo x",
    "memory delete x --yes",
    "memory purge --user u --yes",
    "memory purge --user u --sessions --group-messages --yes --verify",
    "memory index",
    "memory status",
    "memory migrate",
    "memory export",
    "session list",
    "session show x",
    "session tail x",
    "session append x --role user --content y",
    "session context x",
    "session checkpoint x",
    "session resume x",
    "session branch x y",
    "session branches x",
    "session rename x y",
    "session tag x --add y",
    "session sweep",
    "session archive x",
    "session delete x --yes",
    "session restore x",
    "session restore x y",
    "session trash list",
    "session trash empty --yes",
    "session search x",
    "session usage",
    "session export --all",
    "session verify --repair",
    "doctor --fix",
]
REFUSED = [
    "memory add x --id bad/id --no-embed",
    "memory add x --category zzz --no-embed",
    "memory import bad --no-embed",
    "session new --id bad/id",
    "session new --id x.lock",
    "session new --from x",
    "session import bad",
    "session usage --record",
]


def _commands(lines: list[str]) -> set[str]:
    return {path for path in registry.COMMANDS for line in lines if f"{line} ".startswith(path)}


def test_every_command_that_works_on_an_agent_is_tried():
    expected = {path for path in registry.COMMANDS if not path.startswith(ELSEWHERE)}
    assert _commands(ASKING) == expected - MAKING
    assert _commands(ASKING + REFUSED) >= expected - {"session ensure"}


@pytest.mark.parametrize("filled", [False, True], ids=["empty", "filled"])
def test_what_is_asked_of_an_agent_that_is_not_there_makes_nothing(
    run_cli, state_dir, tmp_path, filled
):
    if filled:
        run_cli("memory", "add", "tea", "--no-embed")
        run_cli("session", "new")
    bad = tmp_path / "bad"
    bad.write_text("no such format")
    before = sorted(state_dir.rglob("*"))
    for line in ASKING + REFUSED:
        words = [str(bad) if word == "bad" else word for word in shlex.split(line)]
        run = run_cli(*words, "--agent", "typo", "--json", stdin="")
        assert sorted(state_dir.rglob("*")) == before, line
        if line in ASKING:
            assert (run.status, run.error["code"]) == (10, "not-found"), line
            assert "no agent 'typo'" in run.error["message"], line
        else:
            assert run.status in (2, 10), line
