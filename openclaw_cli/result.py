"""What every command hands to the one renderer: data, warnings, and whether some items failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from openclaw_cli.errors import EXIT_DONE, EXIT_PARTIAL

#: Called as ``progress(stage, done, total)``; ``total`` is None while it is unknown.
Progress = Callable[[str, int, int | None], None]

#: Of warnings that are all alike so many are told one by one, and the others counted.
MOST_WARNINGS = 20


def no_progress(_stage: str, _done: int, _total: int | None) -> None:
    """Swallow progress: the default of everything that can report it."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: 1 memory, 2 memories."""
    return f"{count} {one if count == 1 else many or one + 's'}"


class Warning(NamedTuple):
    """Something the operator should know although the command succeeded."""

    code: str
    message: str
    path: str | None = None

    def document(self) -> dict[str, str]:
        """Return the warning as it stands in a JSON document."""
        body = {"code": self.code, "message": self.message}
        return body if self.path is None else {**body, "path": self.path}


def told_once(warnings: Iterable[Warning]) -> list[Warning]:
    """Return the warnings without those that have been said before."""
    return list(dict.fromkeys(warnings))


class Result(NamedTuple):
    """The outcome of a command.

    ``kind`` names the document (``memory.search``), ``version`` its contract number, ``data`` is
    the JSON-ready payload. A result whose ``data["failed"]`` is not empty ends with exit status 3,
    unless it brings a ``status`` of its own.
    """

    kind: str
    data: dict[str, Any]
    warnings: tuple[Warning, ...] = ()
    version: int = 1
    status: int | None = None

    @property
    def exit_status(self) -> int:
        """Return the status of its own, else 3 when some items failed, else 0."""
        if self.status is not None:
            return self.status
        return EXIT_PARTIAL if self.data.get("failed") else EXIT_DONE

    def document(self) -> dict[str, Any]:
        """Return the versioned envelope that ``--json`` prints."""
        return {
            "schema": f"openclaw.{self.kind}/{self.version}",
            "ok": True,
            "data": self.data,
            "warnings": [warning.document() for warning in told_once(self.warnings)],
        }
