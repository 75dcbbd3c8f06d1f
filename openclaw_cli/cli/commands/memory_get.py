"""``memory get``: show memories by id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Ids
from openclaw_cli.cli.view import View, clean_line, local_time
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory get 5f3c9a1e",
    "openclaw memory get mem-001 mem-002 --level l0 --json",
)
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)
#: A long text goes through the pager on a terminal.
PAGED = True
_LEVELS = ("l0", "l1", "l2")


def command(
    ctx: typer.Context,
    ids: Ids,
    level: Annotated[
        Literal["l0", "l1", "l2", "all"],
        typer.Option("--level", help="Summary, overview, full text, or all of them."),
    ] = "all",
) -> Result:
    """Show memories by id.

    An id may be given whole or by its last 8 or more characters, as tables show it.
    """
    result = current(ctx).memory().get(ids)
    if level == "all":
        return result
    items = [
        {**item, "content": {level: _levels(item).get(level)}} for item in result.data["items"]
    ]
    return result._replace(data={**result.data, "items": items})


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show each record as a block: what it is, then its texts; only ids when quiet."""
    for place, record in enumerate(data["items"]):
        record_id = clean_line(_said(record.get("id")))
        if view.quiet:
            yield record_id
            continue
        if place:
            yield ""
        yield view.style(record_id, "bold")
        yield from view.pairs(_facts(record))
        yield from _texts(_levels(record), view)


def _facts(record: dict[str, Any]) -> list[tuple[str, str]]:
    key, owner = _said(record.get("key")), _said(record.get("userId"))
    return [
        ("category", _said(record.get("category")) + (f" [{key}]" if key else "")),
        ("scope", _said(record.get("scope")) + (f" ({owner})" if owner else "")),
        ("language", _said(record.get("language"))),
        ("tags", _said(record.get("tags"))),
        ("created", local_time(record.get("createdAt"))),
        ("updated", local_time(record.get("updatedAt"))),
        ("vector", "pending" if record.get("embeddingPending") else ""),
    ]


def _said(value: object) -> str:
    """Return whatever a hand-written record may hold in place of a text."""
    if value is None or isinstance(value, str):
        return value or ""
    return ", ".join(map(_said, value)) if isinstance(value, list) else str(value)


def _levels(record: dict[str, Any]) -> dict[str, Any]:
    content = record.get("content")
    return content if isinstance(content, dict) else {"l0": content}


def _texts(content: dict[str, Any], view: View) -> Iterator[str]:
    told: set[str] = set()
    for level in _LEVELS:
        text = _said(content.get(level))
        if text and text not in told:
            told.add(text)
            yield view.style(f"{level}:", "dim")
            yield from view.block(text, 2)
