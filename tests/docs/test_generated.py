"""The committed completions and manual pages are those that the command tree makes."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from openclaw_cli.cli import registry
from openclaw_cli.cli.generate import roff
from openclaw_cli.cli.generate.files import everything
from openclaw_cli.cli.generate.tree import commands
from openclaw_cli.config_keys import KEYS
from tests.conftest import ROOT

PAGES = sorted((ROOT / "man").glob("man*/*"))


def test_the_committed_files_are_those_made_anew():
    made = everything()
    outdated = [
        name
        for name, text in made.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text(encoding="utf-8") != text
    ]
    assert not outdated, "run: make docs"


def test_there_is_no_page_of_a_command_that_is_gone():
    assert {str(path.relative_to(ROOT)) for path in PAGES} == {
        name for name in everything() if name.startswith("man/")
    }


def test_the_hidden_command_writes_the_same_bytes_and_removes_what_is_gone(run_cli, tmp_path):
    gone = tmp_path / "man" / "man1" / "openclaw-memory-guess.1"
    gone.parent.mkdir(parents=True)
    gone.write_text("old")
    other = gone.with_name("other.1")
    other.write_text("not ours")
    assert run_cli("generate", tmp_path, "--json").data["removed"] == [str(gone)]
    assert not gone.exists()
    assert other.exists()
    for name in everything():
        assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    assert "generate" not in run_cli("--help").out


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_fault(page):
    done = subprocess.run(["mandoc", "-T", "lint", page], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
def test_a_page_shows_all_that_the_help_tells(run_cli):
    for command in commands():
        name = f"openclaw-{command.path.replace(' ', '-')}.1"
        done = subprocess.run(
            ["mandoc", "-T", "ascii", "-O", "width=1000", ROOT / "man" / "man1" / name],
            capture_output=True,
            check=True,
        )
        # Bold and italic letters are struck twice.
        shown = " ".join(re.sub(".\x08", "", done.stdout.decode()).split())
        for option in command.options:
            assert option.names[-1] in shown
            if not option.everywhere:
                assert " ".join(option.summary.split()) in shown
        for argument in command.arguments:
            assert argument.metavar in shown
            assert argument.summary in shown
        for example in command.source.module.EXAMPLES:
            if example.isascii():
                assert " ".join(example.split()) in shown


def test_the_page_of_the_configuration_has_every_key():
    page = (ROOT / "man" / "man5" / "openclaw-config.5").read_text()
    assert all(f"\\fB{name}\\fR" in page for name in KEYS)


def test_the_page_of_the_contract_has_every_command():
    page = (ROOT / "man" / "man7" / "openclaw-json.7").read_text()
    for path in registry.COMMANDS:
        assert f"\\fB{path}\\fR  (openclaw.{path.replace(' ', '.')}/1)" in page


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (".TH in running text", "\\&.TH in running text"),
        ("'quoted' - and \\ back", "\\&\\(aqquoted\\(aq \\- and \\e back"),
        ("*bold* and _italic_, snake_case_name, 2 * 3 * 4", None),
    ],
)
def test_running_text_is_never_taken_for_a_request(text, shown):
    expected = shown or "\\fBbold\\fR and \\fIitalic\\fR, snake_case_name, 2 * 3 * 4"
    assert roff.body(text) == [expected]
