"""The completion for fish."""

from __future__ import annotations

from collections.abc import Iterator

from openclaw_cli.cli import registry
from openclaw_cli.cli.generate.cases import HEAD, common_options, groups
from openclaw_cli.cli.generate.tree import Command, Option, Value, group_options

_BODY = r"""
# Tell whether the command line has come to the command or group $argv.
function __openclaw_cli_at
    set -l at
    set -l skip 0
    set -l count 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            if contains -- "$word" (__openclaw_cli_valued "$at")
                set skip 1
            end
        else
            test "$at $word" = ' sessions'; and set word session
            set -l next (string trim -- "$at $word")
            if contains -- "$next" $__openclaw_cli_paths
                set at $next
            else
                set count (math $count + 1)
            end
        end
    end
    set -g __openclaw_cli_count $count
    test "$at" = "$argv"
end

# The same, and tell whether no argument stands before the cursor.
function __openclaw_cli_first
    __openclaw_cli_at $argv; and test $__openclaw_cli_count = 0
end

# Tell whether the word before the cursor is one of the options $argv, whose value may follow.
function __openclaw_cli_after
    contains -- (commandline -opc)[-1] $argv
end

# Files that may hold a chart, and folders on the way to one.
function __openclaw_cli_pictures
    __fish_complete_path (commandline -ct) | string match -rei '(\.svg|\.png|/)(\t|$)'
end

# Ids on disk with what they are, asked of the program by its long name, beside the one that was
# typed: the short one may be another's, which is never run.
function __openclaw_cli_ids
    set -l words (commandline -opc)
    set -l program (string match -r '.*/' -- $words[1])openclaw-cli
    test -n "$program"; or set program openclaw-cli
    $program __complete $argv[1] (commandline -ct) $words[2..] 2>/dev/null
end

"""

_NAMES = """\
# The short name is completed, too, where it is this program or nobody's.
set -l names -c openclaw-cli
set -l short (command -s openclaw)
set -l long (command -s openclaw-cli)
if test -z "$short"; or cmp -s "$short" "$long"
    set -a names -c openclaw
end"""

#: The file for the short name: fish looks for one of the name of the command.
SHORT = """\
# Completion of openclaw(1) for fish, by its short name.
source (status dirname)/openclaw-cli.fish
"""


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _offered(value: Value) -> str:
    """Return how the candidates of a value are told."""
    if value.kind == "words":
        return f"-xa {_quoted(' '.join(value.words))}"
    if value.kind == "file":
        return "-rF"
    if value.kind == "picture":
        return "-fka '(__openclaw_cli_pictures)'"
    if value.kind == "directory":
        return "-xa '(__fish_complete_directories)'"
    return "-x" if value.kind == "text" else f"-xka '(__openclaw_cli_ids {value.kind})'"


def _option(at: str, option: Option) -> str:
    names = [f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in option.names]
    value = f" {_offered(option.value)}" if option.value and not option.value.optional else ""
    return f"complete $names{at} {' '.join(names)}{value} -d {_quoted(option.summary)}"


def _after(command: Command, option: Option, value: Value) -> str:
    """Return the line for a value that may be left out, which fish takes for an argument."""
    names = " ".join(option.names)
    at = f"'__openclaw_cli_at {command.path}; and __openclaw_cli_after {names}'"
    return f"complete $names -n {at} {'-F' if value.kind == 'file' else _offered(value)}"


def _argument(command: Command) -> str:
    """Return the line for the arguments of a command."""
    argument = command.arguments[0]
    at = "__openclaw_cli_at" if argument.many else "__openclaw_cli_first"
    # What is exclusive for the value of an option is without files for an argument.
    offered = _offered(argument.value).replace("-x", "-f", 1).replace("-rF", "-F")
    return f"complete $names -n '{at} {command.path}' {offered}"


def _lines(commands: tuple[Command, ...]) -> Iterator[str]:
    common = {option.names for option in common_options()}
    yield from _NAMES.splitlines()
    yield "complete $names -f"
    for option in common_options():
        yield _option("", option)
    for group in groups():
        at = f" -n '__openclaw_cli_at {group}'" if group else " -n '__openclaw_cli_at'"
        for name, summary in registry.children(group).items():
            yield f"complete $names{at} -a {name} -d {_quoted(summary)}"
        for option in group_options(group):
            if option.names not in common:
                yield _option(at, option)
    for command in commands:
        yield from _of_command(command, common)


def _of_command(command: Command, common: set[tuple[str, ...]]) -> Iterator[str]:
    at = f" -n '__openclaw_cli_at {command.path}'"
    for option in command.options:
        if option.names not in common:
            yield _option(at, option)
        if option.value and option.value.optional:
            yield _after(command, option, option.value)
    if command.arguments and command.arguments[0].value.kind != "text":
        yield _argument(command)


def _valued(commands: tuple[Command, ...]) -> Iterator[str]:
    """Yield the function that tells which options of a command take a value."""
    names = _names(group_options(""))
    yield "# The options of the command $argv that take a value."
    yield "function __openclaw_cli_valued"
    yield f"    printf '%s\\n' {' '.join(names)}"
    yield '    switch "$argv"'
    for command in commands:
        own = [name for name in _names(command.options) if name not in names]
        if own:
            yield f"        case {_quoted(command.path)}"
            yield f"            printf '%s\\n' {' '.join(own)}"
    yield "    end"
    yield "end\n"


def _names(options: tuple[Option, ...]) -> list[str]:
    valued = (option for option in options if option.value and not option.value.optional)
    return [name for option in valued for name in option.names]


def script(commands: tuple[Command, ...]) -> str:
    """Return the script."""
    head = HEAD.format(shell="fish", trial="openclaw-cli completion fish | source")
    paths = " ".join(map(_quoted, [*registry.GROUPS, *registry.COMMANDS]))
    functions = "\n".join(_valued(commands))
    return "\n".join(
        [head, f"set -g __openclaw_cli_paths {paths}\n", functions + _BODY, *_lines(commands), ""]
    )
