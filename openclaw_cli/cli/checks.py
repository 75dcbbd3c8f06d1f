"""What the doctor examines of every agent: its memory and its sessions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from openclaw_cli.memory.doctor.checkup import MEMORY
from openclaw_cli.memory.doctor.diagnosis import (
    DAMAGED,
    FIXABLE,
    Check,
    Fault,
    Part,
    Patient,
    judged,
)
from openclaw_cli.result import Warning, counted
from openclaw_cli.session.service import SessionService


def check_sessions(patient: Patient) -> Iterator[Check]:
    """Yield what a verification of all sessions of an agent finds; nothing where it has none."""
    service = SessionService(patient.env, patient.agent)
    if not service.store.paths.exists():
        return
    data = service.verify((), repair=False).data
    problems = data["problems"]
    faults = [_fault(problem) for problem in problems] + [
        Fault(service.store.paths.session(item["id"]).folder.as_posix(), item["reason"])
        for item in data.get("failed", ())
        if "code" not in item or item["code"] not in {problem["code"] for problem in problems}
    ]
    is_fixable = len(faults) == len(problems) and all(p["repairable"] for p in problems)
    yield judged(
        "sessions",
        f"{data['checked']} with {counted(data['messages'], 'message')}, all sound",
        faults,
        FIXABLE if is_fixable else DAMAGED,
        "# faults",
        hint="openclaw session verify lists them all",
    )


def _fault(problem: dict[str, Any]) -> Fault:
    line = problem.get("line")
    place = "" if line is None else f"line {line}: "
    return Fault(problem["path"], f"{problem['sessionId']}: {place}{problem['message']}")


def repair_sessions(patient: Patient, _faulty: Sequence[Check]) -> list[Warning]:
    """Put right what is wrong with sessions; damage is set aside, every whole message stays."""
    result = SessionService(patient.env, patient.agent).verify((), repair=True)
    return [
        Warning("set-aside", f"damaged lines were kept as {path}", path)
        for path in result.data["kept"]
    ]


#: In the order in which they are reported.
PARTS = (MEMORY, Part((check_sessions,), repair_sessions))
