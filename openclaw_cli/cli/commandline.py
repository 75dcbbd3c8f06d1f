"""The command tree for typer: built from the table, a command's module loaded when it is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, cast, get_type_hints

import click
import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

from openclaw_cli.cli import registry, signals
from openclaw_cli.cli.manual import MANUAL
from openclaw_cli.cli.options import NO_VALUE, global_options, refuse_empty, version_option
from openclaw_cli.cli.values import refuse_swallowed, with_plain_digits
from openclaw_cli.errors import EXIT_DONE, EXIT_FAILED, EXIT_USAGE, UsageError

#: What the parser says of numbers, and what this program says.
_SAID = (
    (r"is not a valid integer( range)?$", "is not a whole number"),
    (r"is not a valid float( range)?$", "is not a number"),
    (r"is not in the range x>=(\S+)$", r"is not \1 or more"),
    (r"is not in the range (\S+)<=x<=(\S+)$", r"is not from \1 to \2"),
)
#: Below so many cells the help is told its width, for which it would take this one at least.
_NARROW = 52
_SETTINGS: dict[str, Any] = {"help_option_names": ["--help", "-h"], "max_content_width": 100}


def _show_help(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        width = ctx.obj.output.view.width
        if width is not None and width < _NARROW:
            ctx.terminal_width = max(20, width - 2)
        ctx.obj.output.text(ctx.get_help().rstrip("\n"))
        ctx.exit()


def _with_help(option: click.Option | None) -> click.Option | None:
    if option is not None:
        option.callback = _show_help
        option.help = "Show this help."
    return option


@contextmanager
def _placing(ctx: click.Context) -> Iterator[None]:
    """Tell usage errors of the parser which command they are about."""
    try:
        yield
    except click.UsageError as error:
        error.ctx = error.ctx or ctx
        raise


def _write_list(formatter: click.HelpFormatter, rows: list[tuple[str, str]]) -> None:
    """Write names and what they mean, which keep half of a narrow terminal."""
    formatter.write_dl(rows, col_max=min(30, formatter.width // 2 - 4))


def _write_options(
    command: click.Command, ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the command's own parameters, then those that every command takes."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Global": []}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is None:
            continue
        own = "Options" if param.expose_value else "Global"
        name = "Arguments" if param.param_type_name == "argument" else own
        sections[name].append(record)
    if not sections["Global"]:
        sections.pop("Global")
    for name, records in sections.items():
        if records:
            with formatter.section("Global options" if name == "Global" else name):
                _write_list(formatter, records)


def _argument_help(module: ModuleType, name: str) -> str:
    hints = get_type_hints(module.command, include_extras=True)
    for info in getattr(hints.get(name), "__metadata__", ()):
        return str(info.help or "")
    return ""


class LeafCommand(TyperCommand):
    """A command with its module; help ends with what it touches, examples and exit statuses."""

    module: ModuleType
    path: str

    @property
    def exits(self) -> tuple[int, ...]:
        """The exit statuses that it may end with."""
        return (EXIT_DONE, EXIT_FAILED, EXIT_USAGE, *self.module.EXITS)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after the command; refuse options with an empty value."""
        with _placing(ctx):
            refuse_swallowed(ctx, self, args)
            rest = super().parse_args(ctx, args)
            for param in self.params:
                if param.param_type_name == "option" and param.expose_value:
                    refuse_empty(ctx, param, ctx.params.get(param.name or ""))
            return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; from here on signals that end it are heard (see ``__main__``)."""
        import orjson  # noqa: F401 - crashes where Ctrl-C comes while it is being loaded

        signals.hear()
        return super().invoke(ctx)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return ``--help``, printed by the one renderer."""
        return _with_help(super().get_help_option(ctx))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the option lists."""
        self.fill_in_argument_help()
        _write_options(self, ctx, formatter)

    def fill_in_argument_help(self) -> None:
        """Give arguments the help that newer releases of click take from them."""
        for param in self.params:
            if isinstance(param, TyperArgument) and not param.help:
                param.help = _argument_help(self.module, param.name or "")

    def format_epilog(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what is read and written, examples and exit statuses."""
        entry = MANUAL.get(self.path)
        if entry is not None:
            with formatter.section("Files"):
                _write_list(formatter, [("reads", entry.reads), ("writes", entry.writes)])
        with formatter.section("Examples"):
            for example in self.module.EXAMPLES:
                formatter.write(f"{' ' * formatter.current_indent}{example}\n")
        with formatter.section("Exit status"):
            meanings = [(str(code), registry.EXIT_MEANINGS[code]) for code in self.exits]
            _write_list(formatter, meanings)


@click.pass_context
def _require_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is not None:
        return
    group = cast("LazyGroup", ctx.command)
    if not group.path and not ctx.obj.output.json:
        ctx.obj.output.text(_map())
        ctx.exit()
    raise UsageError(
        f"no command given after {ctx.command_path}",
        hint=f"choose one of {', '.join(registry.children(group.path))}",
        details={"usage": _usage(ctx)},
    )


def _map() -> str:
    """Return what ``openclaw`` alone says: where to begin, by task."""
    width = max(len(path) for paths in registry.TASKS.values() for path in paths)
    lines = [registry.SUMMARY, ""]
    for task, paths in registry.TASKS.items():
        for place, path in enumerate(paths):
            label = "" if place else task
            lines.append(f"{label:12}{path:{width}}  {registry.COMMANDS[path]}")
    further = "openclaw --help lists all commands, openclaw COMMAND --help explains one."
    return "\n".join([*lines, "", further])


class LazyGroup(TyperGroup):
    """A group whose commands come from the table; their modules are imported when chosen."""

    def __init__(self, path: str, help_text: str) -> None:
        self.path = path
        params = global_options(all_agents=path in registry.FOR_ALL_AGENTS, group=True)
        super().__init__(
            name=path.rpartition(" ")[2] or "openclaw",
            help=help_text,
            params=params if path else [version_option(), *params],
            rich_markup_mode=None,
            no_args_is_help=False,
            invoke_without_command=True,
            callback=_require_command,
            context_settings=_SETTINGS,
            subcommand_metavar="COMMAND [ARGS]...",
        )

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return ``--help``, printed by the one renderer."""
        return _with_help(super().get_help_option(ctx))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after the group."""
        with _placing(ctx):
            refuse_swallowed(ctx, self, args)
            return super().parse_args(ctx, args)

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """Return the names that may follow."""
        return list(registry.children(self.path))

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the group or the command of this name, or None."""
        path = f"{self.path} {cmd_name}".strip()
        if path in registry.GROUPS:
            return LazyGroup(path, registry.GROUPS[path])
        known = path in registry.COMMANDS or path in registry.HIDDEN
        return load_command(path) if known else None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their summaries from the table, then the options."""
        with formatter.section("Commands"):
            _write_list(formatter, list(registry.children(self.path).items()))
        _write_options(self, ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names; suggest the nearest for an unknown one."""
        if not self.path:
            args = [registry.ALIASES.get(args[0], args[0]), *args[1:]]
        command = self.get_command(ctx, args[0])
        if command is None:
            word = args[0] if args[0].strip() else repr(args[0])
            raise UsageError(
                f"no such command: {ctx.command_path} {word}",
                hint=self._nearest(ctx, args[0]),
                details={"usage": _usage(ctx)},
            )
        ctx.obj.path = f"{self.path} {args[0]}".strip()
        if isinstance(command, LeafCommand):
            ctx.obj.lines = command.module.lines
            ctx.obj.paged = getattr(command.module, "PAGED", False)
            if ctx.obj.given.get("all_agents") and not _for_all_agents(command.module):
                raise UsageError(
                    f"{ctx.obj.path} works on one agent, not with --all-agents",
                    hint="name the agent with --agent ID",
                )
        return args[0], command, args[1:]

    def _nearest(self, ctx: click.Context, word: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(word, registry.children(self.path), n=1)
        if near:
            return f"did you mean {ctx.command_path} {near[0]}?"
        for path in registry.COMMANDS:
            if path.rpartition(" ")[2] == word:
                return f"did you mean openclaw {path}?"
        return f"{ctx.command_path} --help lists the commands"


def _for_all_agents(module: ModuleType) -> bool:
    return getattr(module, "ALL_AGENTS", False)


def load_command(path: str) -> LeafCommand:
    """Import the module of a command and build it."""
    module = import_module(registry.module_name(path))
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(path.rpartition(" ")[2], cls=LeafCommand, context_settings=_SETTINGS)(
        module.command
    )
    command = typer.main.get_command(app)
    if not isinstance(command, LeafCommand):
        raise TypeError(path)
    command.module, command.path = module, path
    command.params = [with_plain_digits(_optional(param)) for param in command.params]
    command.params += global_options(all_agents=_for_all_agents(module))
    return command


def _optional(param: click.Parameter) -> click.Parameter:
    """Return an option whose value the help shows in brackets so that it may be left out.

    The options of typer cannot do that.
    """
    if not isinstance(param, click.Option) or not (param.metavar or "").startswith("["):
        return param
    return click.Option(
        [*param.opts, param.name or ""],
        is_flag=False,
        flag_value=NO_VALUE,
        metavar=param.metavar,
        help=param.help,
    )


def root() -> LazyGroup:
    """Return the whole command tree."""
    return LazyGroup("", registry.SUMMARY)


def _usage(ctx: click.Context) -> str:
    return " ".join([ctx.command_path, *ctx.command.collect_usage_pieces(ctx)])


def usage_error(error: click.UsageError) -> UsageError:
    """Return a usage error of typer in the form of this program, with the nearest option."""
    message = error.format_message().rstrip(".")
    details: dict[str, object] = {}
    hint = None
    if error.ctx is not None:
        details["usage"] = _usage(error.ctx)
        hint = f"{error.ctx.command_path} --help lists what is accepted"
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        message = f"no such option: {error.option_name}"
        known = [
            name
            for param in error.ctx.command.get_params(error.ctx)
            for name in (*param.opts, *param.secondary_opts)
            if name.startswith("-")
        ]
        from difflib import get_close_matches

        # The dashes alone would make any two short names alike.
        bare = {name.lstrip("-"): name for name in known}
        near = get_close_matches(error.option_name.lstrip("-"), bare, n=1)
        hint = f"did you mean {bare[near[0]]}?" if near else hint
    elif message.startswith("Got unexpected extra argument") and _takes_arguments(error.ctx):
        hint = "put a text of several words into quotes"
    message = _in_plain_words(message)
    return UsageError(message[:1].lower() + message[1:], hint=hint, details=details)


def _takes_arguments(ctx: click.Context | None) -> bool:
    return ctx is not None and any(
        param.param_type_name == "argument" for param in ctx.command.params
    )


def _in_plain_words(message: str) -> str:
    """Return a message of the parser about a number as people would say it."""
    for pattern, said in _SAID:
        message = re.sub(pattern, said, message)
    return message
