"""The one tree of errors: each class carries a stable code, an exit status and a hint.

Core code raises these and nothing else on purpose; ``cli/app.py`` is the only place that
turns them into output and an exit status.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

EXIT_DONE = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_PARTIAL = 3
EXIT_NOT_FOUND = 10
EXIT_LOCKED = 11
EXIT_TOO_OLD = 12
EXIT_TOO_NEW = 13
EXIT_DAMAGED = 14
EXIT_UNAVAILABLE = 15
EXIT_INTERRUPTED = 130


class OpenclawError(Exception):
    """A failure that is told to the operator: what, where, and what to do next.

    ``code`` is the stable name used in JSON, ``exit_status`` the process status, ``hint`` the
    next step, ``path`` the file or directory concerned, ``details`` further fields of the error in
    JSON.
    """

    code: ClassVar[str] = "failed"
    exit_status: ClassVar[int] = EXIT_FAILED

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        path: str | None = None,
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path = path
        self.details = details or {}


class StorageError(OpenclawError):
    """The operating system refused a read or a durable write (full disk, permission, I/O)."""

    code = "storage"


class UsageError(OpenclawError):
    """The command line, a name or a value given by the operator is not acceptable."""

    code = "usage"
    exit_status = EXIT_USAGE


class InvalidNameError(UsageError):
    """An agent, session, record or branch id that may not become part of a path."""

    code = "invalid-name"


class InvalidTextError(UsageError):
    """A text that cannot be stored: empty, not UTF-8, or holding NUL or lone surrogates."""

    code = "invalid-text"


class ConfigError(UsageError):
    """The configuration file or an environment value has the wrong type or form."""

    code = "config"


class NotFoundError(OpenclawError):
    """No such agent, record or session."""

    code = "not-found"
    exit_status = EXIT_NOT_FOUND


class AmbiguousIdError(UsageError):
    """A shortened id that fits more than one record or session."""

    code = "ambiguous-id"


class ExistsError(UsageError):
    """Something of that id is there already, and stays as it is."""

    code = "exists"


class TransitionError(UsageError):
    """A change of status or run state that its table does not allow; nothing was changed."""

    code = "forbidden-transition"


class LockedError(OpenclawError):
    """Another process holds the lock and the waiting time is over."""

    code = "locked"
    exit_status = EXIT_LOCKED


class FormatTooOldError(OpenclawError):
    """A document of an older major version: ``memory migrate`` upgrades it."""

    code = "format-too-old"
    exit_status = EXIT_TOO_OLD


class FormatTooNewError(OpenclawError):
    """A document of a newer major version than this program knows."""

    code = "format-too-new"
    exit_status = EXIT_TOO_NEW


class DamagedError(OpenclawError):
    """A file that exists but cannot be understood; nothing was changed."""

    code = "damaged"
    exit_status = EXIT_DAMAGED


class DeclinedError(OpenclawError):
    """The operator was asked and did not agree; nothing was changed."""

    code = "declined"


class EditorError(OpenclawError):
    """The operator's editor failed, or left what cannot be read; ``path`` keeps the text."""

    code = "editor"


class NotForgottenError(OpenclawError):
    """Traces of purged ids or texts are left below the state directory."""

    code = "not-forgotten"


class UnavailableError(OpenclawError):
    """A model, an extra or a service that the command needs is missing or unreachable."""

    code = "unavailable"
    exit_status = EXIT_UNAVAILABLE
