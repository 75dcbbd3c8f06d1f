"""Where the text of a memory comes from: an argument, standard input or a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from openclaw_cli.cli.context import Invocation
from openclaw_cli.errors import InvalidTextError, StorageError, UsageError

#: How many bytes of a file or of standard input are read as one text.
TEXT_LIMIT = 64 << 20


def read_text(invocation: Invocation, argument: str | None, file: str | None) -> str:
    """Return the text of the argument, of standard input (``-``), or of ``file``.

    A byte order mark and one line end at the end are dropped. Raises `UsageError` unless exactly
    one source is given, `InvalidTextError` for more than 64 MiB or bytes that are not UTF-8.
    """
    if argument is not None and file is not None:
        raise UsageError("a text and --file exclude each other", hint="give the text in one way")
    if argument is None and file is None:
        raise UsageError("no text given", hint='give it as "TEXT", as - (standard input) or --file')
    if file is not None:
        try:
            with open_source(Path(file)) as stream:
                return _decode(_bounded(stream, file), file)
        except OSError as error:
            raise _unreadable(Path(file), error) from error
    if argument == "-":
        return _decode(_bounded(invocation.stdin(), "standard input"), "standard input")
    return check_argument(argument or "", "the text")


def open_source(path: Path) -> BinaryIO:
    """Open a file that the operator has named; raises `StorageError` where it cannot be read."""
    try:
        return path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"cannot read {path}: {error.strerror or error}",
        path=str(path),
        hint="check the name and the permissions",
    )


def _bounded(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(TEXT_LIMIT + 1)
    if len(data) > TEXT_LIMIT:
        raise InvalidTextError(
            f"{name}: the text has more than {TEXT_LIMIT >> 20} MiB",
            hint="a memory is a statement; memory import reads many from one file",
        )
    return data


def check_argument(text: str, name: str) -> str:
    """Return an argument that is valid Unicode, else raise `InvalidTextError`.

    In a locale other than UTF-8 the interpreter may not have understood valid bytes: they are read
    again.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _decode(os.fsencode(text), name)
    return text


def check_optional(text: str | None, name: str) -> str | None:
    """Return an argument that is valid Unicode or was not given."""
    return None if text is None else check_argument(text, name)


def _decode(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidTextError(
            f"{name}: byte {error.start} (0x{data[error.start]:02x}) is not UTF-8",
            hint="convert it first, for example with iconv -f GBK -t UTF-8",
        ) from error
    return text.removesuffix("\n").removesuffix("\r")
