"""``memory delete``: delete memories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.confirm import confirm, require_answer
from openclaw_cli.cli.context import current
from openclaw_cli.cli.filters import build_filters
from openclaw_cli.cli.options import (
    Category,
    DryRun,
    Language,
    Scope,
    Since,
    Tag,
    Until,
    User,
    Yes,
)
from openclaw_cli.cli.view import View, counted, short_id
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory delete 5f3c9a1e --yes",
    "openclaw memory delete --category event --until 2024-01-01 --dry-run",
    "openclaw memory delete mem-001 mem-002 --yes --json",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED)
_SHOWN = 20
_FINAL = (
    "this cannot be undone: only an export made before brings it back, by"
    " memory import FILE --on-conflict overwrite"
)


def command(
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="Whole ids, or their last 8 characters."),
    ] = None,
    category: Category = None,
    scope: Scope = None,
    user: User = None,
    tag: Tag = None,
    language: Language = None,
    since: Since = None,
    until: Until = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Delete memories by id or by filter.

    No command finds them from then on, their files are gone at once, and the next memory index
    removes their last bytes from the index. This cannot be undone: only an export made before can
    bring them back. An import does not do so unless their text is another or --on-conflict
    overwrite is given. To forget a whole user, use memory purge.
    """
    from openclaw_cli.memory.requests import DeleteRequest

    invocation = current(ctx)
    filters = build_filters(
        invocation,
        category=category,
        scope=scope,
        user=user,
        tag=tag,
        language=language,
        period=(since, until),
    )
    request = DeleteRequest(tuple(ids or ()), filters, dry_run)
    require_answer(invocation, yes=yes, dry_run=dry_run)
    service = invocation.memory()
    if dry_run or yes:
        return service.delete(request)
    plan = service.delete(request._replace(dry_run=True))
    doomed = tuple((item["scope"], item["id"]) for item in plan.data["items"])
    if not doomed:
        return plan._replace(data={**plan.data, "dryRun": False})
    question = f"Delete {_memories(plan.data)} of agent {invocation.agent}?"
    view = invocation.output.view
    confirm(invocation, question, [*_table(plan.data["items"], view), *view.block(_FINAL)])
    result = service.delete(DeleteRequest(places=doomed))
    missing = [*plan.data["missing"], *result.data["missing"]]
    failed = [*plan.data["failed"], *result.data["failed"]]
    return result._replace(data={**result.data, "missing": missing, "failed": failed})


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say how many went; a dry run lists them; only ids when quiet."""
    if view.quiet:
        yield from data["deleted"]
    elif data["dryRun"]:
        yield from _table(data["items"], view)
        yield f"dry run: would delete {_memories(data)}"
    else:
        yield f"deleted {_memories(data)}"
        yield from view.block(_FINAL) if data["deleted"] else ()


def _memories(data: dict[str, Any]) -> str:
    return counted(len(data["deleted"]), "memory", "memories")


def _table(items: list[dict[str, Any]], view: View) -> Iterator[str]:
    shown = items if view.verbose else items[:_SHOWN]
    rows = [
        (
            short_id(item["id"]),
            item.get("category") or "damaged",
            item.get("userId") or item["scope"],
            item.get("l0") or "",
        )
        for item in shown
    ]
    if rows:
        yield from view.table(("ID", "CATEGORY", "OWNER", "TEXT"), rows)
    if len(items) > len(shown):
        yield f"and {len(items) - len(shown)} more (--verbose lists them)"
