"""The durable steps themselves, one operating-system call each; only ``fsio`` takes them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700


class Disk:
    """What a crash can fall between; a test puts one in its place that stops at the n-th."""

    def create(self, path: str | Path, flags: int) -> int:
        """Open ``path`` for writing, making it when it is missing; return its descriptor."""
        return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)

    def mkdir(self, path: Path) -> None:
        """Make a folder."""
        os.mkdir(path, FOLDER_MODE)

    def rmdir(self, path: Path) -> None:
        """Remove an empty folder."""
        os.rmdir(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write a prefix of ``data`` and return its length."""
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        """Force what was written to ``fd`` onto the medium."""
        if sys.platform == "darwin":
            import fcntl

            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        else:
            os.fsync(fd)

    def sync_all(self, folder: Path) -> bool:
        """Force all that is dirty on the file system of ``folder`` onto the medium, at once.

        Return False, having done nothing, where that would not report an error: outside Linux, and
        before Linux 5.8.
        """
        if sys.platform != "linux" or not _reports_errors(os.uname().release):
            return False
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if library.syncfs(fd) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number))
        finally:
            os.close(fd)
        return True

    def rename(self, source: str | Path, target: str | Path) -> None:
        """Replace ``target`` by ``source`` atomically."""
        os.replace(source, target)

    def link(self, source: Path, target: Path) -> None:
        """Give ``source`` the further name ``target``, which must be free."""
        os.link(source, target)

    def unlink(self, path: str | Path) -> None:
        """Remove a file or a symbolic link."""
        os.unlink(path)

    def symlink(self, target: str, link: Path) -> None:
        """Make a symbolic link."""
        os.symlink(target, link)

    def truncate(self, fd: int, length: int) -> None:
        """Cut the open file to ``length`` bytes."""
        os.ftruncate(fd, length)


def _reports_errors(release: str) -> bool:
    major, _, rest = release.partition(".")
    minor = rest.partition(".")[0]
    return major.isdigit() and minor.isdigit() and (int(major), int(minor)) >= (5, 8)
