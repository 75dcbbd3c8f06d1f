"""``memory migrate``: bring a file or the store from an older format to this one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory migrate --dry-run",
    "openclaw memory migrate",
    "openclaw memory migrate --from 1.x --to 2.0 old-export.json",
    "openclaw memory migrate --rollback",
)
EXITS = (
    errors.EXIT_PARTIAL,
    errors.EXIT_NOT_FOUND,
    errors.EXIT_LOCKED,
    errors.EXIT_TOO_NEW,
    errors.EXIT_DAMAGED,
)
_SHOWN = 20


def command(
    ctx: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="An export; without it the store.")
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="What it must be, as 1.x.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="VERSION", help="What it becomes [default: 2.0].")
    ] = None,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Restore what the migration has kept.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show each change, make none.")
    ] = False,
) -> Result:
    """Bring a file or the store from an older format to this one.

    Originals are kept: FILE as FILE.bak; in the store's memory folder changed records in
    records.bak, and older folders and indexes under their names with .bak. It may be stopped
    anywhere, and run again or rolled back.
    """
    from openclaw_cli.transfer.migration.files import migrate_file, rollback_file
    from openclaw_cli.transfer.migration.migrator import migrate_store
    from openclaw_cli.transfer.migration.rollback import rollback_store
    from openclaw_cli.transfer.migration.upgrading import Upgrader, check_versions

    check_versions(from_, to)
    invocation = current(ctx)
    service = invocation.memory()
    if source is None:
        if rollback:
            return rollback_store(service, dry_run=dry_run)
        with invocation.progress() as progress:
            return migrate_store(service, dry_run=dry_run, progress=progress)
    if source in ("", "-"):
        raise errors.UsageError("migrate needs a file with a name", hint="save it to a file first")
    upgrader = Upgrader(service.store.catalog, service.store.agent)
    if rollback:
        return rollback_file(upgrader, Path(source), dry_run=dry_run)
    return migrate_file(upgrader, Path(source), source_version=from_, dry_run=dry_run)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show each change of a dry run, then the counts; nothing when quiet."""
    if view.quiet:
        return
    changes = data.get("changes") or []
    shown = changes if view.verbose else changes[:_SHOWN]
    for item in shown:
        yield view.cut(f"{item.get('id') or item.get('path')}: {item['change']}")
    if len(changes) > len(shown):
        yield view.style(f"{len(changes) - len(shown)} more (--verbose lists them)", "dim")
    prefix = "dry run: " if data["dryRun"] else ""
    counts = [f"{data[name]} {name}" for name in ("changed", "unchanged")]
    if data["failed"]:
        counts.append(f"{len(data['failed'])} failed")
    yield prefix + ", ".join(counts)
    if data["backup"]:
        yield view.style(f"originals are kept in {data['backup']}", "dim")
