"""``session rename``, ``tag``, ``archive`` and ``sweep``: changes of metadata and of status."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from openclaw_cli.clock import parse_time
from openclaw_cli.errors import NotFoundError, OpenclawError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import archive
from openclaw_cli.session.lifecycle import STATUS, Patience
from openclaw_cli.session.schema import Meta
from openclaw_cli.session.store import UNREADABLE, SessionStore, Survey, Writer


def patience(store: SessionStore) -> Patience:
    """Return how long sessions stay active and dormant, as the configuration says."""
    config = store.env.config
    return Patience(
        timedelta(seconds=config.seconds("session.idleTimeout")),
        timedelta(seconds=config.seconds("session.archiveAfter")),
    )


def rename(store: SessionStore, files: SessionFiles, title: str | None) -> Result:
    """Give a session a title, or take it away."""
    with store.writing(files) as writer:
        before = writer.meta["title"]
        if title != before:
            writer.save({"title": title})
    changed = [] if title == before else [{"sessionId": files.id, "from": before, "to": title}]
    data = {"sessionId": files.id, "title": title, "changed": changed}
    return Result("session.rename", data, tuple(writer.warnings))


def tag(
    store: SessionStore, files: SessionFiles, added: Sequence[str], removed: Sequence[str]
) -> Result:
    """Add and remove tags; what is there already or not there at all changes nothing."""
    with store.writing(files) as writer:
        before = list(writer.meta["tags"])
        gone = set(removed)
        tags = [word for word in dict.fromkeys([*before, *added]) if word not in gone]
        if tags != before:
            writer.save({"tags": tags})
    changed = [] if tags == before else [{"sessionId": files.id, "from": before, "to": tags}]
    data = {"sessionId": files.id, "tags": tags, "changed": changed}
    return Result("session.tag", data, tuple(writer.warnings))


def archive_all(store: SessionStore, found: Sequence[SessionFiles]) -> Result:
    """Archive sessions: those that cannot be are listed as failed, the others go on."""
    changed: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    warnings = []
    for files in found:
        try:
            with store.writing(files) as writer:
                before = writer.meta["status"]
                to_archive(writer)
            warnings += writer.warnings
        except OpenclawError as error:
            if len(found) == 1:
                raise
            failed.append(_failure(files.id, error))
            continue
        if before != "archived":
            changed.append({"sessionId": files.id, "from": before, "to": "archived"})
    data: dict[str, Any] = {"changed": changed}
    if failed:
        data["failed"] = failed
    return Result("session.archive", data, tuple(warnings))


def to_archive(writer: Writer) -> None:
    """Compress the history and set the status; one that was stopped half-way is finished."""
    status = writer.meta["status"]
    if status != "archived":
        STATUS.check(status, "archived", whose=f"session {writer.files.id}")
        # Of a compressed history the counters are believed: they must not be lost by a power cut.
        writer.save({})
    archive.pack(writer)
    if status != "archived":
        writer.save({"status": "archived"})


def sweep(store: SessionStore, *, dry_run: bool) -> Result:
    """Apply the lifecycle: idle sessions become dormant, long dormant ones are archived."""
    store.require()
    waits, now = patience(store), store.env.clock.now()
    if dry_run:
        due, survey = _due(store, waits, now, tidy=False)
        return _swept(due, _passed_over(survey), survey.warnings, dry_run=True)
    with store.looking_up():
        due, survey = _due(store, waits, now, tidy=True)
    changed: list[dict[str, Any]] = []
    failed, warnings = _passed_over(survey), survey.warnings
    for planned in due:
        files = store.paths.session(planned["sessionId"])
        try:
            with store.writing(files) as writer:
                done = _apply(writer, waits, now)
            warnings += writer.warnings
        except NotFoundError:
            continue  # deleted in the meantime
        except OpenclawError as error:
            failed.append(_failure(files.id, error))
            continue
        if done is not None:
            changed.append(done)
    return _swept(changed, failed, warnings, dry_run=False)


def _swept(
    changed: list[dict[str, Any]],
    failed: list[dict[str, Any]],
    warnings: list[Warning],
    *,
    dry_run: bool,
) -> Result:
    data: dict[str, Any] = {"changed": changed, "dryRun": dry_run}
    if failed:
        data["failed"] = failed
    # What is listed as failed need not be told twice.
    told = tuple(warning for warning in warnings if warning.code != UNREADABLE)
    return Result("session.sweep", data, told)


def _passed_over(survey: Survey) -> list[dict[str, Any]]:
    return [_failure(name, found.error) for name, found in sorted(survey.unreadable.items())]


def _due(
    store: SessionStore, waits: Patience, now: datetime, *, tidy: bool
) -> tuple[list[dict[str, Any]], Survey]:
    survey = store.survey()
    planned = []
    for meta in store.walk(survey):
        change = _planned(meta, waits, now)
        if change is not None:
            planned.append(change)
    if tidy:
        store.tidy(survey)
    planned.sort(key=lambda change: str(change["sessionId"]))
    return planned, survey


def _planned(meta: Meta, waits: Patience, now: datetime) -> dict[str, Any] | None:
    wanted = waits.due(meta["status"], now - parse_time(meta["lastActiveAt"]))
    if wanted is None:
        return None
    return {"sessionId": meta["sessionId"], "from": meta["status"], "to": wanted}


def _apply(writer: Writer, waits: Patience, now: datetime) -> dict[str, Any] | None:
    """Decide again, now that nobody else can write to the session, and change its status."""
    change = _planned(writer.meta, waits, now)
    if change is None:
        return None
    if change["to"] == "archived":
        to_archive(writer)
    else:
        STATUS.check(change["from"], change["to"], whose=f"session {writer.files.id}")
        writer.save({"status": change["to"]})
    return change


def _failure(session_id: str, error: OpenclawError) -> dict[str, Any]:
    return {"id": session_id, "code": error.code, "reason": error.message}
