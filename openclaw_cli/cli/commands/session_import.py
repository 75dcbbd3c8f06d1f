"""``session import``: read sessions from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.source import open_source
from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

if TYPE_CHECKING:
    from openclaw_cli.cli.context import Invocation

EXAMPLES = (
    "openclaw session import sessions.jsonl.gz",
    "openclaw session import sessions.jsonl --on-conflict new-id --dry-run",
)
EXITS = (
    errors.EXIT_PARTIAL,
    errors.EXIT_LOCKED,
    errors.EXIT_TOO_OLD,
    errors.EXIT_TOO_NEW,
    errors.EXIT_DAMAGED,
)


def command(
    ctx: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="The file; - reads standard input.")
    ],
    on_conflict: Annotated[
        Literal["skip", "new-id", "overwrite"],
        typer.Option("--on-conflict", help="What to do with an id that is there already."),
    ] = "skip",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, change nothing.")
    ] = False,
) -> Result:
    """Read sessions from a file of session export.

    It may be packed. Ids and every field are kept. Each session appears whole or not at all; a bad
    line is listed with its number, its session is left out and the others are read. An interrupted
    import is run again: what is there already is skipped. What is overwritten goes to the trash.
    """
    if not source.strip():
        raise errors.UsageError("no file named", hint="name a file, or - for standard input")
    invocation = current(ctx)
    if source == "-":
        return _import(invocation, "standard input", invocation.stdin(), on_conflict, dry_run)
    with open_source(Path(source)) as stream:
        return _import(invocation, source, stream, on_conflict, dry_run)


def _import(
    invocation: Invocation, name: str, stream: BinaryIO, on_conflict: str, dry_run: bool
) -> Result:
    from openclaw_cli.transfer.sessions.importing import SessionImportRequest, import_sessions

    request = SessionImportRequest(name, on_conflict, dry_run)
    with invocation.progress() as progress:
        return import_sessions(invocation.sessions(), request, stream, progress)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Sum up what was read in one line, and list new ids; only these when quiet."""
    for change in data["renamedIds"]:
        yield change["to"] if view.quiet else f"{change['from']} is now {change['to']}"
    if view.quiet:
        return
    names = ("added", "overwritten", "renamed", "skipped")
    counts = [f"{data[name]} {name}" for name in names if data[name]]
    if data["failed"]:
        counts.append(f"{len(data['failed'])} failed")
    prefix = "dry run: " if data["dryRun"] else ""
    done = ", ".join(counts) or "nothing to add"
    yield f"{prefix}read {counted(data['read'], 'session')}: {done}"
