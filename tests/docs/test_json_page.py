"""openclaw-json(7) against the types of the contract, from which the schemas are made."""

from __future__ import annotations

import re
from typing import get_args, get_origin, get_type_hints, is_typeddict

import click
import pytest

from openclaw_cli.cli import registry
from openclaw_cli.cli.commandline import load_command
from openclaw_cli.cli.contract import common, memory
from openclaw_cli.cli.contract.table import CONTRACTS
from openclaw_cli.cli.manual import MANUAL
from tests.conftest import ROOT

#: Described once for all commands: records in openclaw-store(5), failed items in the page's text.
_ELSEWHERE = (memory.Record, memory.ShownRecord, common.Failed)
PAGE = (ROOT / "openclaw_cli/cli/generate/texts/json.txt").read_text()


def _members(kind: object) -> set[str]:
    if kind in _ELSEWHERE:
        return set()
    hints = get_type_hints(kind) if is_typeddict(kind) else {}
    return set(hints).union(*map(_members, [*hints.values(), *get_args(kind)]))


@pytest.mark.parametrize("path", CONTRACTS)
def test_every_member_of_the_data_is_on_the_page(path):
    told = set(re.findall(r"\w+", MANUAL[path].data))
    assert _members(CONTRACTS[path].data) - told == set()


@pytest.mark.parametrize("path", CONTRACTS)
def test_lists_are_told_as_lists_and_objects_as_objects(path):
    for word, hint in get_type_hints(CONTRACTS[path].data).items():
        told = re.search(rf"\b{word}\??:([\[{{])", MANUAL[path].data)
        if told and (is_typeddict(hint) or get_origin(hint) is list):
            assert (word, told[1]) == (word, "{" if is_typeddict(hint) else "[")


def test_the_page_names_the_commands_that_take_jsonl():
    sentence = re.search(r"([^.\n]*) also take \*--jsonl\*", PAGE)
    assert sentence
    taking = [
        path
        for path in registry.COMMANDS
        for param in load_command(path).params
        if isinstance(param, click.Option) and "--jsonl" in param.opts
    ]
    assert re.findall(r"\*([\w ]+)\*", sentence[1]) == taking


def test_a_diagnosis_is_a_success_whatever_it_finds(run_cli, state_dir):
    state_dir.mkdir()
    (state_dir / "openclaw.json").write_text("{memory: {locale: 3}}")
    run = run_cli("doctor", "--json")
    assert run.status == 14
    assert "failed" not in run.data
    assert "of *doctor*, with 3 or 14" in PAGE
