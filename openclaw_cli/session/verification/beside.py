"""Verification of the small files beside a history: checkpoint, branch points, summary."""

from __future__ import annotations

from openclaw_cli.errors import DamagedError
from openclaw_cli.session import branches
from openclaw_cli.session.context import summaries
from openclaw_cli.session.context.recent import reading
from openclaw_cli.session.resumption import checkpoints
from openclaw_cli.session.resumption.fitting import fit
from openclaw_cli.session.verification.findings import Findings

#: Reasons of `fitting` that are no surprise: the run was over, or the conversation went on.
_EXPECTED = frozenset({"fits", "none", "damaged", "state", "history-longer"})


def check_small_files(findings: Findings) -> None:
    """Look whether what stands beside the history can be used, and belongs to this history.

    What is damaged is no use to anybody and can be set aside, and so can a summary of something
    else; what else does not fit is told only, for the history is the truth.
    """
    _check_checkpoint(findings)
    _check_branches(findings)
    _check_summary(findings)


def _check_checkpoint(findings: Findings) -> None:
    files = findings.files
    stored = checkpoints.read(files)
    if stored.problem is not None:
        findings.add("checkpoint-damaged", f"checkpoint.json: {stored.problem}", files.checkpoint)
    if stored.checkpoint is None:
        return
    with reading(files) as recent:
        found = fit(stored, recent, int(findings.counters.get("messageCount", 0)))
    if found.reason not in _EXPECTED:
        said = f"session resume will not go on from its checkpoint: {found.explanation}"
        findings.add("checkpoint-unfit", said, files.checkpoint, repairable=False, grave=False)


def _check_branches(findings: Findings) -> None:
    try:
        survey = branches.survey(findings.files)
    except DamagedError as error:
        findings.add("branches-damaged", error.message, findings.files.branches, repairable=False)
        return
    for name, reason in survey.damaged.items():
        path = branches.path_of(findings.files, name)
        findings.add("branch-damaged", f"branch {name}: {reason}", path)
    for point in survey.points:
        if point.name not in survey.matching:
            said = f"the history does not begin any more as it did at branch {point.name}"
            path = branches.path_of(findings.files, point.name)
            findings.add("branch-differs", said, path, repairable=False, grave=False)


def _check_summary(findings: Findings) -> None:
    count = int(findings.counters.get("messageCount", 0))
    _summary, problem = summaries.read(findings.files, count)
    if problem is None:
        return
    path = findings.files.context
    said = problem.message.removeprefix(f"session {findings.files.id}: ")
    damaged = said.endswith(summaries.DAMAGED)
    code = "summary-damaged" if damaged else problem.code
    # One that does not fit breaks nothing: the history is the truth, and no summary is needed.
    findings.add(code, said, path, repairable=code != summaries.UNREADABLE, grave=damaged)
