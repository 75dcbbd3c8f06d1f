"""``session search``: messages that hold all that a query asks for.

Histories are streamed. A cheap look passes over most messages; of the others only those are cut
into terms that could still be among the results. Memory is bounded by a few megabytes of
candidates, and by the longest line.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappush, heapreplace
from itertools import count
from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import OpenclawError, UsageError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import MOST_WARNINGS, Progress, Result, Warning, no_progress
from openclaw_cli.session import transcript
from openclaw_cli.session.context.weighing import json_text, text_of
from openclaw_cli.session.listing import bound, damage_warning, moment_key, torn_warning
from openclaw_cli.session.requests import SearchRequest
from openclaw_cli.session.schema import Message, is_time
from openclaw_cli.session.store import SessionStore
from openclaw_cli.text.matching import Query
from openclaw_cli.text.needles import Needles
from openclaw_cli.text.normalize import fold, prepare
from openclaw_cli.text.snippets import snippet

#: Characters of candidates that are held before the newest of them are looked at first.
_HELD = 2 << 20


class _Candidate(NamedTuple):
    """A message that may match: whether the whole phrase may stand in it, and where it is."""

    phrase: bool
    moment: str
    session: str
    idx: int
    message: Message
    text: str

    @property
    def rank(self) -> tuple[bool, str, str, int]:
        return self[:4]


def search(
    store: SessionStore,
    request: SearchRequest,
    files: SessionFiles | None,
    progress: Progress = no_progress,
) -> Result:
    """Return the newest messages that match, those with the whole phrase first.

    ``files`` is the session to search; None searches all, archived ones too.
    """
    query = Query(request.query)
    if query.is_empty:
        raise UsageError(
            "the query holds no word, number or sign",
            hint='write what to look for: session search "..."',
        )
    return _Search(store, request, query).run(files, progress)


def searchable(message: Message) -> str:
    """Return what of a message is searched: what it says, and the tools that it calls."""
    content, calls = message.get("content"), message.get("toolCalls")
    text = content if isinstance(content, str) else text_of(message)
    if not isinstance(calls, list) or not calls:
        return text
    parts = [text]
    for call in calls:
        if isinstance(call, dict):
            parts.append(str(call.get("name") or ""))
            args = call.get("args")
            parts.append(args if isinstance(args, str) else orjson.dumps(args).decode())
    return "\n".join(part for part in parts if part)


class _Search:
    """One search on its way through the histories."""

    def __init__(self, store: SessionStore, request: SearchRequest, query: Query) -> None:
        self.store = store
        self.query = query
        self.needles = Needles(query)
        self.limit = request.limit
        self.roles = frozenset(request.roles)
        self.since = bound(request.since)
        #: The numbers make entries of one rank comparable: an idx may have been used twice.
        self.best: list[tuple[tuple[bool, str, str, int], int, _Candidate]] = []
        self.numbers = count()
        self.warnings: list[Warning] = []
        self._more_warnings = 0

    def run(self, files: SessionFiles | None, progress: Progress) -> Result:
        places = [files] if files is not None else self._newest_first()
        for number, place in enumerate(places):
            progress("searching", number, len(places))
            try:
                self._session(place)
            except OpenclawError as error:
                if files is not None:
                    raise
                if place.exist():
                    self._warn(Warning("session-unreadable", error.message, error.path))
        if self._more_warnings:
            message = f"{self._more_warnings} more damaged lines or sessions were passed over"
            self.warnings.append(Warning("history-damaged", message))
        found = [self._document(candidate) for *_, candidate in sorted(self.best, reverse=True)]
        data = {"query": self.query.text, "results": found, "sessions": len(places)}
        return Result("session.search", data, tuple(self.warnings))

    def _newest_first(self) -> list[SessionFiles]:
        """Return all sessions, those active last first: then most others can be passed over."""
        survey = self.store.survey()
        found = [(meta["lastActiveAt"], meta["sessionId"]) for meta in self.store.walk(survey)]
        self.warnings += survey.warnings
        return [self.store.paths.session(name) for _moment, name in sorted(found, reverse=True)]

    def _session(self, files: SessionFiles) -> None:
        with transcript.opened(files) as history:
            if history is None:
                return
            held: list[_Candidate] = []
            size = 0
            for candidate in self._candidates(files, history):
                held.append(candidate)
                size += len(candidate.text)
                if size > _HELD:
                    self._judge(held)
                    held, size = [], 0
            self._judge(held)

    def _candidates(self, files: SessionFiles, history: transcript.History) -> Iterator[_Candidate]:
        may_match = self.needles.may_match
        for line in history.forward():
            if line.problem is not None:
                self._warn(
                    torn_warning(files, len(line.raw)) if line.torn else damage_warning(files, line)
                )
            message = line.message
            if message is None:
                continue
            role = message.get("role")
            if self.roles and not (isinstance(role, str) and role in self.roles):
                continue
            text = searchable(message)
            if not may_match(text):
                continue
            moment = moment_key(message["ts"]) if is_time(message.get("ts")) else ""
            if self.since is None or moment >= self.since:
                bare = {name: message.get(name) for name in ("ts", "role")}
                yield _Candidate(True, moment, files.id, message["idx"], bare, text)

    def _judge(self, held: list[_Candidate]) -> None:
        """Look closely at candidates, the last first, as far as they could be among the best."""
        for candidate in reversed(held):
            if not self._could_be(candidate):
                continue
            prepared = prepare(candidate.text)
            is_full = len(self.best) >= self.limit
            if not is_full and not self.query.matches(prepared):
                continue
            whole = candidate._replace(phrase=self._has_phrase(prepared))
            # Of many that match, few have the phrase, and without it most come too late.
            if is_full and (not self._could_be(whole) or not self.query.matches(prepared)):
                continue
            entry = (whole.rank, next(self.numbers), whole)
            if not is_full:
                heappush(self.best, entry)
            else:
                heapreplace(self.best, entry)

    def _could_be(self, candidate: _Candidate) -> bool:
        return len(self.best) < self.limit or candidate.rank > self.best[0][0]

    def _has_phrase(self, prepared: str) -> bool:
        return self.query.phrase in " ".join(fold(prepared).split())

    def _warn(self, warning: Warning) -> None:
        if len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(warning)
        else:
            self._more_warnings += 1

    def _document(self, candidate: _Candidate) -> dict[str, Any]:
        return {
            "sessionId": candidate.session,
            "idx": candidate.idx,
            "ts": ts if isinstance(ts := candidate.message["ts"], str) else None,
            "role": role if isinstance(role := candidate.message["role"], str) else json_text(role),
            "snippet": snippet(candidate.text, self.query),
            "phrase": candidate.phrase,
        }
