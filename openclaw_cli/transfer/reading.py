"""What kind of file is this, and which records does it hold?

Known are the export document (one JSON object with ``records``), a JSON array of records, and JSON
Lines with or without a header line, each of them packed with gzip or not. All are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from shlex import quote
from typing import Any, BinaryIO

from openclaw_cli.errors import FormatTooOldError, UsageError
from openclaw_cli.transfer.document import (
    LONGEST,
    NotADocument,
    Piece,
    Records,
    Window,
    records_of,
)
from openclaw_cli.transfer.kinds import opened
from openclaw_cli.transfer.values import decode
from openclaw_cli.transfer.versions import MAJOR, is_older

#: What the source is called that has no name.
STDIN = "standard input"
_LONGEST_LINE = LONGEST


def pieces(stream: BinaryIO, name: str) -> Iterator[Piece]:
    """Yield the records of a file.

    Raises `UsageError` for a file of another kind, and the version errors for an export of another
    major version, before anything is yielded.
    """
    start = stream.tell() if stream.seekable() else None
    window = Window(opened(stream, name))
    found = _records_of(window, name)
    if not isinstance(found, Records):
        return _of_lines(window.rest(), name, found)
    if "version" not in found.head and start is not None:
        # It may stand behind the records, and must be known before the first is taken.
        for _raw in found.raw():
            pass
        check_version(found.tail()[0].get("version"), name)
        stream.seek(start)
        found = _records_of(Window(opened(stream, name)), name)
        assert isinstance(found, Records)
    check_version(found.head.get("version"), name)
    return _first_checked(iter(found), name)


def _records_of(window: Window, name: str) -> Records | NotADocument:
    try:
        return records_of(window)
    except UsageError as error:
        raise UsageError(
            f"{name}: {error.message}", path=name, hint="an export has them as a list [...]"
        ) from error


def _of_lines(stream: BinaryIO, name: str, found: NotADocument) -> Iterator[Piece]:
    if found.spans_lines:
        raise UsageError(
            f"{name} is neither JSON Lines nor an export document: no records in it",
            path=name,
            hint='each line is a record or at least {"text":"..."}',
        )
    number = 1
    first = _read_line(stream, number, name)
    while first and not first.strip():
        number += 1
        first = _read_line(stream, number, name)
    value, problem = decode(first.rstrip())
    if isinstance(value, dict) and not _is_record(value) and "version" in value:
        check_version(value.get("version"), name)
        return _lines(stream, number, name)
    rest = _lines(stream, number, name)
    return _first_checked(chain([Piece(number, value, problem)], rest), name) if first else rest


def _first_checked(found: Iterator[Piece], name: str) -> Iterator[Piece]:
    """Refuse a file whole when its first record tells that it is of another major version."""
    first = next(found, None)
    if first is None:
        return found
    if isinstance(first.value, dict):
        with suppress(UsageError):  # nonsense is a fault of that record alone
            check_version(first.value.get("version"), name)
    return chain([first], found)


def check_version(version: object, name: str) -> None:
    """Raise unless ``version`` is of our major version; a missing one counts as ours."""
    if version is None:
        return
    hint = "a version is two numbers such as 2.0; correct it, or export it again"
    if is_older(str(version), name, place=name, hint=hint):
        raise FormatTooOldError(
            f"{name} has format version {version}",
            path=name,
            hint=_command(str(version), name),
        )


def _command(version: str, name: str) -> str:
    """Return the exact command that upgrades a file, quoted for a shell."""
    what = quote(f"./{name}" if name.startswith("-") else name)
    command = f"openclaw memory migrate --from {quote(version)} --to {MAJOR}.0"
    if name == STDIN:
        return f"save it as a file, run: {command} FILE, and import that file"
    return f"run: {command} {what}"


def _is_record(value: dict[str, Any]) -> bool:
    return "text" in value or "content" in value


def _lines(stream: BinaryIO, number: int, name: str) -> Iterator[Piece]:
    while line := _read_line(stream, number + 1, name):
        number += 1
        if line.strip():
            yield Piece(number, *decode(line.rstrip()))


def _read_line(stream: BinaryIO, number: int, name: str) -> bytes:
    line = stream.readline(_LONGEST_LINE)
    if len(line) == _LONGEST_LINE:
        raise _too_long(f"line {number} of {name}", _LONGEST_LINE, name)
    return line


def _too_long(what: str, limit: int, name: str) -> UsageError:
    return UsageError(
        f"{what} is longer than {limit >> 20} MiB",
        path=name,
        hint="import JSON Lines: one record a line, of any number",
    )
