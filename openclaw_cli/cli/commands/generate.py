"""``generate``: write completions and manual pages from the command tree; not listed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from openclaw_cli.cli.view import View, counted
from openclaw_cli.result import Result

EXAMPLES = ("openclaw generate .", "openclaw generate /tmp/openclaw --json")
EXITS = ()


def command(
    _ctx: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Where completions/ and man/ go.")],
) -> Result:
    """Write completions and manual pages from the command tree.

    The same program writes the same bytes. A manual page of a command that is gone is removed.
    """
    from openclaw_cli.cli.generate.files import everything
    from openclaw_cli.store import fsio

    top, wanted = Path(folder), everything()
    for name, text in wanted.items():
        fsio.make_folder((top / name).parent)
        fsio.write_file(top / name, text.encode())
    stale = [
        path for path in top.glob("man/man*/openclaw*") if str(path.relative_to(top)) not in wanted
    ]
    for path in stale:
        fsio.remove(path)
    return Result("generate", {"written": list(wanted), "removed": list(map(str, stale))})


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Say how many files there are now."""
    if not view.quiet:
        yield f"wrote {counted(len(data['written']), 'file')}"
    yield from (f"removed {path}" for path in data["removed"])
