"""Completions in the real shells, at a real prompt, with the tab key."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docs import prepared
from tests.docs.terminal import Shell

FILES = {"bash": "openclaw-cli.bash", "zsh": "_openclaw-cli", "fish": "openclaw-cli.fish"}
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
SOURCE = {
    "bash": "bind 'set bell-style none'; source {file}",
    "zsh": "autoload -Uz compinit; compinit -u -D; source {file}",
    "fish": "source {file}",
}

#: What is typed before the tab key, and what the line becomes.
FILLED = [
    ("openclaw mem", "openclaw memory "),
    ("openclaw memory sta", "openclaw memory status "),
    ("openclaw sessions tra", "openclaw sessions trash "),
    ("openclaw memory show --foo\t#", "--foo#"),
    ("openclaw --json session swe", "openclaw --json session sweep "),
    ("openclaw memory search --expl", "openclaw memory search --explain "),
    ("openclaw memory list --lock-t", "openclaw memory list --lock-timeout "),
    ("openclaw memory add x --category pref", "--category preference "),
    ("openclaw memory search x --mode lex", "--mode lexical "),
    ("openclaw --agent ma", "openclaw --agent main "),
    ("openclaw memory get 5f3", "openclaw memory get 5f3c9a1e "),
    ("openclaw memory get --level l0 mem-01a", "mem-01a22ce0-bf74-78f0-8e23-eac45f3c9a1e "),
    ("openclaw session show 7d2", "openclaw session show 7d2e41bb "),
    ("openclaw session rename 5f3c9a1e 7d2\t#", "7d2#"),
    ("openclaw session archive s-abc123 7d2", "s-abc123 7d2e41bb "),
    ("openclaw session restore 9b", "openclaw session restore 9b1c2d3e "),
    ("openclaw session tail s-ab", "openclaw session tail s-abc123 "),
    ("openclaw config get memory.retrieval.to", "memory.retrieval.topK "),
    ("openclaw memory import memo", "openclaw memory import memories.jsonl "),
    ("openclaw memory add --file not", "--file notes."),
    ("openclaw memory status --plot memo", "--plot memo"),
    ("openclaw memory status --plot char", "--plot chart.svg "),
    ("openclaw session usage --plot pict", "--plot picture.png "),
    ("openclaw session usage --plot draw", "--plot drawn.svg/"),
    ("openclaw memory status --plot --byt", "--plot --bytes "),
    ("openclaw session usage --plot --by mod", "--plot --by model "),
    ("openclaw --state-dir sta", "openclaw --state-dir state/"),
    ("openclaw --state-dir nowhere memory get 5f3\t#", "5f3#"),
    ("openclaw --state-dir state --agent other memory get ot", "memory get other-1 "),
    ("openclaw-cli memory get 5f3", "openclaw-cli memory get 5f3c9a1e "),
]


@pytest.fixture(params=FILES)
def name(request):
    """The name of each shell."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def place(prepared_store, tmp_path):
    """The folder of a prepared store."""
    return shutil.copytree(prepared_store, tmp_path / "place", symlinks=True)


def load(opened, name, script):
    opened.type(SOURCE[name].format(file=script) + "; echo rea''dy\r")
    assert opened.shows("ready"), opened.shown


@pytest.fixture
def shell(name, place):
    """A prompt of each shell in that folder, completions loaded."""
    env = prepared.environment(place)
    state = place / "state"
    prepared.openclaw(
        state, "--agent", "other", "memory", "add", "x", "--id", "other-1", "--no-embed"
    )
    opened = Shell(name, place, env)
    load(opened, name, ROOT / "completions" / FILES[name])
    yield opened
    opened.close()


def filled(opened, lines):
    """Return what is shown for each line that is not filled in as expected."""
    wrong = {}
    for typed, expected in lines:
        opened.type(typed if "\t" in typed else f"{typed}\t")
        if not opened.shows(expected, 10):
            wrong[typed] = opened.shown
        # The line is thrown away.
        opened.type("\x15echo do''ne\r")
        assert opened.shows("done"), opened.shown
    return wrong


def test_the_tab_key_fills_in_what_is_meant(shell):
    assert not filled(shell, FILLED)


@pytest.fixture
def other(place):
    """Another program called openclaw, first on PATH, that notes how it is called."""
    folder = place / "other"
    folder.mkdir()
    program = folder / "openclaw"
    program.write_text(f'#!/bin/sh\necho "$@" >> {place}/called\n')
    program.chmod(0o755)
    return program


def with_other(place, other, *, first):
    env = prepared.environment(place)
    ours, rest = env["PATH"].split(os.pathsep, 1)
    order = [other.parent, ours] if first else [ours, other.parent]
    return {**env, "PATH": os.pathsep.join([*map(str, order), rest])}


def test_another_program_of_the_short_name_is_never_run_and_its_name_left_to_it(name, place, other):
    opened = Shell(name, place, with_other(place, other, first=True))
    load(opened, name, ROOT / "completions" / FILES[name])
    lines = [
        ("openclaw-cli memory get 5f3", "openclaw-cli memory get 5f3c9a1e "),
        ("openclaw-cli session sw", "openclaw-cli session sweep "),
        ("openclaw doct\t#", "openclaw doct#"),
        ("openclaw memory get 5f3\t#", "get 5f3#"),
    ]
    try:
        assert not filled(opened, lines)
        assert not (place / "called").exists()
    finally:
        opened.close()


def test_another_program_that_comes_later_takes_nothing_away(name, place, other):
    opened = Shell(name, place, with_other(place, other, first=False))
    load(opened, name, ROOT / "completions" / FILES[name])
    lines = [
        ("openclaw memory get 5f3", "openclaw memory get 5f3c9a1e "),
        ("openclaw-cli memory sta", "openclaw-cli memory status "),
        ("bin/openclaw memory get 5f3", "bin/openclaw memory get 5f3c9a1e "),
    ]
    try:
        # PATH that changes later does not have the other one run either.
        assert not filled(opened, lines)
        first = {"fish": "set -gx PATH {} $PATH"}.get(name, "export PATH={}:$PATH")
        opened.type(first.format(other.parent) + "; echo do''ne\r")
        assert opened.shows("done"), opened.shown
        opened.type("openclaw memory get 5f3\t#")
        assert opened.shows("#", 10), opened.shown
        assert not (place / "called").exists()
    finally:
        opened.close()


@pytest.mark.parametrize("typed", ["openclaw", "openclaw-cli"])
def test_a_new_shell_finds_what_was_installed_under_both_names(name, place, typed):
    env = {**prepared.environment(place), "HOME": str(place)}
    env = {key: value for key, value in env.items() if not key.startswith(("XDG_", "FPATH"))}
    done = subprocess.run(
        ["openclaw", "completion", name, "--install"], env=env, capture_output=True, check=True
    )
    assert b"only" not in done.stdout
    opened = Shell(name, place, env)
    start = {
        "bash": f"bind 'set bell-style none'; source {BASH_COMPLETION}",
        "zsh": f"fpath=({place}/.local/share/zsh/site-functions $fpath);"
        " autoload -Uz compinit; compinit -u -D",
        "fish": f"set fish_complete_path {place}/.config/fish/completions",
    }
    if name == "bash" and not BASH_COMPLETION.exists():
        pytest.skip("bash-completion is not installed")
    opened.type(start[name] + "; echo rea''dy\r")
    assert opened.shows("ready"), opened.shown
    try:
        assert not filled(opened, [(f"{typed} memory get 5f3", f"{typed} memory get 5f3c9a1e ")])
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("openclaw session show s-", ["the release", "small talk", " ago"]),
        ("openclaw memory get ", ["mem-001", "The editor is emacs", "部署 with deploy"]),
        ("openclaw ", ["memory", "session", "model", "config"]),
        ("openclaw memory edit --c", ["--category", "--clear"]),
    ],
)
def test_the_tab_key_lists_what_there_is_and_what_it_is(shell, typed, expected):
    shell.type(f"{typed}\t")
    # The first key may fill in what all candidates share, and the next one list them.
    for _ in range(5):
        if shell.shows(expected[0], 2):
            break
        shell.press("\t")
    for text in expected:
        assert shell.shows(text, 10), shell.shown
