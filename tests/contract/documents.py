"""Documents checked against the committed schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

from tests.contract.regenerate import FOLDER


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of a command's document, as memory.search."""
    schema = json.loads((FOLDER / f"{name}.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema, format_checker=FormatChecker())


def check(document: dict[str, Any], command: str | None = None) -> dict[str, Any]:
    """Return a document that its own schema accepts; it must be the one of ``command``."""
    name = document["schema"].removeprefix("openclaw.").partition("/")[0]
    assert command is None or name in (command.replace(" ", "."), "error"), document["schema"]
    found = [
        f"{'/'.join(map(str, problem.absolute_path))}: {problem.message}"
        for problem in _deepest(validator(name).iter_errors(document))
    ]
    assert not found, (found, document)
    return document


def _deepest(errors: Any) -> Any:
    """Yield what is wrong within the form that a document has, not that it has not the others."""
    for error in errors:
        if error.context:
            yield from _deepest(error.context)
        yield error
