"""Values of options: how numbers are written, and options that stand in a value's place."""

from __future__ import annotations

import json

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.cli import registry
from openclaw_cli.cli.commandline import load_command
from openclaw_cli.cli.render import dump
from openclaw_cli.cli.values import Whole

HUGE = "9" * 25
#: Every option that takes a whole number, with its command.
COUNTED = [
    (path, max(param.opts, key=len))
    for path in registry.COMMANDS
    for param in load_command(path).params
    if isinstance(param, click.Option) and isinstance(param.type, click.types.IntParamType)
]


def test_there_are_options_that_take_whole_numbers():
    assert {("memory list", "--limit"), ("session tail", "--lines")} & set(COUNTED)


@pytest.mark.parametrize(("path", "option"), COUNTED)
@pytest.mark.parametrize("number", [HUGE, "9" * 5000, "9223372036854775808"])
def test_numbers_that_no_reader_of_json_could_keep_are_refused(run_cli, path, option, number):
    run = run_cli(*path.split(), f"{option}={number}", "--json")
    assert run.status == 2
    assert " is not from " in run.error["message"]


@pytest.mark.parametrize(("path", "option"), COUNTED)
@pytest.mark.parametrize("number", ["٣", "1_0", " 3 ", "３", "1e2", "3.0", "0x10"])
def test_whole_numbers_are_written_in_plain_digits(run_cli, path, option, number):
    run = run_cli(*path.split(), f"{option}={number}", "--json")
    assert run.status == 2
    assert f"{number!r} is not a whole number" in run.error["message"]


@pytest.mark.parametrize("seconds", ["٣", "inf", "-inf", "nan", "1_0", " 3 ", "-1", "1e300"])
def test_seconds_are_a_plain_number_that_ends(run_cli, seconds):
    run = run_cli("memory", "list", f"--lock-timeout={seconds}", "--json")
    assert run.status == 2
    assert "is not a number of seconds from 0" in run.error["message"]


@pytest.mark.parametrize("seconds", ["0", "2.5", "1e1", ".5"])
def test_seconds_may_have_decimals(run_cli, seconds):
    assert run_cli("memory", "add", "x", "--no-embed", f"--lock-timeout={seconds}").status == 0


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_every_number_that_json_keeps_is_taken_as_it_is(number):
    assert Whole().convert(str(number), None, None) == number


@given(
    st.recursive(
        st.integers() | st.floats() | st.text(), lambda inner: st.dictionaries(st.text(), inner)
    )
)
def test_a_document_with_numbers_of_any_length_is_printed(value):
    for indent in (False, True):
        json.loads(dump({"value": value}, indent=indent), parse_constant=pytest.fail)


def test_long_whole_numbers_keep_every_digit():
    assert dump({"n": 10**30, "no": float("inf")}) == b'{"n":1' + b"0" * 30 + b',"no":null}'


@pytest.mark.parametrize(
    "line",
    [
        "memory add hello --user --json",
        "memory add hello --user --tag=a",
        "memory add hello --tag --",
        "session append s --role user --content --quiet",
        "session export --all -o -q",
        "memory search x -vk -q",
        "--agent --json memory list",
    ],
)
def test_an_option_is_no_value_of_another(run_cli, state_dir, line):
    run = run_cli(*line.split())
    assert run.status == 2
    assert " needs a value, and " in run.out + run.err
    assert " is meant to be it, write " in run.out + run.err
    assert not state_dir.exists()


@pytest.mark.parametrize(
    ("words", "user"),
    [
        (["--user=--json"], "--json"),
        (["--user", "--other"], "--other"),
        (["--user", "-1"], "-1"),
        (["--user", "-"], "-"),
    ],
)
def test_a_value_may_begin_with_dashes_where_it_is_meant(run_cli, words, user):
    assert run_cli("memory", "add", "hello", "--no-embed", *words).status == 0
    assert run_cli("memory", "list", "--json").data["items"][0]["userId"] == user


def test_words_after_two_dashes_are_no_options(run_cli):
    assert run_cli("memory", "add", "--no-embed", "--", "--user").status == 0


def test_the_environment_takes_plain_digits_too(run_cli):
    for number in ("١٢", "1_0", " 5", "inf", HUGE):
        env = {"OPENCLAW_MEMORY_MAX_TOKENS": number}
        assert run_cli("config", "validate", env=env).status == 2
