"""``memory history``: what a memory said before."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.options import Id
from openclaw_cli.cli.view import View, local_time
from openclaw_cli.memory.history import LATE
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw memory history 5f3c9a1e",
    "openclaw memory history mem-001 --json | jq -r '.data.entries[].content.l0'",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)
#: A long text goes through the pager on a terminal.
PAGED = True
_LEVELS = ("l0", "l1", "l2")


def command(
    ctx: typer.Context,
    record_id: Id,
) -> Result:
    """Show what a memory said before, oldest first.

    Each entry is what an edit, a merge, an import or an undo has replaced; memory undo ID --to N
    lets entry N stand again.
    """
    return current(ctx).memory().history(record_id)


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show each change as what it took away and what it put in place; numbers when quiet."""
    entries = data["entries"]
    if view.quiet:
        yield from (str(entry["n"]) for entry in entries)
        return
    if not entries:
        yield f"{data['id']} has always said this"
        return
    stood = [entry for entry in entries if entry.get("reason") != LATE]
    for entry in entries:
        later = next((held for held in stood if held["n"] > entry["n"]), data["record"])
        yield from _heading(entry, view)
        if entry.get("reason") == LATE:
            yield from _marked("  ", str(_state(entry).get("l0", "")), view, "dim")
        else:
            yield from _changes(_state(entry), _state(later), view)
    yield view.style("now", "bold")
    yield from _marked("  ", data["record"]["content"]["l0"], view, "")


def _heading(entry: dict[str, Any], view: View) -> Iterator[str]:
    said, replaced = local_time(entry.get("updatedAt")), local_time(entry.get("replacedAt"))
    times = " to ".join(filter(None, (said, replaced)))
    words = [(str(entry["n"]), "bold"), (times, ""), (str(entry.get("reason") or ""), "cyan")]
    yield from view.words([word for word in words if word[0]])


def _state(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what an entry, or the record itself, says, a text for each name."""
    content = entry.get("content")
    levels = content if isinstance(content, dict) else {"l0": content}
    state = {name: levels.get(name) or "" for name in _LEVELS}
    fields = {**entry, **(entry.get("fields") or {})}
    state |= {name: fields[name] for name in ("category", "key", "userId") if name in fields}
    state["tags"] = ", ".join(map(str, entry.get("tags") or []))
    return state


def _changes(before: dict[str, Any], after: dict[str, Any], view: View) -> Iterator[str]:
    for name, old in before.items():
        if name not in after or after[name] == old:
            continue
        old_lines = str(old or "").split("\n")
        new_lines = str(after[name] or "").split("\n")
        for tag, a, b, c, d in SequenceMatcher(None, old_lines, new_lines, False).get_opcodes():
            if tag == "equal":
                continue
            for line in filter(None, old_lines[a:b]):
                yield from _marked(f"- {name}: ", line, view, "red")
            for line in filter(None, new_lines[c:d]):
                yield from _marked(f"+ {name}: ", line, view, "cyan")


def _marked(mark: str, text: str, view: View, style: str) -> Iterator[str]:
    for place, line in enumerate(view.block(text, len(mark) + 2)):
        head = f"  {mark}" if place == 0 else " " * (len(mark) + 2)
        yield view.style(head + line.strip(), style) if style else head + line.strip()
