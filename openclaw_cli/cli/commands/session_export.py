"""``session export``: write sessions to a file or standard output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.render import Raw
from openclaw_cli.cli.view import View, counted, size
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session export --all --output backup.jsonl.gz",
    "openclaw session export 5f3c9a1e --output talk.html",
    "openclaw session export 5f3c9a1e --format markdown | less",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None, typer.Argument(metavar="ID...", help="Whole ids, or their ends.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All sessions, archived ones too.")
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file (.gz packs it); - is standard output."
        ),
    ] = None,
    format_: Annotated[
        Literal["jsonl", "markdown", "html"] | None,
        typer.Option("--format", help="To import again, or to read [default: by name]."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there already.")
    ] = False,
) -> Result | Raw:
    """Write sessions to a file or standard output.

    JSON Lines hold every field of metadata and messages, for session import; the same sessions
    give the same bytes. Markdown and HTML are transcripts to read, one file that needs nothing
    else. A damaged line is listed and left out (exit status 3).
    """
    from openclaw_cli.transfer.sessions.export import (
        SessionExport,
        SessionExportRequest,
        export_sessions,
    )

    if bool(sessions) == everything:
        raise UsageError("give ids, or --all", hint="session list shows what there is")
    invocation = current(ctx)
    path = None if output in (None, "-") else Path(str(output))
    request = SessionExportRequest(tuple(sessions or ()), path, format_, force)
    service = invocation.sessions()
    if path is not None:
        with invocation.progress() as progress:
            return export_sessions(service, request, progress)
    export = SessionExport(service, request)
    export.check()
    return Raw(export.pieces(), export.result)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Tell what was written where; nothing when quiet."""
    if view.quiet:
        return
    what = f"{counted(data['sessions'], 'session')}, {counted(data['messages'], 'message')}"
    yield f"exported {what} to {data['path']} ({size(data['bytes'])})"
    yield view.style(f"sha256 {data['sha256']}", "dim")
