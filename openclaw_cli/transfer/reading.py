"""What kind of file is this, and which records does it hold?

Known are the export document (one JSON object with ``records``), a JSON array of records, and JSON
Lines with or without a header line. JSON Lines are streamed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from openclaw_cli.errors import FormatTooNewError, FormatTooOldError, UsageError
from openclaw_cli.store.jsonl import decode

_BOM = b"\xef\xbb\xbf"
_FOREIGN = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"SQLite format 3", "an SQLite database"),
    (b"%PDF", "a PDF document"),
    (b"<", "HTML or XML"),
)
MAJOR = 2
# Lines are read one by one; a single document has to fit into memory.
_LONGEST_LINE = 64 << 20
_LONGEST_DOCUMENT = 1 << 30


class Piece(NamedTuple):
    """One record of a file: its line (or its place in the document, from 1), value or problem."""

    number: int
    value: Any
    problem: str | None = None


def pieces(stream: BinaryIO, name: str) -> Iterator[Piece]:
    """Yield the records of a file.

    Raises `UsageError` for a file of another kind, and the version errors for an export of another
    major version, before anything is yielded.
    """
    first = _read_line(stream, 1, name)
    number = 1
    while first and not first.removeprefix(_BOM).strip():
        number += 1
        first = _read_line(stream, number, name)
    first = first.removeprefix(_BOM)
    _refuse_foreign(first, name)
    value, problem = decode(first.rstrip())
    if isinstance(value, dict) and "records" in value:
        return _document(value, name)
    if isinstance(value, list) or (problem is not None and _opens_document(first)):
        whole, whole_problem = decode(first + _read_rest(stream, name))
        if isinstance(whole, list) or (isinstance(whole, dict) and "records" in whole):
            return _document(whole, name)
        raise UsageError(
            f"{name} is neither JSON Lines nor an export document: "
            + (whole_problem or problem or "no records in it"),
            path=name,
            hint='each line is a record or at least {"text":"..."}',
        )
    if isinstance(value, dict) and not _is_record(value) and "version" in value:
        check_version(value.get("version"), name)
        return _lines(stream, number, name)
    rest = _lines(stream, number, name)
    return chain([Piece(number, value, problem)], rest) if first else rest


def check_version(version: object, name: str) -> None:
    """Raise unless ``version`` is of our major version; a missing one counts as ours."""
    if version is None:
        return
    major, _, _rest = str(version).partition(".")
    if not major.isdecimal() or len(major) > 9:
        raise UsageError(f"{name}: {str(version)[:40]!r} is not a format version", path=name)
    if int(major) > MAJOR:
        raise FormatTooNewError(
            f"{name} has format version {version}, this program knows {MAJOR}.x",
            path=name,
            hint="update openclaw-cli, or export it again in the older format",
        )
    if int(major) < MAJOR:
        raise FormatTooOldError(
            f"{name} has format version {version}",
            path=name,
            hint=f"run: openclaw memory migrate --from {version} --to {MAJOR}.0 {name}",
        )


def _refuse_foreign(first: bytes, name: str) -> None:
    for magic, kind in _FOREIGN:
        if first.startswith(magic):
            raise UsageError(
                f"{name} is {kind}, not JSON",
                path=name,
                hint='import takes an export document or JSON Lines such as {"text":"..."}',
            )


def _opens_document(first: bytes) -> bool:
    text = first.strip()
    return text in (b"{", b"[") or text.startswith((b'{"records"', b'{ "records"'))


def _is_record(value: dict[str, Any]) -> bool:
    return "text" in value or "content" in value


def _document(value: Any, name: str) -> Iterator[Piece]:
    records = value
    if isinstance(value, dict):
        check_version(value.get("version"), name)
        records = value["records"]
        if not isinstance(records, list):
            raise UsageError(f"{name}: records is not a list", path=name)
    return (Piece(number, record) for number, record in enumerate(records, 1))


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


def _read_rest(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(_LONGEST_DOCUMENT)
    if len(data) == _LONGEST_DOCUMENT:
        raise _too_long(name, _LONGEST_DOCUMENT, name)
    return data


def _too_long(what: str, limit: int, name: str) -> UsageError:
    return UsageError(
        f"{what} is longer than {limit >> 20} MiB",
        path=name,
        hint="import JSON Lines: one record a line, of any number",
    )
