"""``memory export``: write memories to a file or standard output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import build_filters
from openclaw_cli.cli.options import Category, Language, Since, Tag, Until, User
from openclaw_cli.cli.render import Raw
from openclaw_cli.cli.view import View, size
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory export --output memories.json",
    "openclaw memory export --output memories.jsonl.gz --scope user --since 30d",
    "openclaw memory export --format jsonl --category preference | head",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND)


def command(
    ctx: typer.Context,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file (.gz packs it); - is standard output.",
        ),
    ] = None,
    format_: Annotated[
        Literal["json", "jsonl"] | None,
        typer.Option("--format", help="One document, or one record a line [default: by name]."),
    ] = None,
    scope: Annotated[
        Literal["user", "agent", "all"], typer.Option("--scope", help="Whose memories.")
    ] = "all",
    category: Category = None,
    user: User = None,
    tag: Tag = None,
    language: Language = None,
    since: Since = None,
    until: Until = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there already.")
    ] = False,
) -> Result | Raw:
    """Write memories to a file or standard output.

    The export holds every field and the history of each record, no vectors. The same memories give
    the same bytes: its time is that of the newest change in it. Without --output the document
    itself is printed, also with --json. A damaged record is listed and left out (exit status 3).
    """
    from openclaw_cli.transfer.exporter import Export, ExportRequest, export_memories

    invocation = current(ctx)
    filters = build_filters(
        invocation,
        category=category,
        scope=None if scope == "all" else [scope],
        user=user,
        tag=tag,
        language=language,
        period=(since, until),
    )
    path = None if output in (None, "-") else Path(str(output))
    request = ExportRequest(path, format_, filters, force)
    service = invocation.memory()
    if path is not None:
        with invocation.progress() as progress:
            return export_memories(service, request, progress)
    export = Export(service, request)
    export.check()
    return Raw(export.pieces(), export.result)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Tell what was written where; nothing when quiet."""
    if view.quiet:
        return
    yield f"exported {data['records']} to {data['path']} ({size(data['bytes'])})"
    yield view.style(f"sha256 {data['sha256']}", "dim")
