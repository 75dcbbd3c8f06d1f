"""The report of ``session verify``: many sessions, each read whole, and repaired on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openclaw_cli.errors import OpenclawError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Progress, Result, Warning
from openclaw_cli.session.listing import foreign
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.verification.examine import examine
from openclaw_cli.session.verification.findings import Findings, Problem
from openclaw_cli.session.verification.repair import repair as put_right
from openclaw_cli.store.fsio import reporting


def verify(
    store: SessionStore,
    named: Sequence[SessionFiles] | None,
    *,
    repair: bool,
    progress: Progress,
) -> Result:
    """Examine sessions, all of them unless some are ``named``; with ``repair`` put them right.

    What is wrong and remains so is listed as failed.
    """
    data: dict[str, Any] = {"checked": 0, "messages": 0, "problems": [], "repaired": [], "kept": []}
    warnings: list[Warning] = []
    failed: list[dict[str, Any]] = []
    if named is None:
        named, data["foreign"] = _all(store, repair=repair)
    for number, files in enumerate(named):
        progress("verifying", number, len(named))
        try:
            with reporting("read", files.folder):
                before, after, kept = _one(store, files, repair=repair)
        except OpenclawError as error:
            if not files.exist():
                continue  # deleted in the meantime
            failed.append({"id": files.id, "code": error.code, "reason": error.message})
            continue
        data["checked"] += 1
        data["messages"] += after.messages
        data["kept"] += kept
        data["problems"] += _documents(before, grave=True)
        left = {problem.code for problem in after.problems}
        data["repaired"] += [
            found for found in _documents(before, grave=True) if found["code"] not in left
        ]
        failed += [_failure(files, problem) for problem in after.problems if problem.grave]
        warnings += _warnings(after)
    if failed:
        data["failed"] = failed
    return Result("session.verify", data, tuple(warnings))


def _all(store: SessionStore, *, repair: bool) -> tuple[list[SessionFiles], dict[str, Any]]:
    """Return every session and what is foreign; with ``repair`` the catalogue is put right too.

    Those that the walk could not read are among them, so that it is told why.
    """
    survey = store.survey()
    names = [str(meta["sessionId"]) for meta in store.walk(survey)]
    found = [store.paths.session(name) for name in (*names, *survey.unreadable)]
    if repair:
        with store.looking_up():
            store.tidy(survey)
    return sorted(found, key=lambda files: files.id), foreign(survey)


def _one(
    store: SessionStore, files: SessionFiles, *, repair: bool
) -> tuple[Findings, Findings, list[str]]:
    if repair:
        return put_right(store, files)
    found = examine(store, files)
    return found, found, []


def _documents(findings: Findings, *, grave: bool) -> list[dict[str, Any]]:
    return [
        {"sessionId": findings.files.id, **problem.document(), "repairable": problem.repairable}
        for problem in findings.problems
        if problem.grave is grave
    ]


def _failure(files: SessionFiles, problem: Problem) -> dict[str, Any]:
    reason = f"{_place(problem, 'line {}: ')}{problem.message}"
    return {"id": files.id, "code": problem.code, "reason": reason, "path": problem.path}


def _warnings(findings: Findings) -> list[Warning]:
    whose = f"session {findings.files.id}"
    return [
        Warning(
            problem.code,
            f"{whose}{_place(problem, ', line {}')}: {problem.message}",
            problem.path,
        )
        for problem in findings.problems
        if not problem.grave
    ]


def _place(problem: Problem, form: str) -> str:
    return "" if problem.line is None else form.format(problem.line)
