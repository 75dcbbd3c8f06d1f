"""An export on its way into the file that the operator has named."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from openclaw_cli.errors import UsageError
from openclaw_cli.result import Result
from openclaw_cli.store.savedfile import SavedFile

#: The ending of a file's name that has it packed.
GZIP = ".gz"
# A gzip stream without a name and a time: the same content gives the same bytes.
_WINDOW = 31


class Written(Protocol):
    """What can be looked over, then written in pieces, and then tells what it was."""

    def check(self) -> None:
        """Look over what is to be written; raises before anything is."""

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes."""

    def result(self) -> Result:
        """Return counts, failures and warnings, once all pieces have been taken."""


def save(export: Written, path: Path | None, *, force: bool) -> Result:
    """Write an export into a file that appears whole or not at all, packed if its name ends so.

    Raises `UsageError` where something stands under that name and may not be replaced.
    """
    if path is None:
        raise UsageError("no file named", hint="name one, or write to standard output")
    export.check()
    with SavedFile(path, replace=force) as file:
        packer = zlib.compressobj(wbits=_WINDOW) if path.name.endswith(GZIP) else None
        for piece in export.pieces():
            file.write(piece if packer is None else packer.compress(piece))
        if packer is not None:
            file.write(packer.flush())
    result = export.result()
    written = {"path": str(path), "bytes": file.length, "sha256": file.sha256}
    return result._replace(data={**written, **result.data})
