"""Files under a name that matters: whole and synced there, or not there at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from types import TracebackType

from openclaw_cli.errors import StorageError, UsageError
from openclaw_cli.store import files, fsio, locks
from openclaw_cli.store.newfile import NewFile

# What a file system without hard links answers.
_NO_HARD_LINKS = (*fsio.NO_LINKS, errno.EMLINK, errno.EXDEV)


class SavedFile(NewFile):
    """Written beside its place, 0600, and put there on leaving.

    What stands there already is replaced only with ``replace``, and only when it is a regular file:
    never what a symbolic link leads to, never a device. After a failure nothing is left, and what a
    killed process has left of the same file is removed: until it has its name, one that is being
    written is locked.
    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        super().__init__(fsio.temp_name(path))
        self.target = path
        self._replace = replace

    def __enter__(self) -> SavedFile:
        self._check()
        _sweep(self.target)
        super().__enter__()
        while not _claimed(self._fd, self.path):
            os.close(self._fd)
            fsio.discard(self.path)
            self.path = fsio.temp_name(self.target)
            super().__enter__()
        self._claim = os.dup(self._fd)
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
                publish(self.path, self.target, replace=self._replace)
        except BaseException:
            fsio.discard(self.path)
            raise
        finally:
            os.close(self._claim)
        if kind is not None:
            fsio.discard(self.path)


def _claimed(fd: int, temp: Path) -> bool:
    """Lock a new temporary file; False when it was taken for a leftover before that."""
    try:
        return locks.claim(fd, temp) and os.path.lexists(temp)
    except StorageError:
        return True  # without locks nothing is swept


def _sweep(target: Path) -> None:
    """Remove what killed processes have left of this very file, as far as that can be told."""
    pattern = re.compile(re.escape(f".{target.name}{fsio.TEMP_MARK}") + "[0-9a-f]{12}")
    try:
        left = [name for name in os.listdir(target.parent) if pattern.fullmatch(name)]
    except OSError:
        return
    for temp in [target.parent / name for name in left]:
        try:
            fd = files.open_regular(temp)
        except (OSError, ValueError):
            continue
        try:
            if locks.claim(fd, temp):
                fsio.discard(temp)
        except StorageError:
            return
        finally:
            os.close(fd)


def publish(temp: Path, target: Path, *, replace: bool) -> None:
    """Give a synced temporary file its name, durably; without ``replace`` that must be free."""
    with fsio.reporting("write", target):
        if replace or not _link(temp, target):
            fsio.disk.rename(temp, target)
        else:
            fsio.discard(temp)
    fsio.sync_folder(target.parent)


def _link(temp: Path, target: Path) -> bool:
    """Link instead of renaming, which fails where another process has taken the name meanwhile."""
    try:
        fsio.disk.link(temp, target)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        return False
    return True


def restore(source: Path, target: Path) -> None:
    """Put the synced file ``source`` in the place of ``target`` as well, in one step.

    Its content is durable already; the folder of ``target`` is left to the caller to sync.
    """
    temp = fsio.temp_name(target)
    with fsio.reporting("restore", target):
        if not _link(source, temp):
            fsio.write_file(target, source.read_bytes())
            return
        try:
            fsio.disk.rename(temp, target)
        except BaseException:
            fsio.discard(temp)
            raise
