"""What refers to a place in a history, carried over when a repair moves that place.

A branch point or a summary that fits the damaged history fits the repaired one as well, for that
holds the same messages; only the bytes before the place, and so its offset and hash, are others.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import orjson

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import branches
from openclaw_cli.session.branches import Point
from openclaw_cli.session.context import summaries
from openclaw_cli.store import fsio


class Place(NamedTuple):
    """A place in the repaired history: its offset, and the hash of all that lies before it."""

    size: int
    sha256: str


class Carried:
    """Follows a history while it is written anew.

    Only what fits the history as it is now is carried over: nobody knows what else has meant.
    """

    def __init__(self, files: SessionFiles) -> None:
        survey = branches.survey(files)
        self._files = files
        fitting = survey.matching - survey.waiting  # those that wait have been carried over
        self._points = [point for point in survey.points if point.name in fitting]
        # The history alone tells how many messages there are: any number serves here.
        summary, _problem = summaries.read(files, 1 << 53)
        self._summary = None if summary is None or summaries.is_waiting(files, summary) else summary
        ends = {point.size for point in self._points}
        if self._summary is not None:
            ends.add(self._summary.end)
        self._due = sorted(ends, reverse=True)
        self._places: dict[int, Place] = {}
        self._digest = sha256()
        self._size = 0
        self._changed = False

    def reach(self, at: int, *, sound: bool) -> None:
        """Note that the next line began at byte ``at`` of the damaged history, ``sound`` or not."""
        while self._due and self._due[-1] <= at:
            end = self._due.pop()
            if self._changed:
                self._places[end] = Place(self._size, self._digest.hexdigest())
        self._changed |= not sound

    def take(self, data: bytes) -> None:
        """Note what is written next."""
        self._digest.update(data)
        self._size += len(data)

    def keep(self, history: Path, now: str) -> None:
        """Write what refers to places that have moved; ``history`` is the repaired one."""
        self.reach(1 << 62, sound=True)
        for point in self._points:
            place = self._places.get(point.size)
            if place is not None and place != (point.size, point.sha256):
                self._keep_point(point, place, now)
        place = None if self._summary is None else self._places.get(self._summary.end)
        if self._summary is not None and place is not None:
            before = {name: self._summary.document.get(name) for name in ("end", "before")}
            document = {**self._summary.document, "repaired": before}
            moved = self._summary._replace(end=place.size, document=document)
            data = summaries.encode(self._files, moved, now, history)
            fsio.write_file(self._files.context, data)

    def _keep_point(self, point: Point, place: Place, now: str) -> None:
        before = {"at": now, "bytes": point.size, "sha256": point.sha256}
        document = {
            **point.document,
            "bytes": place.size,
            "sha256": place.sha256,
            "repaired": before,
        }
        data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        fsio.write_file(branches.path_of(self._files, point.name), data)
