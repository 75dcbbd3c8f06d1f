"""A file that an operator has named: whole and synced under its name, or not there at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType

from openclaw_cli.errors import UsageError
from openclaw_cli.store import fsio


class SavedFile(fsio.NewFile):
    """Written beside its place, 0600, and put there on leaving.

    What stands there already is replaced only with ``replace``, and only when it is a regular file:
    never what a symbolic link leads to, never a device. After a failure nothing is left.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        super().__init__(fsio.temp_name(path))
        self.target = path
        self._replace = replace

    def __enter__(self) -> SavedFile:
        self._check()
        super().__enter__()
        return self

    def _check(self) -> None:
        if not os.path.lexists(self.target):
            return
        if not stat.S_ISREG(os.lstat(self.target).st_mode):
            raise UsageError(
                f"{self.target} is not a regular file",
                path=str(self.target),
                hint="name a file that is to be written, or leave the name out for standard output",
            )
        if not self._replace:
            raise UsageError(
                f"{self.target} is there already",
                path=str(self.target),
                hint="choose another name, or give --force to replace it",
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, value, trace)
            if kind is None:
                self._check()
                fsio.publish(self.path, self.target, replace=self._replace)
        except BaseException:
            fsio.discard(self.path)
            raise
        if kind is not None:
            fsio.discard(self.path)
