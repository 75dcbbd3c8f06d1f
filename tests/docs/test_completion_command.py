"""``completion``: what it prints, and where it puts it."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

FILES = {"bash": "openclaw-cli.bash", "zsh": "_openclaw-cli", "fish": "openclaw-cli.fish"}
SHORT = {"openclaw": "openclaw.bash", "openclaw.fish": "openclaw.fish"}
PLACES = {
    "bash": [
        ".local/share/bash-completion/completions/openclaw-cli",
        ".local/share/bash-completion/completions/openclaw",
    ],
    "zsh": [".local/share/zsh/site-functions/_openclaw-cli"],
    "fish": [
        ".config/fish/completions/openclaw-cli.fish",
        ".config/fish/completions/openclaw.fish",
    ],
}


@pytest.mark.parametrize("shell", FILES)
def test_the_committed_file_is_printed(run_cli, shell):
    run = run_cli("completion", shell)
    assert (run.status, run.err) == (0, "")
    assert run.out == (ROOT / "completions" / FILES[shell]).read_text()


@pytest.mark.parametrize("shell", FILES)
def test_it_is_installed_where_the_shell_looks_and_may_be_again(run_cli, hermetic, shell):
    for _ in range(2):
        data = run_cli("completion", shell, "--install", "--json").data
        assert data["installed"] == [str(hermetic / place) for place in PLACES[shell]]
    for place in PLACES[shell]:
        committed = SHORT.get(place.rpartition("/")[2], FILES[shell])
        assert (hermetic / place).read_text() == (ROOT / "completions" / committed).read_text()


@pytest.mark.parametrize(
    ("shell", "name", "below"),
    [
        ("bash", "XDG_DATA_HOME", "bash-completion/completions/openclaw-cli"),
        ("bash", "BASH_COMPLETION_USER_DIR", "completions/openclaw-cli"),
        ("zsh", "XDG_DATA_HOME", "zsh/site-functions/_openclaw-cli"),
        ("zsh", "FPATH", "_openclaw-cli"),
        ("fish", "XDG_CONFIG_HOME", "fish/completions/openclaw-cli.fish"),
    ],
)
def test_variables_say_where_that_is(run_cli, hermetic, shell, name, below):
    folder = hermetic / "elsewhere"
    folder.mkdir()
    env = {name: f"/nowhere:{folder}" if name == "FPATH" else str(folder)}
    run = run_cli("completion", shell, "--install", "--json", env=env)
    assert run.data["installed"][0] == str(folder / below)
    assert (folder / below).is_file()


def test_a_relative_variable_is_ignored(run_cli, hermetic):
    env = {"XDG_CONFIG_HOME": "relative"}
    data = run_cli("completion", "fish", "--install", "--json", env=env).data
    assert data["installed"] == [str(hermetic / place) for place in PLACES["fish"]]


def test_what_is_not_ours_is_replaced_only_with_force(run_cli, hermetic):
    second, first = (hermetic / place for place in PLACES["bash"])
    second.parent.mkdir(parents=True)
    second.write_text("# of another program\n")
    run = run_cli("completion", "bash", "--install")
    assert run.status == 2
    assert "openclaw-cli is there and not ours" in run.err
    assert "--force" in run.err
    assert not first.exists()
    assert second.read_text() == "# of another program\n"
    assert run_cli("completion", "bash", "--install", "--force").status == 0
    assert second.read_text().startswith("# Completion of openclaw(1) for bash")


@pytest.mark.parametrize("shell", FILES)
def test_the_name_of_another_program_is_left_to_it(run_cli, hermetic, shell):
    for folder, name in (("theirs", "openclaw"), ("ours", "openclaw"), ("ours", "openclaw-cli")):
        program = hermetic / folder / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n# {folder}\n")
        program.chmod(0o755)
    theirs, ours = hermetic / "theirs", hermetic / "ours"
    run = run_cli("completion", shell, "--install", env={"PATH": f"{theirs}:{ours}"})
    place = hermetic / PLACES[shell][0]
    assert f"wrote {place}\n" in run.out
    assert f"for openclaw-cli only: {theirs}/openclaw is another program" in run.out
    assert list(place.parent.iterdir()) == [place]
    # One that comes later on PATH is none that the name runs.
    data = run_cli(
        "completion", shell, "--install", "--json", env={"PATH": f"{ours}:{theirs}"}
    ).data
    assert data["installed"] == [str(hermetic / place) for place in PLACES[shell]]
    assert "another program" not in data["note"]


def test_the_next_step_is_told_where_there_is_one(run_cli):
    assert "fpath=(" in run_cli("completion", "zsh", "--install").out
    assert run_cli("completion", "fish", "--install").out.count("\n") == 2


def test_force_alone_and_other_shells_are_usage_errors(run_cli):
    assert run_cli("completion", "bash", "--force").status == 2
    run = run_cli("completion", "tcsh")
    assert run.status == 2
    assert "is not one of 'bash', 'zsh', 'fish'" in run.err
