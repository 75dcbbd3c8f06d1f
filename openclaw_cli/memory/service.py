"""The one door through which commands reach an agent's memory."""

from __future__ import annotations

from collections.abc import Iterator, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any

from openclaw_cli.environment import Environment
from openclaw_cli.memory.requests import (
    AddRequest,
    DeleteRequest,
    EditRequest,
    IndexRequest,
    ListRequest,
    PurgeRequest,
    SearchRequest,
)
from openclaw_cli.memory.store import Store
from openclaw_cli.result import Progress, Result, Warning, no_progress, told_once
from openclaw_cli.store import recovery

if TYPE_CHECKING:
    from openclaw_cli.memory.purging import Purged

__all__ = [
    "AddRequest",
    "DeleteRequest",
    "EditRequest",
    "Environment",
    "IndexRequest",
    "ListRequest",
    "MemoryService",
    "PurgeRequest",
    "SearchRequest",
]


class MemoryService:
    """The memory of one agent, for one command.

    Reading commands raise `NotFoundError` when the agent has no memory; the first `add` makes it.
    """

    def __init__(self, env: Environment, agent: str) -> None:
        self.store = Store(env, agent)

    def add(self, request: AddRequest) -> Result:
        """Remember a statement: it is on disk when this returns."""
        from openclaw_cli.memory.adding import add
        from openclaw_cli.memory.drafts import Statement

        statement = Statement(
            text=request.text,
            category=request.category,
            scope=request.scope,
            user=request.user,
            l1=request.l1,
            l2=request.l2,
            key=request.key,
            tags=request.tags,
            id=request.id,
        )
        decision, warnings, was_cut = add(
            self.store,
            statement,
            with_embedding=request.embed,
            allow_duplicate=request.allow_duplicate,
        )
        data: dict[str, Any] = {"id": decision.record_id, "action": decision.action}
        if decision.duplicate_of is not None:
            data["duplicateOf"] = decision.duplicate_of
        data["record"] = decision.document
        data["l0Cut"] = was_cut
        return Result("memory.add", data, tuple(warnings))

    def get(self, ids: Sequence[str]) -> Result:
        """Return whole records by id."""
        from openclaw_cli.memory.listing import get

        return get(self.store, ids)

    def edit(self, request: EditRequest) -> Result:
        """Change what a record says; what is replaced joins its history."""
        from openclaw_cli.memory.editing import edit

        return edit(self.store, request)

    def history(self, record_id: str) -> Result:
        """Return what a record was before, oldest first."""
        from openclaw_cli.memory.editing import history

        return history(self.store, record_id)

    def undo(self, record_id: str, number: int | None = None, *, embed: bool = True) -> Result:
        """Let an earlier state of a record stand again: the last one, or history entry ``number``.

        The state that it replaces joins the history.
        """
        from openclaw_cli.memory.editing import undo

        return undo(self.store, record_id, number, with_embedding=embed)

    def delete(self, request: DeleteRequest) -> Result:
        """Delete records by id or by filter."""
        from openclaw_cli.memory.deleting import delete

        return delete(self.store, request)

    def purge(self, request: PurgeRequest, progress: Progress = no_progress) -> Purged:
        """Forget everything of one user."""
        from openclaw_cli.memory.purging import forget_sessions, purge

        if request.sessions and not self.store.paths.exists():
            return forget_sessions(self.store, request, progress)
        self.store.require()
        return purge(self.store, request, progress)

    def list(self, request: ListRequest) -> Result:
        """Return the first records of a filter, and their number."""
        from openclaw_cli.memory.listing import listing

        return listing(self.store, request)

    def iter_list(
        self, request: ListRequest, warnings: MutableSequence[Warning]
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a listing one by one; ``warnings`` is added to on the way."""
        from openclaw_cli.memory.listing import stream

        return stream(self.store, request, warnings)

    def search(self, request: SearchRequest) -> Result:
        """Return the best records for a query."""
        from openclaw_cli.memory.retrieval import search

        return search(self.store, request)

    def index(self, request: IndexRequest, progress: Progress = no_progress) -> Result:
        """Bring the index up to date with the records, log and hand-edited files."""
        from openclaw_cli.memory.indexing.checkpoint import index

        clock = self.store.env.clock
        started = clock.monotonic()
        self.store.require()
        report = index(self.store, request, progress)
        failed = [*report.damaged, *_lost(report.warnings)]
        damaged = [{"path": path, "reason": reason} for path, reason in failed]
        data = {
            "records": report.records,
            "added": report.added,
            "updated": report.updated,
            "removed": report.removed,
            "embedded": report.embedded,
            "reused": report.reused,
            "pending": report.pending,
            "damaged": damaged,
            "failed": damaged,
            "generation": report.generation,
            "seconds": round(clock.monotonic() - started, 3),
        }
        warnings = tuple(said for said in report.warnings if said.code != recovery.DAMAGED)
        return Result("memory.index", data, warnings)

    def status(self, *, by_cause: bool = False, charts: bool = False) -> Result:
        """Return counts, index state and sizes, if wanted of every file by what it is for, and
        figures to draw."""
        from openclaw_cli.memory.status import status

        return status(self.store, by_cause=by_cause, charts=charts)


def _lost(warnings: Sequence[Warning]) -> Iterator[tuple[str, str]]:
    """Yield path and reason of the damaged log lines that an index run has met.

    They were acknowledged as records were: damage to them is a failure, not a warning.
    """
    lost = told_once(said for said in warnings if said.code == recovery.DAMAGED)
    for said in lost:
        path = said.path or ""
        beside = (more.path or "" for more in warnings if more.code == "set-aside")
        kept = next((name for name in beside if name.startswith(f"{path}.bad-")), None)
        yield path, said.message if kept is None else f"{said.message}; kept in {kept}"
