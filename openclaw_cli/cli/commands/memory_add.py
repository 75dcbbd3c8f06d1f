"""``memory add``: store one memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import NoEmbed, ScopeName, TextFile
from openclaw_cli.cli.source import check_argument, check_optional, read_text
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result

EXAMPLES = (
    'openclaw memory add "User prefers TypeScript to Java" --category preference',
    "openclaw memory add --category lesson --file notes.txt",
    "tail -n 5 notes.txt | openclaw memory add - --tag notes --json",
)
_KINDS = "One of profile, preference, event, lesson, pattern, case, insight."
EXITS = (errors.EXIT_LOCKED, errors.EXIT_DAMAGED, errors.EXIT_UNAVAILABLE)


def command(
    ctx: typer.Context,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The text; - reads standard input.")
    ] = None,
    file: TextFile = None,
    category: Annotated[str, typer.Option("--category", metavar="CATEGORY", help=_KINDS)] = "event",
    scope: Annotated[ScopeName | None, typer.Option("--scope", help="Whose memory it is.")] = None,
    user: Annotated[
        str | None, typer.Option("--user", metavar="USER", help="The user it is about.")
    ] = None,
    l1: Annotated[
        str | None, typer.Option("--l1", metavar="TEXT", help="An overview to keep with it.")
    ] = None,
    l2: Annotated[
        str | None,
        typer.Option("--l2", metavar="TEXT", help="The full original [default: the text]."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The slot it fills: one value at a time."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag (repeatable).")
    ] = None,
    record_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The id, instead of a new one.")
    ] = None,
    no_embed: NoEmbed = False,
    allow_duplicate: Annotated[
        bool, typer.Option("--allow-duplicate", help="Store it even if the same text is there.")
    ] = False,
) -> Result:
    """Store one memory.

    It is on disk and can be found when the command returns. The same text again is skipped, and
    a memory that fills the slot of an older one is merged into it; what it replaces is kept.

    The text is what is found (L0, cut to its beginning when long); --l1 and --l2 are shown by get
    and search --level, and are not found, unless L2 begins with L0: then all of L2 is.
    """
    from openclaw_cli.memory.requests import AddRequest

    invocation = current(ctx)
    request = AddRequest(
        text=read_text(invocation, text, file),
        category=category,
        scope=scope,
        user=check_optional(user, "--user"),
        l1=check_optional(l1, "--l1"),
        l2=check_optional(l2, "--l2"),
        key=check_optional(key, "--key"),
        tags=tuple(check_argument(word, "--tag") for word in tag or ()),
        id=record_id,
        embed=not no_embed,
        allow_duplicate=allow_duplicate,
    )
    return invocation.memory(embeds=request.embed).add(request)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say what became of the text; only the id when quiet."""
    if view.quiet:
        yield data["id"]
    elif data["action"] == "skipped":
        yield f"skipped: same text as {data.get('duplicateOf') or data['id']}"
    elif data["action"] == "merged":
        yield f"merged into {data['id']} ({data['record'].get('category') or 'event'})"
    else:
        yield f"added {data['id']} ({data['record'].get('category') or 'event'})"
    if data["l0Cut"] and not view.quiet:
        yield "  the summary (L0) is the beginning of the text; all of it is kept (L2) and found"
