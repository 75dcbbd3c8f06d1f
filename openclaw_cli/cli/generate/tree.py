"""The command tree as completions and manual pages need it: plain data, nothing of typer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import click

from openclaw_cli.cli import registry
from openclaw_cli.cli.commandline import LeafCommand, load_command
from openclaw_cli.cli.options import global_options, version_option
from openclaw_cli.config_keys import KEYS
from openclaw_cli.memory.categories import CATEGORIES

#: Names of values in the help whose candidates are on disk or known here.
_KINDS = {"FILE": "file", "PATH": "file", "DIR": "directory", "DIRECTORY": "directory"}
_HELP = "Show this help."


class Value(NamedTuple):
    """What may be given for an option or an argument.

    ``kind`` is agent, record, session or trash (ids on disk), file, picture (a file that holds
    one) or directory, words (one of ``words``), or text (anything). One that is ``optional`` may be
    left out.
    """

    kind: str
    words: tuple[str, ...] = ()
    optional: bool = False


class Option(NamedTuple):
    """An option: its names, the name of its value ("" for a flag), its help."""

    names: tuple[str, ...]
    metavar: str
    summary: str
    value: Value | None
    everywhere: bool


class Argument(NamedTuple):
    """An argument by its name in the help (``[ID]...``)."""

    metavar: str
    summary: str
    value: Value

    @property
    def many(self) -> bool:
        """Whether several may be given."""
        return self.metavar.endswith("...")


class Command(NamedTuple):
    """A command: the words that name it, its arguments and options, and the command itself."""

    path: str
    summary: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]
    source: LeafCommand


def command(path: str) -> Command:
    """Return the command that the words ``path`` name."""
    source = load_command(path)
    ctx = click.Context(source, info_name=f"openclaw {path}")
    source.fill_in_argument_help()
    options, arguments = [], []
    for param in source.params:
        value = None if getattr(param, "is_flag", False) else _value(path, param)
        metavar, summary = _told(param, ctx)
        if param.param_type_name == "argument":
            arguments.append(Argument(metavar, summary, value or Value("text")))
        else:
            names = tuple(sorted((*param.opts, *param.secondary_opts), key=len))
            options.append(Option(names, metavar, summary, value, not param.expose_value))
    options.append(Option(("-h", "--help"), "", _HELP, None, True))
    return Command(path, registry.COMMANDS[path], tuple(arguments), tuple(options), source)


def commands() -> tuple[Command, ...]:
    """Return every command, in the order of the table."""
    return tuple(map(command, registry.COMMANDS))


def group_options(path: str) -> tuple[Option, ...]:
    """Return the options of a group ("" at the root)."""
    ctx = click.Context(click.Command("openclaw"))
    given = global_options(all_agents=path in registry.FOR_ALL_AGENTS, group=True)
    params: Sequence[click.Parameter] = given if path else [version_option(), *given]
    options = []
    for param in params:
        value = None if getattr(param, "is_flag", False) else _value(path, param)
        metavar, summary = _told(param, ctx)
        names = tuple(sorted(param.opts, key=len))
        options.append(Option(names, metavar, summary, value, True))
    return (*options, Option(("-h", "--help"), "", _HELP, None, True))


def _told(param: click.Parameter, ctx: click.Context) -> tuple[str, str]:
    """Return the name of a value and the help as the program itself shows them."""
    record = param.get_help_record(ctx)
    shown, summary = record if record is not None else ("", "")
    flag = getattr(param, "is_flag", False)
    if param.param_type_name == "argument":
        return shown, summary.removesuffix("  [required]")
    return "" if flag else shown.rpartition(" ")[2], summary


def _value(path: str, param: click.Parameter) -> Value:
    if isinstance(param.type, click.Choice):
        return Value("words", tuple(map(str, param.type.choices)))
    name = (param.metavar or "").strip("[].").partition("|")[0]
    if name == "CATEGORY":
        return Value("words", tuple(CATEGORIES))
    if param.param_type_name == "option":
        known = {"--agent": "agent", "--session": "session", "--plot": "picture"}
        optional = (param.metavar or "").startswith("[")
        return Value(known.get(param.opts[0], _KINDS.get(name, "text")), optional=optional)
    if name == "KEY" and path.startswith("config "):
        return Value("words", tuple(KEYS))
    if name == "SHELL":
        return Value("words", ("bash", "zsh", "fish"))
    return Value(_ids(path) if name == "ID" else _KINDS.get(name, "text"))


def _ids(path: str) -> str:
    if path == "session restore":
        return "trash"
    return {"memory": "record", "session": "session"}.get(path.partition(" ")[0], "text")
