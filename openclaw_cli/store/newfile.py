"""A new file, written piece by piece: one with length and digest, or one for passing use."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from openclaw_cli.store import fsio


class NewFile:
    """A new file written in one go, synced on leaving; counts its bytes and their SHA-256."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.target = path
        self.length = 0
        self._hash = sha256()
        self._pending: list[bytes] = []
        self._waiting = 0
        self._fd = -1

    def __enter__(self) -> NewFile:
        with fsio.reporting("write", self.target):
            self._fd = fsio.create(self.path)
        return self

    def write(self, data: bytes) -> None:
        """Append ``data``; small pieces are gathered to a megabyte."""
        self._pending.append(data)
        self._waiting += len(data)
        if self._waiting >= 1 << 20:
            self._flush()

    def _flush(self) -> None:
        block = b"".join(self._pending)
        self._pending.clear()
        self._waiting = 0
        self._hash.update(block)
        self.length += len(block)
        with fsio.reporting("write", self.target):
            fsio.write_all(self._fd, block)

    @property
    def sha256(self) -> str:
        """The digest of what has been written; complete after leaving."""
        return self._hash.hexdigest()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        _value: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._flush()
                with fsio.reporting("sync", self.target):
                    fsio.disk.fsync(self._fd)
        finally:
            os.close(self._fd)


def scratch(path: Path, chunks: Iterable[bytes]) -> BinaryIO:
    """Write ``chunks`` to a file without a name, which is gone with the process, and open it.

    ``path`` is where it stands while it is written; nothing is synced.
    """
    with fsio.reporting("write", path):
        fd = fsio.create(path)
        try:
            for chunk in chunks:
                fsio.write_all(fd, chunk)
            source = os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC), "rb")
        except BaseException:
            fsio.discard(path)
            raise
        finally:
            os.close(fd)
    fsio.remove(path, durable=False)
    return source
