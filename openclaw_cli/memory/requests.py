"""What the commands ask of a memory: plain values, cheap to import."""

from __future__ import annotations

from typing import NamedTuple

from openclaw_cli.memory.filters import Filters


class AddRequest(NamedTuple):
    """One statement to remember; ``embed`` False leaves its vector to the next index run."""

    text: str
    category: str = "event"
    scope: str | None = None
    user: str | None = None
    l1: str | None = None
    l2: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    id: str | None = None
    embed: bool = True
    allow_duplicate: bool = False


class ListRequest(NamedTuple):
    """Which records to list, newest (or best retained) first; ``limit`` None lists all."""

    filters: Filters = Filters()
    sort: str = "created"
    limit: int | None = 50


class SearchRequest(NamedTuple):
    """A search; None takes what the configuration says. ``level`` is how much text to return.

    ``touch`` records in every hit that it was recalled; else a search writes nothing.
    """

    query: str
    top_k: int | None = None
    mode: str | None = None
    fusion: str | None = None
    filters: Filters = Filters()
    explain: bool = False
    level: str = "l0"
    touch: bool = False


class IndexRequest(NamedTuple):
    """How to index: ``verify`` reads every file, ``rebuild`` starts from the records alone,
    ``reembed`` makes every vector anew, ``embed`` fills missing vectors, ``scan`` looks for changes
    made by hand (an automatic checkpoint does not)."""

    verify: bool = False
    rebuild: bool = False
    reembed: bool = False
    embed: bool = True
    scan: bool = True
