"""What may be said on the command line: the global options, and those that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
import typer
from click.core import ParameterSource
from typer.core import TyperOption

from openclaw_cli import __version__
from openclaw_cli.cli.values import Seconds
from openclaw_cli.errors import UsageError
from openclaw_cli.paths import SCOPES

if TYPE_CHECKING:
    from openclaw_cli.cli.context import Invocation


ScopeName = Literal["user", "agent"]


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    # Asked in turn at the root, the group and the command: what is given last wins.
    if param.name and ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
        refuse_empty(ctx, param, value)
        ctx.obj.given[param.name] = value


def refuse_empty(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Raise a usage error where an option was given without saying anything (``--user ""``)."""
    given = value if isinstance(value, (list, tuple)) else (value,)
    if any(isinstance(word, str) and not word.strip() for word in given):
        raise click.BadParameter("it is empty", ctx, param)


def _tell_version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.obj.output.text(f"openclaw {__version__}")
        ctx.exit()


def _global(*names: str, flag: bool = False, **more: Any) -> TyperOption:
    return TyperOption(
        param_decls=list(names),
        is_flag=flag or None,
        default=False if flag else None,
        expose_value=False,
        callback=_remember,
        **more,
    )


def global_options(*, all_agents: bool, group: bool = False) -> list[click.Parameter]:
    """Return fresh parameters for the options that are accepted before and after a command."""
    where = ", where the command can" if group else ""
    everyone = _global("--all-agents", flag=True, help=f"Work on every agent{where}.")
    return [
        _global("--agent", metavar="ID", help="The agent [default: $OPENCLAW_AGENT, else main]."),
        *([everyone] if all_agents else []),
        _global("--state-dir", metavar="DIR", help="The state directory [default: ~/.openclaw]."),
        _global("--json", flag=True, help="Print one JSON document."),
        _global("--quiet", "-q", flag=True, help="Say no more than what was asked for."),
        _global("--verbose", "-v", flag=True, help="Say more; show tracebacks."),
        _global("--no-color", flag=True, help="Use no colours (also: $NO_COLOR)."),
        _global(
            "--lock-timeout",
            type=Seconds(),
            metavar="SECONDS",
            help="Wait so long for other writers [default: 10].",
        ),
        _global("--now", metavar="TIME", help="Take this as the present [default: the clock]."),
    ]


def version_option() -> TyperOption:
    """Return the root's ``--version``."""
    return TyperOption(
        param_decls=["--version", "-V"],
        is_flag=True,
        default=False,
        is_eager=True,
        expose_value=False,
        callback=_tell_version,
        help="Print the version.",
    )


Id = Annotated[str, typer.Argument(metavar="ID", help="A whole id, or its last 8 characters.")]
Ids = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Whole ids, or their last 8 characters.")
]
Category = Annotated[
    list[str] | None,
    typer.Option("--category", metavar="CATEGORY", help="Only this category (repeatable)."),
]
Scope = Annotated[
    list[str] | None,
    typer.Option("--scope", click_type=click.Choice(SCOPES), help="Only this scope (repeatable)."),
]
User = Annotated[
    list[str] | None, typer.Option("--user", metavar="USER", help="Only of this user (repeatable).")
]
Tag = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag (repeatable).")
]
Language = Annotated[
    list[str] | None,
    typer.Option("--language", metavar="CODE", help="Only in this language, as zh (repeatable)."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only from this time on: a date, a time, or 7d."),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only from before this time.")
]
JsonLines = Annotated[
    bool, typer.Option("--jsonl", help="Print one JSON object a line, as they are found.")
]
NoEmbed = Annotated[
    bool, typer.Option("--no-embed", help="Make no vectors now; memory index makes them later.")
]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Say what would be done, change nothing."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
TextFile = Annotated[
    str | None, typer.Option("--file", metavar="FILE", help="Read the text from this file.")
]


Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="[FILE]", help="Draw charts: here, or into FILE (.svg, .png)."),
]
ReplacePicture = Annotated[
    bool, typer.Option("--force", help="Replace the FILE of --plot if it is there already.")
]
#: What an option whose value is optional has without one, and how that can be said.
NO_VALUE = "-"


def picture_file(plot: str | None, *, force: bool) -> Path | None:
    """Return the file that ``--plot`` names, None where it names none."""
    if plot is None or plot == NO_VALUE:
        if force:
            raise UsageError("--force goes with --plot FILE", hint="name the file, or leave it out")
        return None
    from openclaw_cli.cli.pictures import target

    return target(plot)


def refuse_two_forms(invocation: Invocation, *, jsonl: bool) -> None:
    """Raise `UsageError` where one document and one object a line are both asked for."""
    if jsonl and invocation.output.json:
        raise UsageError(
            "--json and --jsonl exclude each other",
            hint="--json is one document, --jsonl one object a line",
        )
