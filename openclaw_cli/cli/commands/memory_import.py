"""``memory import``: read memories from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import NoEmbed, ScopeName
from openclaw_cli.cli.source import check_optional, open_source
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

if TYPE_CHECKING:
    from openclaw_cli.cli.context import Invocation
    from openclaw_cli.transfer.importer import ImportRequest

EXAMPLES = (
    "openclaw memory import memories.jsonl",
    "openclaw memory import export.json --on-conflict newer --dry-run",
    "openclaw memory import notes.jsonl.gz --category event --user 123456789",
)
EXITS = (
    errors.EXIT_PARTIAL,
    errors.EXIT_LOCKED,
    errors.EXIT_TOO_OLD,
    errors.EXIT_TOO_NEW,
    errors.EXIT_DAMAGED,
    errors.EXIT_UNAVAILABLE,
)


def command(
    ctx: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="The file; - reads standard input.")
    ],
    from_: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="auto, openclaw or jsonl.")
    ] = "auto",
    on_conflict: Annotated[
        Literal["skip", "overwrite", "newer", "duplicate"],
        typer.Option("--on-conflict", help="What to do with an id that is there already."),
    ] = "skip",
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="CATEGORY", help="For memories that name none."),
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="For memories that name none.")
    ] = None,
    scope: Annotated[
        ScopeName | None, typer.Option("--scope", help="For memories that name none.")
    ] = None,
    dedup: Annotated[
        bool, typer.Option("--dedup", help="Skip a text that is there already.")
    ] = False,
    no_embed: NoEmbed = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, change nothing.")
    ] = False,
) -> Result:
    """Read memories from a file or standard input.

    Takes an export of this program, or JSON Lines with at least a text each, packed with gzip or
    not. The source stays as it is; a bad line is reported with its number and the others are read.
    An interrupted import is run again: what is there already, also lines without an id, is skipped.
    """
    from openclaw_cli.transfer.importer import ImportRequest

    if not source.strip():
        raise errors.UsageError("no file named", hint="name a file, or - for standard input")
    request = ImportRequest(
        source=None if source == "-" else Path(source),
        from_=from_,
        on_conflict=on_conflict,
        category=category,
        user=check_optional(user, "--user"),
        scope=scope,
        dedup=dedup,
        embed=not no_embed,
        dry_run=dry_run,
    )
    invocation = current(ctx)
    if request.source is None:
        return _import(invocation, request, invocation.stdin())
    with open_source(request.source) as stream:
        return _import(invocation, request, stream)


def _import(invocation: Invocation, request: ImportRequest, stream: BinaryIO) -> Result:
    from openclaw_cli.transfer.importer import import_memories

    service = invocation.memory(embeds=request.embed)
    with invocation.progress() as progress:
        return import_memories(service, request, stream, progress)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Sum up what was read in one line; nothing when quiet."""
    if view.quiet:
        return
    counts = [f"{data[name]} {name}" for name in ("added", "skipped", "overwritten") if data[name]]
    if data["failed"]:
        counts.append(f"{len(data['failed'])} failed")
    prefix = "dry run: " if data.get("dryRun") else ""
    yield f"{prefix}read {data['read']}: {', '.join(counts) or 'nothing to add'}"
