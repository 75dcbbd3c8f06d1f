"""What the commands that list have in common: --limit, --jsonl, and the line that tells of more."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence
from typing import Annotated, Any, Protocol, TypeVar

import typer

from openclaw_cli.cli.render import Stream
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result, Warning

_LIMIT = 50
_Request = TypeVar("_Request", contravariant=True)

Limit = Annotated[
    int | None,
    typer.Option(
        "--limit",
        metavar="N",
        min=0,
        help=f"At most so many, 0 for all [default: {_LIMIT}; all with --jsonl].",
    ),
]


class Lister(Protocol[_Request]):
    """A service that lists: whole, or one by one."""

    def list(self, request: _Request) -> Result:
        """Return what is asked for as one document."""

    def iter_list(
        self, request: _Request, warnings: MutableSequence[Warning]
    ) -> Iterator[dict[str, Any]]:
        """Yield what is asked for; ``warnings`` is added to on the way."""


def limit_of(limit: int | None, *, jsonl: bool) -> int | None:
    """Return how many to list at most, None for all."""
    if limit is None:
        return None if jsonl else _LIMIT
    return limit or None


def listed(
    service: Lister[_Request], request: _Request, limit: int | None, *, jsonl: bool
) -> Result | Stream:
    """Return the list as one document, or as a stream of lines."""
    if jsonl:
        warnings: list[Warning] = []
        return Stream(service.iter_list(request, warnings), warnings)
    result = service.list(request)
    return result._replace(data={**result.data, "limit": limit})


def more(data: dict[str, Any], view: View) -> Iterator[str]:
    """Yield a line that tells how many there are when not all are shown."""
    if data["limit"] is not None and data["total"] > data["limit"]:
        shown = f"{len(data['items'])} of {data['total']} (--limit 0 lists all)"
        yield view.style(shown, "dim")
