"""``session trash empty``: remove deleted sessions for good."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.confirm import require_consent
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import moment
from openclaw_cli.cli.options import DryRun, Yes
from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session trash empty --dry-run",
    "openclaw session trash empty --older-than 30d --yes",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED)


def command(
    ctx: typer.Context,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="TIME", help="Only what was deleted before: 30d."),
    ] = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Remove the sessions in the trash for good."""
    invocation = current(ctx)
    before = moment(invocation, older_than, "--older-than")
    service = invocation.sessions()
    plan = service.trash_empty(before, dry_run=True)
    count = len(plan.data["removed"])
    if dry_run or not count:
        return plan._replace(data={**plan.data, "dryRun": dry_run})
    require_consent(invocation, f"Remove {counted(count, 'deleted session')} for good?", yes=yes)
    return service.trash_empty(before, dry_run=False)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """List what is gone; only ids when quiet."""
    said = "would remove for good" if data["dryRun"] else "removed for good"
    for name in data["removed"]:
        yield from [name] if view.quiet else view.block(f"{said}: {name}")
    if not data["removed"] and not view.quiet:
        yield "nothing to remove"
