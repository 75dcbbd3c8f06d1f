"""What is wrong with a session, as ``session verify`` collects it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from openclaw_cli.paths import SessionFiles

#: Problems of one kind in one session that are listed; further ones are only counted.
_LISTED = 100


class Problem(NamedTuple):
    """Something wrong: its code, in words, where, and whether a repair can put it right.

    One that is not ``grave`` is worth knowing and breaks nothing.
    """

    code: str
    message: str
    path: str
    line: int | None = None
    repairable: bool = True
    grave: bool = True

    def document(self) -> dict[str, Any]:
        """Return the problem as it stands in a JSON document."""
        body = {"code": self.code, "message": self.message, "path": self.path}
        return body if self.line is None else {**body, "line": self.line}


@dataclass(slots=True)
class Findings:
    """What reading a whole session has shown; ``counters`` are those that its history gives."""

    files: SessionFiles
    problems: list[Problem] = field(default_factory=list)
    messages: int = 0
    counters: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, message: str, path: os.PathLike[str], **more: Any) -> None:
        """Note a problem; of very many of a kind the first are listed and the rest counted."""
        self.numbers[code] = self.numbers.get(code, 0) + 1
        if self.numbers[code] <= _LISTED:
            self.problems.append(Problem(code, message, os.fspath(path), **more))

    def count(self, code: str) -> int:
        """Return how many problems of a kind there are."""
        return self.numbers.get(code, 0)
