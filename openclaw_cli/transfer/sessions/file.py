"""The file in which sessions travel: JSON Lines, a header first.

After the header, each session is a line with its metadata (and branch points, and its checkpoint),
a line for each message, and a line that says how many these were and what their digest is::

    {"kind":"openclaw.sessions","version":"2.0","agent":"main","sessions":1,"exportedAt":"..."}
    {"session":{"sessionId":"...",...},"branches":[...],"checkpoint":{...}}
    {"message":{"idx":0,"role":"user","content":"..."}}
    {"end":{"sessionId":"...","messages":1,"sha256":"..."}}
"""

from __future__ import annotations

import hashlib
from typing import Any

from openclaw_cli.errors import FormatTooOldError, UsageError
from openclaw_cli.transfer.versions import MAJOR, is_older

KIND = "openclaw.sessions"
VERSION = "2.0"
BEFORE_MESSAGE = b'{"message":'
AFTER_MESSAGE = b"}\n"


def check_header(value: Any, name: str) -> dict[str, Any]:
    """Return the header of a file.

    Raises `UsageError` for a file of another kind, and the version errors for another major
    version.
    """
    if not isinstance(value, dict) or value.get("kind") != KIND:
        kind = value.get("kind") if isinstance(value, dict) else None
        said = f"holds {str(kind)[:40]!r}" if kind else "begins with no header of sessions"
        raise UsageError(
            f"line 1 of {name}: the file {said}",
            path=name,
            hint="session import takes what session export writes; memories: memory import",
        )
    version = str(value.get("version"))
    hint = f"this program writes {VERSION}"
    if is_older(version, name, place=f"line 1 of {name}", hint=hint):
        raise FormatTooOldError(
            f"{name} has format version {version}, this program knows {MAJOR}.x",
            path=name,
            hint="export it again with a version of openclaw-cli that writes 2.x",
        )
    return value


class Tally:
    """Counts messages as they pass, and their digest."""

    def __init__(self) -> None:
        self.count = 0
        self._sha = hashlib.sha256()

    def add(self, raw: bytes) -> None:
        """Count one message, given its bytes without a line end."""
        self.count += 1
        self._sha.update(raw)
        self._sha.update(b"\n")

    @property
    def sha256(self) -> str:
        """The digest of the messages so far, a line each."""
        return self._sha.hexdigest()
