"""``completion``: print the completion of a shell, or put it where the shell looks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli.cli.context import current
from openclaw_cli.cli.render import Raw
from openclaw_cli.cli.view import View
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw completion bash > openclaw.bash",
    "openclaw completion bash --install",
    "openclaw completion fish --install --json",
)
EXITS = ()
ShellName = Literal["bash", "zsh", "fish"]


def command(
    ctx: typer.Context,
    shell: Annotated[ShellName, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    install: Annotated[
        bool, typer.Option("--install", help="Write it to where the shell looks for it.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="With --install: replace a file that is not ours.")
    ] = False,
) -> Result | Raw:
    """Print the completion of a shell, or install it for you.

    It completes commands, options and their values, and ids of agents, memories and sessions with
    what they are. --install writes a file for each name of the program to the shell's folder for
    your own completions; a new shell has them. Where another program is called openclaw, too, that
    name is left to it, and openclaw-cli is completed.
    """
    from openclaw_cli.cli import installing

    if not install:
        if force:
            raise UsageError("--force belongs to --install", hint="add --install")
        data: dict[str, Any] = {"shell": shell, "installed": []}
        return Raw(iter([installing.script(shell)]), lambda: Result("completion", data))
    environ = current(ctx).environ
    folder, note = installing.folder(shell, environ)
    other = installing.other_program(environ)
    written = installing.install(shell, folder, both=other is None, force=force)
    if other is not None:
        left = f"for openclaw-cli only: {other} is another program"
        note = f"{left}; {note}" if note else left
    return Result("completion", {"shell": shell, "installed": written, "note": note})


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say what was written, and what is left to do."""
    yield from (path if view.quiet else f"wrote {path}" for path in data["installed"])
    if data["note"] and not view.quiet:
        yield data["note"]
