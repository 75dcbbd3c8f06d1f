"""Help, options before and after the command, and what a wrong command line is told."""

from __future__ import annotations

import pkgutil

import pytest

from openclaw_cli import __version__
from openclaw_cli.cli import commands, registry
from openclaw_cli.cli.commandline import load_command
from openclaw_cli.cli.manual import MANUAL
from openclaw_cli.memory.categories import CATEGORIES


@pytest.mark.parametrize("args", [["--version"], ["-V"], ["--json", "--version"]])
def test_the_version_is_told(run_cli, args):
    run = run_cli(*args)
    assert (run.status, run.out, run.err) == (0, f"openclaw {__version__}\n", "")


def test_help_of_the_root_lists_every_group(run_cli):
    run = run_cli("--help")
    assert run.status == 0
    assert all(f"  {name}" in run.out for name in registry.children(""))
    assert "--lock-timeout SECONDS" in run.out


@pytest.mark.parametrize("group", registry.GROUPS)
def test_help_of_a_group_lists_its_commands_with_their_summaries(run_cli, group):
    run = run_cli(*group.split(), "-h")
    for name, summary in registry.children(group).items():
        assert f"{name}" in run.out
        assert summary in run.out


def test_every_command_module_is_in_the_table():
    names = {module.name for module in pkgutil.iter_modules(commands.__path__)}
    assert {f"{commands.__name__}.{name}" for name in names} == {
        registry.module_name(path) for path in (registry.COMMANDS | registry.HIDDEN)
    }


@pytest.mark.parametrize("path", registry.COMMANDS)
def test_a_command_explains_itself(path):
    module = load_command(path).module
    assert (module.command.__doc__ or "").splitlines()[0] == registry.COMMANDS[path]
    assert len(module.EXAMPLES) >= 2
    assert all(f"openclaw {path}" in example for example in module.EXAMPLES)
    assert all(code in registry.EXIT_MEANINGS for code in module.EXITS)


def test_help_of_add_names_every_category():
    option = next(p for p in load_command("memory add").params if p.name == "category")
    assert all(name in option.help for name in CATEGORIES)


def test_help_of_add_says_what_is_found(run_cli):
    said = " ".join(run_cli("memory", "add", "--help").out.split())
    assert "--l1 and --l2 are shown by get and search --level, and are not found, unless L2" in said


def test_help_of_a_command_has_arguments_examples_and_exit_statuses(run_cli):
    run = run_cli("memory", "add", "--help")
    assert run.status == 0
    assert "[TEXT]  The text; - reads standard input." in run.out
    assert "openclaw memory add --category lesson --file notes.txt" in run.out
    assert "11  locked by another process, try again" in run.out
    assert run.out.isascii()


@pytest.mark.parametrize(
    ("args", "message", "hint"),
    [
        (["memroy"], "no such command: openclaw memroy", "did you mean openclaw memory?"),
        (["memory", "ad"], "no such command: openclaw memory ad", "openclaw memory add?"),
        (["search", "x"], "no such command: openclaw search", "openclaw memory search?"),
        (["memory", "add", "--catgory", "x"], "no such option: --catgory", "--category?"),
        (["--jso", "memory", "list"], "no such option: --jso", "--json?"),
        (["memory", "search"], "missing argument 'QUERY'", "--help"),
        (["memory", "search", "two", "words"], "unexpected extra argument", "quotes"),
        (["memory", "search", "x", "--top-k", "0"], "--top-k", "--help"),
        (["memory", "list", "--sort", "age"], "'age' is not one of 'created'", "--help"),
        (["memory", "list", "--limit"], "'--limit' requires an argument", "--help"),
    ],
)
def test_a_wrong_command_line_names_the_fault_and_the_nearest_right_one(
    run_cli, args, message, hint
):
    run = run_cli(*args)
    assert (run.status, run.out) == (2, "")
    lines = run.err.splitlines()
    assert lines[0].startswith("openclaw: error: ")
    assert message in lines[0]
    assert lines[1].startswith("usage: openclaw")
    assert lines[2].startswith("hint: ")
    assert hint in lines[2]
    assert len(lines) == 3

    document = run_cli("--json", *args).document
    assert document["ok"] is False
    assert document["error"]["code"] == "usage"
    assert message in document["error"]["message"]
    assert hint in document["error"]["hint"]


def test_the_program_alone_shows_a_short_map_by_task(run_cli):
    run = run_cli()
    assert (run.status, run.err) == (0, "")
    assert len(run.out.splitlines()) <= 24
    for task, paths in registry.TASKS.items():
        assert f"\n{task} " in run.out
        assert all(f" {path} " in run.out for path in paths)
    refused = run_cli("--json")
    assert (refused.status, refused.error["code"]) == (2, "usage")


def test_a_group_alone_is_told_its_usage_and_its_commands_in_three_lines(run_cli):
    run = run_cli("session", "trash")
    assert (run.status, run.out) == (2, "")
    assert run.err.splitlines() == [
        "openclaw: error: no command given after openclaw session trash",
        "usage: openclaw session trash [OPTIONS] COMMAND [ARGS]...",
        "hint: choose one of list, empty",
    ]


@pytest.mark.parametrize("path", registry.COMMANDS)
def test_help_tells_what_is_read_and_written(run_cli, path):
    words = " ".join(run_cli(*path.split(), "--help").out.split())
    assert f"reads {MANUAL[path].reads} writes {MANUAL[path].writes} Examples:" in words


def test_the_manual_knows_every_command_and_no_other():
    assert list(MANUAL) == list(registry.COMMANDS)
    named = {path for paths in registry.TASKS.values() for path in paths}
    assert named <= registry.COMMANDS.keys()


def test_global_options_are_accepted_before_and_after_the_command(run_cli, tmp_path):
    places = [
        ["--json", "--state-dir", tmp_path, "config", "get", "memory.locale"],
        ["config", "--json", "--state-dir", tmp_path, "get", "memory.locale"],
        ["config", "get", "memory.locale", "--json", "--state-dir", tmp_path],
    ]
    documents = [run_cli(*args).document for args in places]
    assert documents[0] == documents[1] == documents[2]
    assert documents[0]["data"]["value"] is None


def test_the_last_one_of_an_option_wins(run_cli, tmp_path):
    args = ["--state-dir", tmp_path / "a", "config", "validate", "--state-dir", tmp_path / "b"]
    assert run_cli(*args, "--json").data["path"] == str(tmp_path / "b" / "openclaw.json")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--agent", "a/b", "memory", "status"], "'a/b' is not a valid agent id"),
        (["--agent", "..", "memory", "add", "x"], "'..' is not a valid agent id"),
        (["--now", "yesterdayish", "memory", "list"], "--now: 'yesterdayish' is not a time"),
        (["--lock-timeout", "nan", "memory", "add", "x"], "'nan' is not a number of seconds"),
        (["--lock-timeout", "-1", "memory", "add", "x"], "'-1' is not a number of seconds"),
        (["--all-agents", "memory", "add", "x"], "works on one agent"),
        (["--all-agents", "--agent", "a", "memory", "index"], "exclude each other"),
        (["memory", "add"], "no text given"),
        (["memory", "add", "x", "--file", "y"], "exclude each other"),
        (["memory", "list", "--since", "soon"], "--since: 'soon' is not a time"),
        (["memory", "index", "--reembed", "--no-embed"], "exclude each other"),
    ],
)
def test_values_that_cannot_be_are_refused_before_anything_is_written(
    run_cli, state_dir, args, message
):
    run = run_cli(*args)
    assert run.status == 2
    assert message in run.err
    assert not state_dir.exists()


def test_one_document_and_one_object_a_line_exclude_each_other(run_cli):
    run = run_cli("memory", "list", "--json", "--jsonl")
    assert run.status == 2
    assert run.error["message"] == "--json and --jsonl exclude each other"


def test_the_environment_names_the_agent(run_cli):
    run = run_cli("memory", "add", "x", "--no-embed", env={"OPENCLAW_AGENT": "b?d"})
    assert run.status == 2
    assert "'b?d' is not a valid agent id" in run.err


@pytest.mark.parametrize("home", ["", ".", "a home"])
@pytest.mark.parametrize("where", [[], ["--state-dir", "~/state"], ["--state-dir", "~"]])
def test_a_home_that_is_no_whole_path_is_refused(run_cli, home, where):
    run = run_cli("memory", "list", *where, env={"HOME": home, "OPENCLAW_STATE_DIR": ""})
    assert run.status == 2
    assert "the home directory is unknown" in run.err
    install = ["completion", "fish", "--install"]
    assert run_cli(*install, env={"HOME": home}).status == 2


def test_names_in_errors_are_shown_as_they_were_written(run_cli):
    run = run_cli("memory", "list", "--agent", "中文\x1b代理", "--json")
    assert run.error["message"] == "'中文\\x1b代理' is not a valid agent id"
    assert "'会话' is not a valid session id" in run_cli("session", "new", "--id", "会话").err


def test_groups_offer_all_agents_where_a_command_takes_it():
    taking = {
        path.rpartition(" ")[0]
        for path in registry.COMMANDS
        if getattr(load_command(path).module, "ALL_AGENTS", False)
    }
    assert taking == registry.FOR_ALL_AGENTS
