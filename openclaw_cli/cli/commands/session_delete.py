"""``session delete``: move sessions to the trash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.confirm import require_consent
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import DryRun, Ids, Yes
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw session delete 5f3c9a1e --yes",
    "openclaw session delete 5f3c9a1e 7d2e41bb --yes --json",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)


def command(
    ctx: typer.Context,
    sessions: Ids,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Move sessions to the trash.

    session restore brings them back, until session trash empty removes them for good.
    """
    invocation = current(ctx)
    service = invocation.sessions()
    plan = service.delete(sessions, dry_run=True)
    if dry_run:
        return plan
    names = ", ".join(plan.data["deleted"])
    require_consent(invocation, f"Move to the trash: {names}?", yes=yes)
    return service.delete(sessions, dry_run=False)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """List what has gone; only ids when quiet."""
    said = "would move to the trash" if data["dryRun"] else "moved to the trash"
    for name in data["deleted"]:
        yield from [name] if view.quiet else view.block(f"{said}: {name}")
