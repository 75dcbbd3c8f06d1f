"""Advisory locks that the kernel releases when a process dies (``flock``)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from openclaw_cli import ids
from openclaw_cli.clock import Clock
from openclaw_cli.errors import LockedError, StorageError
from openclaw_cli.store import files, fsio

_PAUSE_SECONDS = 0.01


@contextmanager
def hold(path: Path, *, clock: Clock, timeout: float, holder: str) -> Iterator[None]:
    """Hold the exclusive lock of ``path``, waiting up to ``timeout`` seconds for it.

    Raises `LockedError` with the holder's pid and command when the time is over.
    """
    fd = _held(path, clock, timeout)
    try:
        fsio.describe_lock(fd, f"{ids.process_id()} {holder}".encode("utf-8", "replace")[:400])
        yield
    finally:
        os.close(fd)


class Seen(NamedTuple):
    """A lock as it was for a moment: whether somebody held it, and who wrote into its file last."""

    held: bool
    holder: str


def look(path: Path) -> Seen | None:
    """Tell whether a lock is held, without writing; None when nobody has ever taken it.

    Asking shares the lock for an instant, for which a process that does not wait may miss it.
    Raises ``ValueError`` when something else than a file stands there.
    """
    try:
        fd = files.open_regular(path)
    except FileNotFoundError:
        return None
    try:
        return Seen(not _try_lock(fd, path, shared=True), _holder(fd))
    finally:
        os.close(fd)


def claim(fd: int, path: Path) -> bool:
    """Take the lock of an open file, until it is closed, unless somebody else holds it.

    Raises `StorageError` where the file system takes no locks.
    """
    return _try_lock(fd, path)


def supported(folder: Path) -> bool:
    """Tell whether the file system of ``folder`` takes advisory locks, without writing."""
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _try_lock(fd, folder, shared=True)
    except StorageError:
        return False
    finally:
        os.close(fd)
    return True


def _held(path: Path, clock: Clock, timeout: float) -> int:
    """Return a descriptor of the lock file that stands at ``path`` when its lock is held.

    The folder of one that was waited for may have been moved away by who held it.
    """
    deadline = clock.monotonic() + timeout
    while True:
        fd = fsio.open_lock(path)
        try:
            _acquire(fd, path, clock, deadline)
            if os.path.lexists(path) and os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _acquire(fd: int, path: Path, clock: Clock, deadline: float) -> None:
    while not _try_lock(fd, path):
        if clock.monotonic() >= deadline:
            raise LockedError(
                f"{path} is held by {_holder(fd)}",
                path=str(path),
                hint="wait for it and try again, or give a longer --lock-timeout SECONDS",
            )
        clock.sleep(_PAUSE_SECONDS)


def _try_lock(fd: int, path: Path, *, shared: bool = False) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            # Byte 1024 lies beyond the holder's text, which stays readable for those who wait.
            os.lseek(fd, 1024, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows only
        else:
            import fcntl

            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        raise StorageError(
            f"cannot lock {path}: {error.strerror}",
            path=str(path),
            hint="keep the state directory on a local file system that supports locks",
        ) from error
    return True


def _holder(fd: int) -> str:
    pid, _, command = os.pread(fd, 400, 0).decode("utf-8", "replace").partition(" ")
    if not pid.isdigit():
        return "another process"
    return f"process {pid} ({command})" if command else f"process {pid}"
