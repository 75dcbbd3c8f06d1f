"""``session import``: sessions from a file of ``session export``, each of them whole or not at all.

A session is made out of sight and gets its place in one step when its last line has been read and
its messages have been counted. An import that was interrupted is run again: a session that is
there already as it stands in the file is known, and nothing is done about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple

import orjson

from openclaw_cli.errors import DamagedError, InvalidTextError, UsageError
from openclaw_cli.result import Progress, Result, Warning, counted, no_progress
from openclaw_cli.session.schema import LINE_LIMIT, TOO_DEEP, decode, too_deep
from openclaw_cli.session.service import SessionService
from openclaw_cli.store import fsio, jsonl, locks
from openclaw_cli.transfer.kinds import opened
from openclaw_cli.transfer.sessions.file import BEFORE_MESSAGE, check_header
from openclaw_cli.transfer.sessions.making import Draft, Store, take_in

CONFLICTS = ("skip", "new-id", "overwrite")
_LONGEST = LINE_LIMIT + (1 << 16)
_MOST_FAILURES = 1000
_OUTCOMES = ("added", "skipped", "overwritten", "renamed")


class SessionImportRequest(NamedTuple):
    """How to import: what to do with ids that are taken; ``name`` is the file's, for messages."""

    name: str
    on_conflict: str = "skip"
    dry_run: bool = False


class Part(NamedTuple):
    """One line of the file: what kind it is of, its value, and the bytes of a message."""

    number: int
    kind: str
    value: Any
    raw: bytes = b""
    whole: dict[str, Any] = {}  # noqa: RUF012  (never changed)


@dataclass(slots=True)
class _Import:
    """One import on its way through the file."""

    store: Store
    request: SessionImportRequest
    progress: Progress
    counts: Counter[str] = field(default_factory=Counter)
    failed: list[dict[str, Any]] = field(default_factory=list)
    renamed: list[dict[str, str]] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    draft: Draft | None = None
    #: Lines of a session that has been refused are passed over.
    refused: bool = False

    def run(self, parts: Iterator[Part]) -> None:
        try:
            for part in parts:
                self._take(part)
            if self.draft is not None:
                self._refuse(0, "the file ends before the end of the session")
        finally:
            if self.draft is not None:
                self.draft.abandon()

    def _take(self, part: Part) -> None:
        try:
            if part.kind == "session":
                self._begin(part)
            elif part.kind == "bad":
                self._refuse(part.number, str(part.value))
            elif self.draft is None:
                if not self.refused:
                    self._refuse(part.number, f"{part.kind} line outside of a session")
            elif part.kind == "message":
                self.draft.add(part.raw, part.value)
            else:
                self._finish(part)
        except (InvalidTextError, DamagedError) as error:
            self._refuse(part.number, error.message)

    def _begin(self, part: Part) -> None:
        if self.draft is not None:
            self._refuse(part.number, "the session before has no end line")
        self.counts["read"] += 1
        self.refused = False
        self.progress("import", self.counts["read"], None)
        try:
            self.draft = Draft(self.store, part.whole, dry_run=self.request.dry_run)
        except InvalidTextError:
            self.counts["refused"] += 1
            raise

    def _finish(self, part: Part) -> None:
        draft = self.draft
        assert draft is not None
        draft.check_end(part.value)
        outcome, session_id = take_in(self.store, draft, self.request.on_conflict)
        self.draft = None
        self.counts[outcome] += 1
        self.counts["messages"] += 0 if outcome == "skipped" else draft.tally.count
        self.warnings += draft.warnings
        if outcome == "renamed":
            self.renamed.append({"from": draft.session_id, "to": session_id})
        elif outcome == "skipped":
            self.skipped.append(session_id)

    def _refuse(self, number: int, reason: str) -> None:
        """Give the session up that is being read, if any, and note why."""
        failure: dict[str, Any] = {"reason": reason}
        if number:
            failure = {"line": number, **failure}
        if self.draft is not None:
            failure["id"] = self.draft.session_id
            self.counts["refused"] += 1
            self.draft.abandon()
            self.draft = None
        self.refused = True
        if len(self.failed) < _MOST_FAILURES:
            self.failed.append(failure)


def import_sessions(
    service: SessionService,
    request: SessionImportRequest,
    stream: BinaryIO,
    progress: Progress = no_progress,
) -> Result:
    """Take in the sessions of a file; those that cannot be are listed as failed.

    Raises `UsageError` for a file of another kind, and the version errors, before anything is
    changed.
    """
    if request.on_conflict not in CONFLICTS:
        raise UsageError(
            f"--on-conflict {request.on_conflict!r} is unknown",
            hint=f"choose one of {', '.join(CONFLICTS)}",
        )
    store = service.store
    source = opened(stream, request.name)
    header = _header(source, request.name)
    work = _Import(store, request, progress)
    if request.dry_run:
        work.run(_parts(source))
    else:
        store.paths.exists()
        paths, env = store.paths, store.env
        fsio.make_folder(paths.incoming)
        with locks.hold(
            paths.incoming_lock, clock=env.clock, timeout=env.lock_timeout, holder=env.holder
        ):
            fsio.sweep(paths.incoming)
            work.run(_parts(source))
    return _result(work, header)


def _header(source: BinaryIO, name: str) -> dict[str, Any]:
    raw = source.readline(_LONGEST)
    value, _reason = decode(raw.strip())
    return check_header(value, name)


def _parts(source: BinaryIO) -> Iterator[Part]:
    """Yield the lines after the header, blank ones left out."""
    number = 1
    while raw := source.readline(_LONGEST):
        number += 1
        if not raw.endswith(b"\n") and len(raw) >= _LONGEST:
            while more := source.readline(1 << 20):
                if more.endswith(b"\n"):
                    break
            yield Part(number, "bad", f"the line is longer than {_LONGEST >> 20} MiB")
        elif raw.strip():
            yield _part(number, raw.strip())


def _part(number: int, raw: bytes) -> Part:
    if raw.startswith(BEFORE_MESSAGE) and raw.endswith(b"}"):
        inner = raw[len(BEFORE_MESSAGE) : -1].strip()
        message, _reason = jsonl.decode(inner)
        if isinstance(message, dict):
            return Part(number, "message", message, inner)
    value, reason = jsonl.decode(raw)
    if reason is not None:
        return Part(number, "bad", f"no JSON: {reason}")
    if isinstance(value, dict) and isinstance(value.get("session"), dict):
        return Part(number, "session", value["session"], whole=value)
    if too_deep(value, raw):
        return Part(number, "bad", TOO_DEEP)
    if isinstance(value, dict):
        if isinstance(value.get("message"), dict):
            return Part(number, "message", value["message"], orjson.dumps(value["message"]))
        if isinstance(value.get("end"), dict):
            return Part(number, "end", value["end"])
    return Part(number, "bad", "neither a session nor a message nor an end line")


def _result(work: _Import, header: dict[str, Any]) -> Result:
    counts = work.counts
    told = header.get("sessions")
    if isinstance(told, int) and told != counts["read"]:
        message = f"the file says that it holds {counted(told, 'session')}; read: {counts['read']}"
        if told > counts["read"]:
            work.failed.append({"reason": message})
        else:
            work.warnings.append(Warning("count-differs", message, work.request.name))
    data: dict[str, Any] = {
        "read": counts["read"],
        **{name: counts[name] for name in _OUTCOMES},
        "refused": counts["refused"],
        "messages": counts["messages"],
        "renamedIds": work.renamed,
        "skippedIds": work.skipped[:_MOST_FAILURES],
        "failed": work.failed,
        "dryRun": work.request.dry_run,
    }
    return Result("session.import", data, tuple(work.warnings))
