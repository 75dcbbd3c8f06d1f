"""The parts of the bash and zsh completions that are tables: what may follow what."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from openclaw_cli.cli import registry
from openclaw_cli.cli.generate.tree import Command, Option, Value, group_options

HEAD = """\
# Completion of openclaw(1) for {shell}. Made from the command tree by: make docs
# Try it with:  {trial}
"""


def groups() -> list[str]:
    """Return the groups, the root ("") first."""
    return ["", *registry.GROUPS]


def child_lines(line: Callable[[str, str], str]) -> Iterable[tuple[str, str]]:
    """Yield each group and what can follow it, a ``line`` of name and summary joined by blanks."""
    for group in groups():
        found = registry.children(group)
        if not group:
            also = {word: f"Another word for {of}." for word, of in registry.ALIASES.items()}
            found = found | also
        yield group, " ".join(line(name, summary) for name, summary in found.items())


def common_options() -> tuple[Option, ...]:
    """Return the options that every command and every group takes."""
    apart = ("--version", "--all-agents")
    return tuple(option for option in group_options("") if option.names[-1] not in apart)


def joined(options: Iterable[Option], line: Callable[[str, str], str]) -> str:
    """Return a ``line`` of each option, joined by blanks; the long name says what it is."""
    return " ".join(line(option.names[-1], option.summary) for option in options)


def option_lines(
    commands: tuple[Command, ...], line: Callable[[str, str], str]
) -> Iterable[tuple[str, str]]:
    """Yield each group and command with the options that not all have, as ``child_lines`` does."""
    common = {option.names for option in common_options()}
    listed = [(group, group_options(group)) for group in groups()]
    listed += [(command.path, command.options) for command in commands]
    for path, options in listed:
        own = [option for option in options if option.names not in common]
        if own:
            yield path, joined(own, line)


def value_cases(commands: tuple[Command, ...]) -> list[tuple[str, str]]:
    """Return pattern and kind of every option that takes a value: ``path option`` is matched."""
    cases = [
        (_pattern("*", option), kind(option.value)) for option in group_options("") if option.value
    ]
    for command in commands:
        cases += [
            (_pattern(f"'{command.path} '", option), kind(option.value))
            for option in command.options
            if option.value and not option.everywhere
        ]
    return cases


def _pattern(path: str, option: Option) -> str:
    start = "*' '" if path == "*" else path
    return "|".join(f"{start}{name}" for name in option.names)


def argument_cases(commands: tuple[Command, ...]) -> list[tuple[str, str]]:
    """Return pattern and kind of every command whose arguments can be completed.

    ``path n`` is matched, n being how many arguments stand before: a second one is completed only
    where several of a kind may be given.
    """
    return [
        (
            f"'{command.path} '*" if command.arguments[0].many else f"'{command.path} 0'",
            kind(command.arguments[0].value),
        )
        for command in commands
        if command.arguments and command.arguments[0].value.kind != "text"
    ]


def kind(value: Value) -> str:
    """Return a value as the scripts write it: its kind, or ``words`` and the words.

    Before one that may be left out stands ``maybe``.
    """
    return " ".join((*(["maybe"] if value.optional else []), value.kind, *value.words))
