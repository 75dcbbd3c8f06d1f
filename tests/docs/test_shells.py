"""Completions in the real shells, at a real prompt, with the tab key."""

from __future__ import annotations

import shutil

import pytest

from tests.conftest import ROOT
from tests.docs import prepared
from tests.docs.terminal import Shell

FILES = {"bash": "openclaw.bash", "zsh": "_openclaw", "fish": "openclaw.fish"}
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
    ("openclaw memory status --plot memo", "--plot memories.jsonl "),
    ("openclaw memory status --plot --byt", "--plot --bytes "),
    ("openclaw session usage --plot --by mod", "--plot --by model "),
    ("openclaw --state-dir sta", "openclaw --state-dir state/"),
    ("openclaw --state-dir nowhere memory get 5f3\t#", "5f3#"),
    ("openclaw --state-dir state --agent other memory get ot", "memory get other-1 "),
    ("openclaw-cli memory get 5f3", "openclaw-cli memory get 5f3c9a1e "),
]


@pytest.fixture(params=FILES)
def shell(request, prepared_store, tmp_path):
    """A prompt of each shell in the folder of a prepared store, completions loaded."""
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    place = shutil.copytree(prepared_store, tmp_path / "place", symlinks=True)
    env = prepared.environment(place)
    (place / "bin" / "openclaw-cli").symlink_to("openclaw")
    state = place / "state"
    prepared.openclaw(
        state, "--agent", "other", "memory", "add", "x", "--id", "other-1", "--no-embed"
    )
    opened = Shell(name, place, env)
    opened.type(SOURCE[name].format(file=ROOT / "completions" / FILES[name]) + "; echo rea''dy\r")
    assert opened.shows("ready"), opened.shown
    yield opened
    opened.close()


def test_the_tab_key_fills_in_what_is_meant(shell):
    wrong = {}
    for typed, expected in FILLED:
        shell.type(typed if "\t" in typed else f"{typed}\t")
        if not shell.shows(expected, 10):
            wrong[typed] = shell.shown
        # The line is thrown away.
        shell.type("\x15echo do''ne\r")
        assert shell.shows("done"), shell.shown
    assert not wrong


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
