"""What happens to a record when a newer statement comes: one function for each merge strategy.

Nothing that was said is lost by a merge: L2 grows by the new text under its time, and ``history``
keeps what was replaced, newest last, with the id of the statement that replaced it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from openclaw_cli.clock import format_time, from_millis
from openclaw_cli.memory.fsrs import restated
from openclaw_cli.memory.history import LATE, entry, further, with_past
from openclaw_cli.memory.levels import joined, summary_of
from openclaw_cli.store.records import Record, record_of
from openclaw_cli.text.normalize import normalized_text

_NO_LEVELS = {"l0": "", "l1": "", "l2": ""}


def merged(current: Record, newer: dict[str, Any]) -> dict[str, Any] | None:
    """Return the document of ``current`` after the statement ``newer`` (a record document).

    None when the strategy of the record's category lets every statement stand alone, or when it is
    unknown. An imported statement that is older than what it would replace joins the history
    instead; what an operator says now stands, however the clock goes.
    """
    strategy = _STRATEGIES.get(str(current.document.get("mergeStrategy")))
    if strategy is None:
        return None
    said = record_of(newer)
    if strategy is _replaced and _is_late(current, said):
        return _with_history(current, said, said.document, LATE)
    document = _with_history(current, said, current.document, _name_of(current))
    stability = current.stability or said.stability or 1.0
    state = current.document.get("fsrs") or newer["fsrs"]
    return {
        **document,
        **further(newer),
        "content": strategy(current, said),
        "tags": _all_tags(current, said),
        "updatedAt": _later(current, said),
        "fsrs": restated(state, stability, from_millis(said.updated)),
    }


def enriched(current: Record, newer: dict[str, Any]) -> dict[str, Any] | None:
    """Return ``current`` with what an exact repeat of it brings along: tags, an overview, a text.

    None when it brings nothing.
    """
    said = record_of(newer)
    tags = _all_tags(current, said)
    content = {**current.document["content"]} if _has_levels(current) else {"l0": current.l0}
    if said.l1 and not _contains(current.l1, said.l1):
        content["l1"] = "\n\n".join(filter(None, (current.l1, said.l1)))
    if not _contains(said.l0, said.l2) and not _contains(current.l2, said.l2):
        own = current.l2 if not _contains(current.l0, current.l2) else ""
        content["l2"] = joined(own, said.l2, from_millis(said.updated)) if own else said.l2
    if tags == list(current.tags) and content == current.document["content"]:
        return None
    document = _with_history(current, said, current.document, "repeated with more")
    return {**document, "content": content, "tags": tags, "updatedAt": _later(current, said)}


def holds(current: Record, said: Record) -> bool:
    """Tell whether ``said`` has been taken into ``current`` already, by its id or by its text."""
    history = current.document.get("history") or []
    if any(said.id in (held.get("by"), held.get("id")) for held in history):
        return True
    return _strategy(current) is _appended and _contains(current.l2, _whole(said))


def said_before(current: Record, said: Record) -> bool:
    """Tell whether a statement stands in the history of ``current`` already."""
    content = said.document["content"]
    return any(
        isinstance(held.get("content"), dict)
        and {**_NO_LEVELS, **held["content"]} == {**_NO_LEVELS, **content}
        for held in current.document.get("history") or []
    )


def superseding(current: Record, newer: dict[str, Any], reason: str) -> dict[str, Any]:
    """Return ``newer`` in the place of ``current``, which goes on in its history."""
    past = current.document.get("history") or []
    brought = [held for held in newer.get("history") or [] if held not in past]
    known = {**current.document, "history": [*past, *brought]}
    return with_past(known, newer, reason=reason, by=newer["id"])


def says_the_same(current: Record, newer: dict[str, Any], besides: Iterable[str] = ()) -> bool:
    """Tell whether ``newer`` would change of ``current`` nothing but history and ``besides``."""
    passing = ("history", "embeddingPending", "language", "contentHash", "agentId", *besides)
    fields = (current.document.keys() | newer.keys()) - set(passing)
    return all(current.document.get(name) == newer.get(name) for name in fields)


def _is_late(current: Record, said: Record) -> bool:
    source = said.document.get("source")
    is_imported = isinstance(source, dict) and source.get("kind") == "import"
    return is_imported and said.updated < current.updated


def _strategy(record: Record) -> Callable[[Record, Record], dict[str, Any]] | None:
    return _STRATEGIES.get(_name_of(record))


def _name_of(record: Record) -> str:
    return str(record.document.get("mergeStrategy"))


def _replaced(current: Record, said: Record) -> dict[str, Any]:
    full = joined(current.l2 or current.l0, said.l2 or said.l0, from_millis(said.updated))
    return {**said.document["content"], "l2": full}


def _appended(current: Record, said: Record) -> dict[str, Any]:
    full = joined(_whole(current), _whole(said), from_millis(said.updated))
    overview = "\n\n".join(filter(None, (current.l1, said.l1)))
    # L0 is the beginning of L2, so that the whole experience is found by any of its parts.
    return {"l0": summary_of(full), "l1": overview, "l2": full}


_STRATEGIES: dict[str, Callable[[Record, Record], dict[str, Any]]] = {
    "overwrite": _replaced,
    "latest-wins": _replaced,
    "append": _appended,
}


def _whole(record: Record) -> str:
    """Return all that a record says: L2, and L0 before it where L2 does not hold it."""
    if _contains(record.l2, record.l0):
        return record.l2
    return f"{record.l0}\n\n{record.l2}" if record.l2 else record.l0


def _contains(text: str, part: str) -> bool:
    return normalized_text(part) in normalized_text(text)


def _later(current: Record, said: Record) -> str:
    """Return the time of a merge: what is brought in late does not make a record older."""
    latest = current if _is_late(current, said) else said
    return format_time(from_millis(latest.updated))


def _all_tags(current: Record, said: Record) -> list[str]:
    return list(dict.fromkeys([*current.tags, *said.tags]))


def _has_levels(record: Record) -> bool:
    return isinstance(record.document.get("content"), dict)


def _with_history(
    current: Record, said: Record, kept: dict[str, Any], reason: str
) -> dict[str, Any]:
    held = entry(kept, at=said.document["updatedAt"], reason=reason, by=said.id)
    return {**current.document, "history": [*(current.document.get("history") or []), held]}
