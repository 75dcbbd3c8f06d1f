"""``session export``: sessions as they are, or as transcripts to read, in constant memory.

The same sessions give the same bytes: they are sorted by id, the fields of their metadata by name,
and ``exportedAt`` is the time of the newest activity among them, not that of the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.clock import format_time, parse_time
from openclaw_cli.errors import NotFoundError, OpenclawError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Progress, Result, Warning, no_progress
from openclaw_cli.session import branches
from openclaw_cli.session.lines import Line
from openclaw_cli.session.metadata import Loaded, gap, is_known_gap
from openclaw_cli.session.resumption import checkpoints
from openclaw_cli.session.schema import Message, Meta
from openclaw_cli.session.service import SessionService
from openclaw_cli.session.store import UNREADABLE
from openclaw_cli.session.transcript import History
from openclaw_cli.store.fsio import reporting
from openclaw_cli.transfer.sessions import points, readable
from openclaw_cli.transfer.sessions.file import AFTER_MESSAGE, BEFORE_MESSAGE, KIND, VERSION, Tally
from openclaw_cli.transfer.writing import GZIP, save

FORMATS = ("jsonl", "markdown", "html")
_ENDINGS = {".md": "markdown", ".markdown": "markdown", ".html": "html", ".htm": "html"}
_MOST_FAILURES = 100
_DELETED = "it was deleted while the export went on"


class SessionExportRequest(NamedTuple):
    """What to export, all if no id is given, and where to: ``output`` None is standard output.

    ``format`` None is told by the file's name: JSON Lines unless it says Markdown or HTML.
    """

    ids: tuple[str, ...] = ()
    output: Path | None = None
    format: str | None = None
    force: bool = False


class _Source(NamedTuple):
    """A session that is held open: its metadata, and the history that they go with."""

    files: SessionFiles
    loaded: Loaded
    history: History | None

    @property
    def meta(self) -> Meta:
        return self.loaded.meta


@dataclass(slots=True)
class SessionExport:
    """One export: sessions are chosen first, then written one after the other."""

    service: SessionService
    request: SessionExportRequest
    progress: Progress = no_progress
    failed: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[Warning] = field(default_factory=list)
    sessions: int = 0
    messages: int = 0
    _chosen: list[Meta] = field(default_factory=list)
    _more_failures: int = 0

    def check(self) -> None:
        """Choose the sessions. Raises `NotFoundError` for one that is not there."""
        store = self.service.store
        store.require()
        if self.request.ids:
            self._choose({files.id: files for files in map(self.service.find, self.request.ids)})
        else:
            survey = store.survey()
            self._chosen = list(store.walk(survey))
            self.warnings += [each for each in survey.warnings if each.code != UNREADABLE]
            for name, found in sorted(survey.unreadable.items()):
                self._failure(store.paths.session(name), found.error.message)
        self._chosen.sort(key=lambda meta: str(meta["sessionId"]))

    def _choose(self, named: dict[str, SessionFiles]) -> None:
        for files in named.values():
            try:
                loaded = self.service.store.load(files)
            except OpenclawError as error:
                if len(named) == 1:
                    raise
                self._failure(files, error.message)
                continue
            self._chosen.append(loaded.meta)
            self.warnings += loaded.warnings

    @property
    def format(self) -> str:
        """The chosen format, or what the file's name says."""
        if self.request.format is not None:
            return self.request.format
        name = "" if self.request.output is None else self.request.output.name.lower()
        return _ENDINGS.get(Path(name.removesuffix(GZIP)).suffix, "jsonl")

    def pieces(self) -> Iterator[bytes]:
        """Yield the file piece by piece; counts and failures are complete after the last."""
        if self.format == "jsonl":
            yield orjson.dumps(self._header()) + b"\n"
            for source in self._sessions():
                yield from self._lines(source)
            return
        form = readable.FORMS[self.format]
        yield form.begin([meta.get("title") or meta["sessionId"] for meta in self._chosen])
        for source in self._sessions():
            self.sessions += 1
            yield form.session(source.meta)
            for _raw, message in self._messages(source):
                yield form.message(message)
        yield form.end()

    def result(self) -> Result:
        """Return counts, failures and warnings."""
        if self._more_failures:
            self.failed.append({"reason": f"{self._more_failures} more damaged lines"})
            self._more_failures = 0
        data: dict[str, Any] = {
            "sessions": self.sessions,
            "messages": self.messages,
            "format": self.format,
            "failed": self.failed,
        }
        return Result("session.export", data, tuple(self.warnings))

    def _header(self) -> dict[str, Any]:
        moments = [parse_time(meta["lastActiveAt"]) for meta in self._chosen]
        return {
            "kind": KIND,
            "version": VERSION,
            "agent": self.service.store.agent,
            "sessions": len(self._chosen),
            "exportedAt": format_time(max(moments)) if moments else None,
        }

    def _sessions(self) -> Iterator[_Source]:
        """Yield the sessions that can be read, each held open until the next one is asked for."""
        store = self.service.store
        for number, chosen in enumerate(self._chosen):
            self.progress("export", number, len(self._chosen))
            files = store.paths.session(chosen["sessionId"])
            try:
                with reporting("read", files.folder), store.opened(files) as (loaded, history):
                    if not files.exist():
                        self._failure(files, _DELETED)
                        continue
                    self.warnings += [w for w in loaded.warnings if w not in self.warnings]
                    yield _Source(files, loaded, history)
            except OpenclawError as error:
                self._failure(files, error.message)

    def _lines(self, source: _Source) -> Iterator[bytes]:
        files = source.files
        head: dict[str, Any] = {"session": source.meta, "branches": self._branches(files)}
        checkpoint = self._checkpoint(files)
        if checkpoint is not None:
            head["checkpoint"] = checkpoint
        if not files.exist():
            self._failure(files, _DELETED)  # who knows which of its files were there to be read
            return
        self.sessions += 1
        yield orjson.dumps(head, option=orjson.OPT_SORT_KEYS) + b"\n"
        tally = Tally()
        for raw, _message in self._messages(source):
            tally.add(raw)
            yield BEFORE_MESSAGE + raw + AFTER_MESSAGE
        end = {"sessionId": files.id, "messages": tally.count, "sha256": tally.sha256}
        yield orjson.dumps({"end": end}) + b"\n"

    def _messages(self, source: _Source) -> Iterator[tuple[bytes, Message]]:
        """Yield every whole message that was there when the metadata were read.

        Later ones are told by their place, not by their idx: a history may be out of order.
        """
        files, tail = source.files, source.loaded.tail
        end = None if tail is None else tail.size
        following = 0
        for line in self._read(source):
            if end is not None and line.at >= end:
                break
            if line.message is None:
                self._failure(files, f"{line.place}: {line.problem}")
                following += not line.torn and line.problem != "zero bytes"
            else:
                self.messages += 1
                following = max(following, line.message["idx"] + 1)
                yield line.text, line.message
        self._compare(source, following)

    def _read(self, source: _Source) -> Iterator[Line]:
        try:
            yield from source.history.forward() if source.history is not None else ()
        except OSError as error:
            self._failure(source.files, f"the history cannot be read to its end: {error.strerror}")

    def _compare(self, source: _Source, following: int) -> None:
        """Tell where the history has fewer messages than its metadata know of, or more."""
        files, meta = source.files, source.meta
        count = meta["messageCount"]
        if following < count and not is_known_gap(meta, following):
            self._failure(files, gap(following, count))
        elif following > count and source.loaded.tail is None:
            said = f"session {files.id}: messageCount is {count} where {following} is due"
            self.warnings.append(Warning("counter-differs", said, str(files.meta)))

    def _checkpoint(self, files: SessionFiles) -> checkpoints.Checkpoint | None:
        try:
            stored = checkpoints.read(files)
        except OpenclawError as error:
            self._failure(files, error.message)
            return None
        if stored.problem is not None:
            self._failure(files, f"checkpoint.json: {stored.problem}")
        return stored.checkpoint

    def _branches(self, files: SessionFiles) -> list[Any]:
        """Return the branch points; those that nobody could use after an import have failed."""
        found = []
        try:
            for name in branches.names(files):
                try:
                    found.append(branches.read(files, name).document)
                except NotFoundError:
                    continue  # removed since
                except ValueError as error:
                    self._failure(files, f"branch {name}: {error}")
            return points.counted(files, found)
        except OpenclawError as error:
            self._failure(files, error.message)
        return found

    def _failure(self, files: SessionFiles, reason: str) -> None:
        if len(self.failed) < _MOST_FAILURES:
            self.failed.append({"id": files.id, "reason": reason})
        else:
            self._more_failures += 1


def export_sessions(
    service: SessionService, request: SessionExportRequest, progress: Progress = no_progress
) -> Result:
    """Export into the file that the request names; it appears whole, or not at all.

    Raises `UsageError` where something stands under that name and may not be replaced.
    """
    return save(SessionExport(service, request, progress), request.output, force=request.force)
