"""``config schema``: what the configuration may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from openclaw_cli.cli.commands.config_get import show
from openclaw_cli.cli.view import View
from openclaw_cli.config_keys import KEYS
from openclaw_cli.result import Result

EXAMPLES = ("openclaw config schema", "openclaw config schema --json")
EXITS = ()


def command(_ctx: typer.Context) -> Result:
    """List what the configuration may hold.

    Keys that are not listed are left alone, because other programs may share the file.
    """
    items = [
        {
            "key": key.name,
            "type": key.kind,
            "default": key.default,
            "expected": key.expected,
            "environment": key.env,
            "doc": key.doc,
        }
        for key in KEYS.values()
    ]
    return Result("config.schema", {"items": items, "total": len(items)})


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show each key with what it takes, its default and its variable."""
    for item in data["items"]:
        yield view.style(item["key"], "bold")
        facts = f"{item['expected']}; default {show(item['default'])}"
        variable = f"; ${item['environment']}" if item["environment"] else ""
        yield from view.block(f"{item['doc']} ({facts}{variable})", 4)
