"""The one door through which commands reach an agent's sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO

from openclaw_cli.environment import Environment
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Progress, Result, Warning, no_progress
from openclaw_cli.session.requests import (
    ContextRequest,
    NewRequest,
    ResumeRequest,
    SearchRequest,
    SessionFilter,
    SessionListRequest,
    UsageQuery,
)
from openclaw_cli.session.schema import Message
from openclaw_cli.session.store import SessionStore

if TYPE_CHECKING:
    from openclaw_cli.session.purging import Forgotten

__all__ = [
    "ContextRequest",
    "NewRequest",
    "ResumeRequest",
    "SearchRequest",
    "SessionFilter",
    "SessionListRequest",
    "SessionService",
    "UsageQuery",
]


class SessionService:
    """The sessions of one agent, for one command.

    Every command but `new` and `ensure` raises `NotFoundError` when the agent has no sessions. Ids
    may be given by their last 8 or more characters.
    """

    def __init__(self, env: Environment, agent: str) -> None:
        self.store = SessionStore(env, agent)

    def _find(self, given: str) -> SessionFiles:
        from openclaw_cli.session.lookup import resolve

        return resolve(self.store, given)

    def new(self, request: NewRequest) -> Result:
        """Make a session; an active one of the same channel and chat becomes dormant."""
        from openclaw_cli.session.lookup import new

        return new(self.store, request)

    def fork(self, request: NewRequest, source: str) -> Result:
        """Make a session that begins as another one, up to a branch, a message, or its end."""
        from openclaw_cli.session.forking import fork

        return fork(self.store, request, source)

    def ensure(self, request: NewRequest) -> Result:
        """Return the session of a channel and chat, made if there is none."""
        from openclaw_cli.session.lookup import ensure

        return ensure(self.store, request)

    def list(self, request: SessionListRequest) -> Result:
        """Return the first sessions of a filter, and their number."""
        from openclaw_cli.session.listing import listing

        return listing(self.store, request)

    def iter_list(
        self, request: SessionListRequest, warnings: MutableSequence[Warning]
    ) -> Iterator[dict[str, Any]]:
        """Yield the sessions of a filter one by one; ``warnings`` is added to on the way."""
        from openclaw_cli.session.listing import stream

        return stream(self.store, request, warnings)

    def show(self, given: str) -> Result:
        """Return a session's metadata, its place and its size."""
        from openclaw_cli.session.listing import show

        return show(self.store, self._find(given))

    def tail(
        self, given: str, count: int, warnings: MutableSequence[Warning]
    ) -> tuple[SessionFiles, Iterator[Message]]:
        """Return which session is meant, and its last messages, read while they are asked for."""
        from openclaw_cli.session.listing import newest

        files = self._find(given)
        return files, newest(self.store, files, count, warnings)

    def follow(
        self, files: SessionFiles, messages: Iterator[Message], tell: Callable[[Warning], None]
    ) -> Iterator[Message]:
        """Yield ``messages``, then those that others append, until the session is deleted.

        What of the latter cannot be read is told when it is met.
        """
        from openclaw_cli.session.following import follow

        last = self.store.load(files).meta["messageCount"] - 1
        for message in messages:
            yield message
            last = message["idx"]
        yield from follow(self.store, files, last, tell)

    def append(self, given: str, stream: BinaryIO) -> Result:
        """Append the messages of JSON Lines, all of them or none."""
        from openclaw_cli.session.appending import append, read_batch

        files = self._find(given)
        return append(self.store, files, read_batch(stream, self.store.now()))

    def append_one(self, given: str, message: Message) -> Result:
        """Append one message."""
        from openclaw_cli.session.appending import append, checked

        files = self._find(given)
        return append(self.store, files, [checked(message, self.store.now())])

    def rename(self, given: str, title: str | None) -> Result:
        """Give a session a title; None takes it away."""
        from openclaw_cli.session.changing import rename

        return rename(self.store, self._find(given), title)

    def tag(self, given: str, added: Sequence[str], removed: Sequence[str]) -> Result:
        """Add and remove tags."""
        from openclaw_cli.session.changing import tag

        return tag(self.store, self._find(given), added, removed)

    def archive(self, given: Sequence[str]) -> Result:
        """Compress histories, each proved by reading it back, and set the status."""
        from openclaw_cli.session.changing import archive_all

        found = {files.id: files for files in map(self._find, given)}
        return archive_all(self.store, list(found.values()))

    def sweep(self, *, dry_run: bool) -> Result:
        """Apply the lifecycle to every session."""
        from openclaw_cli.session.changing import sweep

        return sweep(self.store, dry_run=dry_run)

    def delete(self, given: Sequence[str], *, dry_run: bool) -> Result:
        """Move sessions to the trash."""
        from openclaw_cli.session.removing import delete

        return delete(self.store, given, dry_run=dry_run)

    def restore(self, given: Sequence[str]) -> Result:
        """Bring sessions back from the trash."""
        from openclaw_cli.session.removing import restore

        return restore(self.store, given)

    def trash_list(self) -> Result:
        """Return what is in the trash."""
        from openclaw_cli.session.removing import trash_list

        return trash_list(self.store)

    def trash_empty(self, before: datetime | None, *, dry_run: bool) -> Result:
        """Remove what is in the trash, or was deleted before a time, for good."""
        from openclaw_cli.session.removing import empty

        return empty(self.store, before, dry_run=dry_run)

    def verify(
        self, given: Sequence[str], *, repair: bool, progress: Progress = no_progress
    ) -> Result:
        """Read sessions whole (all, when none is named) and tell what is wrong with them."""
        from openclaw_cli.session.verification.report import verify

        self.store.require()
        named = [self._find(name) for name in given]
        return verify(self.store, named or None, repair=repair, progress=progress)

    def context(self, given: str, request: ContextRequest) -> Result:
        """Return the messages of a session that fit a budget, in the form that is wanted."""
        from openclaw_cli.session.context.build import build

        return build(self.store, self._find(given), request)

    def branch(self, given: str, name: str, at: int | None) -> Result:
        """Name a place in a history."""
        from openclaw_cli.session.branches import branch

        return branch(self.store, self._find(given), name, at)

    def branches(self, given: str) -> Result:
        """Return the named places in a history."""
        from openclaw_cli.session.branches import branches

        return branches(self.store, self._find(given))

    def checkpoint(self, given: str, stream: BinaryIO) -> Result:
        """Store the checkpoint that a stream holds as JSON."""
        from openclaw_cli.session.resumption.checkpoints import read_document, store_checkpoint

        files = self._find(given)
        return store_checkpoint(self.store, files, read_document(stream))

    def resume(self, given: str, request: ResumeRequest) -> Result:
        """Return the messages with which a session goes on, from its checkpoint if that fits."""
        from openclaw_cli.session.resumption.resuming import resume

        return resume(self.store, self._find(given), request)

    def search(self, request: SearchRequest, progress: Progress = no_progress) -> Result:
        """Return the newest messages that hold all that a query asks for."""
        from openclaw_cli.session.searching import search

        self.store.require()
        files = None if request.session is None else self._find(request.session)
        return search(self.store, request, files, progress)

    def usage(self, query: UsageQuery) -> Result:
        """Return the tokens of the ledger, summed up."""
        from openclaw_cli.session.usage import usage

        return usage(self.store, query)

    def record_usage(self, data: bytes) -> Result:
        """Append one turn, a JSON object, to the ledger."""
        from openclaw_cli.session.usage import record

        return record(self.store, data)

    def find(self, given: str) -> SessionFiles:
        """Return the files of the session that an id or its end means."""
        return self._find(given)

    def forget_user(
        self,
        user: str,
        *,
        group_messages: bool,
        dry_run: bool,
        progress: Progress = no_progress,
    ) -> Forgotten:
        """Remove a user's own sessions for good, and on demand their messages in groups."""
        from openclaw_cli.session.purging import forget_user

        return forget_user(
            self.store, user, group_messages=group_messages, dry_run=dry_run, progress=progress
        )
