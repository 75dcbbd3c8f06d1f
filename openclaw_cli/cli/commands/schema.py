"""``schema``: what the JSON of a command holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from openclaw_cli.cli import registry
from openclaw_cli.cli.render import Raw
from openclaw_cli.cli.view import View
from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result

EXAMPLES = (
    "openclaw schema",
    "openclaw schema memory search",
    "openclaw schema session.list > session.list.schema.json",
)
EXITS = ()
#: The document of a failure before it is known which command is meant.
NO_COMMAND = "error"
_FOLDER = Path(__file__).parent.parent / "schemas"

#: Cells of the longest line of the list.
_WIDEST = max(len(path) for path in registry.COMMANDS) * 2 + len("  openclaw./1")


def command(
    _ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND]", help="As memory search, or memory.search."),
    ] = None,
) -> Result | Raw:
    """Print the JSON Schema of what a command prints with --json.

    Without a command the documents are listed. Schemas follow draft 2020-12 and fit every outcome
    of a command. Further fields may join a document; one that changed or went would raise the
    number behind its name.
    """
    if not words:
        items = [
            {"command": path, "schema": f"openclaw.{path.replace(' ', '.')}/1"}
            for path in registry.COMMANDS
        ]
        return Result("schema", {"items": items, "total": len(items)})
    name = _named(words)
    data = (_FOLDER / f"{name}.json").read_bytes()
    return Raw(iter((data,)), lambda: Result("schema", {"command": name}))


def _named(words: list[str]) -> str:
    """Return the name of a document: memory.search for any way to write it."""
    given = ".".join(" ".join(words).replace(".", " ").split())
    name = given.removeprefix("openclaw.").partition("/")[0]
    group = name.partition(".")[0]
    name = name.replace(group, registry.ALIASES.get(group, group), 1)
    known = [path.replace(" ", ".") for path in registry.COMMANDS] + [NO_COMMAND]
    if name in known:
        return name
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    raise UsageError(
        f"no such command: {' '.join(words)}",
        hint=f"did you mean {near[0]}?" if near else "openclaw schema lists them",
    )


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show the documents by command; only the commands when quiet."""
    rows = [(item["command"], item["schema"]) for item in data["items"]]
    if view.quiet:
        yield from (command for command, _schema in rows)
    elif view.width is not None and view.width < _WIDEST:
        for command, schema in rows:  # names are whole, or of no use
            yield from (command, f"  {schema}")
    else:
        yield from view.table(("COMMAND", "SCHEMA"), rows)
