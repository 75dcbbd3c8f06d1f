"""Versions of the formats in which memories and sessions travel."""

from __future__ import annotations

from openclaw_cli.errors import FormatTooNewError, UsageError

MAJOR = 2


def is_older(version: str, name: str, *, place: str, hint: str) -> bool:
    """Tell whether a file of that version is of an older format than ours.

    Raises `UsageError`, which says the ``place`` and gives the ``hint``, for what is no version,
    and `FormatTooNewError` for one of a newer format.
    """
    major = version.partition(".")[0]
    if not major.isdecimal() or len(major) > 9:
        raise UsageError(f"{place}: {version[:40]!r} is not a format version", path=name, hint=hint)
    if int(major) > MAJOR:
        raise FormatTooNewError(
            f"{name} has format version {version}, this program knows {MAJOR}.x",
            path=name,
            hint="update openclaw-cli, or export it again in the older format",
        )
    return int(major) < MAJOR
