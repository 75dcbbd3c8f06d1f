"""``completion``: what it prints, and where it puts it."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT

FILES = {"bash": "openclaw.bash", "zsh": "_openclaw", "fish": "openclaw.fish"}
PLACES = {
    "bash": [
        ".local/share/bash-completion/completions/openclaw",
        ".local/share/bash-completion/completions/openclaw-cli",
    ],
    "zsh": [".local/share/zsh/site-functions/_openclaw"],
    "fish": [
        ".config/fish/completions/openclaw.fish",
        ".config/fish/completions/openclaw-cli.fish",
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
        assert (hermetic / place).read_text() == (ROOT / "completions" / FILES[shell]).read_text()


@pytest.mark.parametrize(
    ("shell", "name", "below"),
    [
        ("bash", "XDG_DATA_HOME", "bash-completion/completions/openclaw"),
        ("bash", "BASH_COMPLETION_USER_DIR", "completions/openclaw"),
        ("zsh", "XDG_DATA_HOME", "zsh/site-functions/_openclaw"),
        ("zsh", "FPATH", "_openclaw"),
        ("fish", "XDG_CONFIG_HOME", "fish/completions/openclaw.fish"),
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
    first, second = (hermetic / place for place in PLACES["bash"])
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


def test_the_next_step_is_told_where_there_is_one(run_cli):
    assert "fpath=(" in run_cli("completion", "zsh", "--install").out
    assert run_cli("completion", "fish", "--install").out.count("\n") == 2


def test_force_alone_and_other_shells_are_usage_errors(run_cli):
    assert run_cli("completion", "bash", "--force").status == 2
    run = run_cli("completion", "tcsh")
    assert run.status == 2
    assert "is not one of 'bash', 'zsh', 'fish'" in run.err
