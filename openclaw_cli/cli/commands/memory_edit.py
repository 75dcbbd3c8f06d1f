"""``memory edit``: change what a memory says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id, NoEmbed
from openclaw_cli.cli.source import check_argument, check_optional
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

if TYPE_CHECKING:
    from openclaw_cli.memory.requests import EditRequest
    from openclaw_cli.memory.service import MemoryService

EXAMPLES = (
    'openclaw memory edit 5f3c9a1e --l0 "User is 33 years old"',
    "openclaw memory edit mem-001 --category preference --key editor --tag tools",
    "openclaw memory edit mem-001 --clear tags --json",
)
_NEVER_EMPTY = ("l0", "category")
EXITS = (
    errors.EXIT_NOT_FOUND,
    errors.EXIT_LOCKED,
    errors.EXIT_DAMAGED,
    errors.EXIT_UNAVAILABLE,
)


def command(
    ctx: typer.Context,
    record_id: Id,
    l0: Annotated[
        str | None, typer.Option("--l0", metavar="TEXT", help="The summary that is found.")
    ] = None,
    l1: Annotated[str | None, typer.Option("--l1", metavar="TEXT", help="The overview.")] = None,
    l2: Annotated[
        str | None, typer.Option("--l2", metavar="TEXT", help="The full original.")
    ] = None,
    category: Annotated[
        str | None, typer.Option("--category", metavar="CATEGORY", help="The category.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="The slot it fills.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="A tag in place of those it has (repeatable)."),
    ] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option("--clear", metavar="PART", help="Empty l1, l2, key or tags (repeatable)."),
    ] = None,
    no_embed: NoEmbed = False,
) -> Result:
    """Change what a memory says; what it said is kept.

    Without an option the memory is opened in $VISUAL or $EDITOR. A new L0 is added to an L2 that
    was the same statement, under its time; an L2 that is a longer original stays as it is.
    """
    from openclaw_cli.memory.requests import EditRequest

    invocation = current(ctx)
    request = EditRequest(
        record_id,
        l0=check_optional(l0, "--l0"),
        l1=check_optional(l1, "--l1"),
        l2=check_optional(l2, "--l2"),
        category=category,
        key=check_optional(key, "--key"),
        tags=None if tag is None else tuple(check_argument(word, "--tag") for word in tag),
        clear=tuple(clear or ()),
        embed=not no_embed,
    )
    service = invocation.memory(embeds=request.embed)
    if request == EditRequest(record_id, embed=request.embed):
        if not invocation.output.can_ask:
            raise errors.UsageError(
                "nothing to change is named, and there is no terminal for an editor",
                hint="give --l0, --l1, --l2, --category, --key, --tag or --clear",
            )
        request = _in_editor(invocation.editor, service, request)
    return service.edit(request)


def _in_editor(program: str, service: MemoryService, request: EditRequest) -> EditRequest:
    from openclaw_cli.cli.editor import draft_of, edited

    shown = service.history(request.id).data
    parts = edited(program, shown["id"], draft_of(shown["record"]))
    changed = {name: value for name, value in parts.items() if value or name in _NEVER_EMPTY}
    cleared = tuple(name for name in parts if name not in changed)
    return request._replace(id=shown["id"], **changed, clear=cleared)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say what the memory says now; only the id when quiet."""
    if view.quiet:
        yield data["id"]
        return
    yield from view.block(f"changed {data['id']} (memory undo takes it back):")
    yield from view.block(data["record"]["content"]["l0"], 2)
