"""Write the committed JSON Schemas anew: ``python -m tests.contract.regenerate`` (make schemas)."""

from __future__ import annotations

import json
from pathlib import Path

from openclaw_cli.cli.contract.jsonschema import all_schemas

FOLDER = Path(__file__).parents[2] / "openclaw_cli" / "cli" / "schemas"


def expected() -> dict[str, str]:
    """Return the text of every schema by the name of its file."""
    return {
        f"{name}.json": json.dumps(schema, ensure_ascii=False, indent=2) + "\n"
        for name, schema in all_schemas()
    }


def main() -> None:
    wanted = expected()
    for old in FOLDER.glob("*.json"):
        if old.name not in wanted:
            old.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
