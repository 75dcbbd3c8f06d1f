"""Where the text of a memory comes from: an argument, standard input or a file."""

from __future__ import annotations

import os
from pathlib import Path

from openclaw_cli.cli.context import Invocation
from openclaw_cli.errors import InvalidTextError, StorageError, UsageError


def read_text(invocation: Invocation, argument: str | None, file: Path | None) -> str:
    """Return the text of the argument, of standard input (``-``), or of ``file``.

    A byte order mark and one line end at the end are dropped. Raises `UsageError` unless exactly
    one source is given, `InvalidTextError` for bytes that are not UTF-8.
    """
    if argument is not None and file is not None:
        raise UsageError("a text and --file exclude each other")
    if argument is None and file is None:
        raise UsageError("no text given", hint='give it as "TEXT", as - (standard input) or --file')
    if file is not None:
        try:
            return _decode(file.read_bytes(), str(file))
        except OSError as error:
            raise StorageError(
                f"cannot read {file}: {error.strerror or error}",
                path=str(file),
                hint="check the name and the permissions",
            ) from error
    if argument == "-":
        return _decode(invocation.stdin().read(), "standard input")
    return check_argument(argument or "", "the text")


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
