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


class EditRequest(NamedTuple):
    """What a record is to say from now on; None leaves a part as it is.

    ``tags`` replaces all tags; ``clear`` names parts to empty: l1, l2, key, tags. ``embed`` False
    leaves a new vector to the next index run.
    """

    id: str
    l0: str | None = None
    l1: str | None = None
    l2: str | None = None
    category: str | None = None
    key: str | None = None
    tags: tuple[str, ...] | None = None
    clear: tuple[str, ...] = ()
    embed: bool = True


class DeleteRequest(NamedTuple):
    """Which records to delete: those of ``ids``, those that pass ``filters``, or those that a dry
    run has listed in ``places`` (scope, id)."""

    ids: tuple[str, ...] = ()
    filters: Filters = Filters()
    dry_run: bool = False
    places: tuple[tuple[str, str], ...] = ()


class PurgeRequest(NamedTuple):
    """Whose data to forget; ``sessions`` includes the user's sessions and ledger lines, and
    ``group_messages`` what they said in sessions of others."""

    user: str
    sessions: bool = False
    group_messages: bool = False
    dry_run: bool = False


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
