"""Advisory locks that the kernel releases when a process dies (``flock``)."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openclaw_cli import ids
from openclaw_cli.clock import Clock
from openclaw_cli.errors import LockedError, StorageError
from openclaw_cli.store import fsio

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


def _try_lock(fd: int, path: Path) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            # Byte 1024 lies beyond the holder's text, which stays readable for those who wait.
            os.lseek(fd, 1024, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]  # Windows only
        else:
            import fcntl

            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
