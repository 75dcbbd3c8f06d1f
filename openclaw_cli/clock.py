"""The only module that reads the clock; times are aware UTC datetimes everywhere else."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from openclaw_cli.errors import UsageError

_SPAN = re.compile(r"(\d{1,6})\s*([smhdw])", re.ASCII)
_SPAN_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Clock(NamedTuple):
    """Tells the present; ``fixed`` replaces it (``--now``, tests)."""

    fixed: datetime | None = None

    def now(self) -> datetime:
        """Return the present in UTC."""
        return self.fixed or datetime.now(UTC)

    def wall_ns(self) -> int:
        """Return the real wall clock in nanoseconds, comparable with a file's mtime."""
        return time.time_ns()

    def monotonic(self) -> float:
        """Return seconds from an arbitrary start, for durations and deadlines."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``."""
        time.sleep(seconds)


@lru_cache(maxsize=256)
def format_time(moment: datetime) -> str:
    """Return ISO-8601 UTC with ``Z``, milliseconds only where there are any."""
    moment = moment.astimezone(UTC)
    spec = "milliseconds" if moment.microsecond >= 1000 else "seconds"
    return moment.replace(tzinfo=None).isoformat(timespec=spec) + "Z"


def format_stamp(moment: datetime) -> str:
    """Return a moment to the second, in UTC, as it stands in names of files: of one width, so that
    names sort by time in every year (``strftime`` pads no year below 1000)."""
    moment = moment.astimezone(UTC)
    return f"{moment.year:04}{moment:%m%dT%H%M%SZ}"


def parse_stamp(text: str) -> datetime:
    """Return the moment of a `format_stamp`, also of one whose year was not padded.

    Raises ``ValueError`` for anything else.
    """
    return datetime.strptime(text.zfill(len("00010101T000000Z")), "%Y%m%dT%H%M%SZ").replace(
        tzinfo=UTC
    )


def parse_time(text: str) -> datetime:
    """Return the moment that an ISO-8601 text with a zone names, in UTC.

    Raises ``ValueError`` for anything else; a time without a zone is refused because it names no
    moment.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("the time has no zone (write Z or +hh:mm)")
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("the time is out of range") from error


# The fields of one record, and those of one import, often hold the same time.
@lru_cache(maxsize=256)
def parse_foreign_time(text: str) -> tuple[datetime, bool]:
    """Return the moment of a time written by another tool, and whether its zone had to be assumed.

    A time without a zone is taken as UTC, so that an import gives the same on every machine.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC), True
    return parse_time(text), False


def parse_when(text: str, now: datetime, *, option: str) -> datetime:
    """Return the moment an operator means: ISO-8601, a date, or a span back from ``now``.

    Dates and times without a zone are local time. Raises `UsageError` naming ``option``.
    """
    span = _SPAN.fullmatch(text.strip())
    try:
        if span:
            return now - timedelta(seconds=int(span[1]) * _SPAN_SECONDS[span[2]])
        moment = datetime.fromisoformat(text.strip())
        # A naive value is the operator's local time; astimezone() on a naive datetime means that.
        return moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise UsageError(
            f"{option}: {text!r} is not a time",
            hint="write 2026-02-20, 2026-02-20T10:00:00Z, or a span such as 7d, 12h, 30m",
        ) from error


def to_millis(moment: datetime) -> int:
    """Return whole milliseconds since 1970-01-01 UTC."""
    return (moment - _EPOCH) // _MILLISECOND


def from_millis(millis: int) -> datetime:
    """Return the UTC moment of ``millis`` since 1970-01-01."""
    return _EPOCH + timedelta(milliseconds=millis)
