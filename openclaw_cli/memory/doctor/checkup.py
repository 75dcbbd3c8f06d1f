"""``doctor``: every check of the state directory and of its agents, and the repairs that are safe.

Checks only read and take no lock. With ``fix`` what is not ok is repaired and then checked again:
a check is called fixed when it was found to be ok afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from openclaw_cli.environment import Environment
from openclaw_cli.errors import EXIT_DAMAGED, EXIT_DONE, EXIT_PARTIAL, NotFoundError, OpenclawError
from openclaw_cli.memory.doctor import checks_files, checks_store
from openclaw_cli.memory.doctor.checks_state import check_state, shared_items
from openclaw_cli.memory.doctor.diagnosis import (
    DAMAGED,
    OK,
    AgentCheck,
    Check,
    Fault,
    Part,
    Patient,
)
from openclaw_cli.memory.doctor.repair import repair_memory, repair_modes
from openclaw_cli.result import Progress, Result, Warning, no_progress

_WITHOUT_MEMORY = (checks_files.check_places, checks_files.check_other_programs)
_MEMORY: tuple[AgentCheck, ...] = (
    checks_files.check_places,
    checks_files.check_modes,
    checks_files.check_links,
    checks_files.check_locks,
    checks_store.check_names,
    checks_store.check_records,
    checks_store.check_formats,
    checks_store.check_log,
    checks_store.check_index,
    checks_store.check_vectors,
    checks_store.check_tombstones,
    checks_store.check_partial,
    checks_files.check_leftovers,
    checks_files.check_other_programs,
)


def _memory_checks(patient: Patient) -> Iterable[Check]:
    for check in _MEMORY if patient.has_memory else _WITHOUT_MEMORY:
        yield from _guarded(check, patient)


#: What is checked of every agent. Another part of the program is one more item for `examine`.
MEMORY = Part((_memory_checks,), repair_memory)


class Request(NamedTuple):
    """What to examine: one agent or (None) all; ``fix`` repairs what is safe."""

    agent: str | None = None
    fix: bool = False
    parts: Sequence[Part] = (MEMORY,)


def examine(env: Environment, request: Request, progress: Progress = no_progress) -> Result:
    """Return every check of the state directory and of the agents, and how the run ends.

    Its exit status is 0 when all is ok, 14 when something is or was damaged, else 3.
    """
    agents = _agents(env, request.agent)
    checks, warnings = _state(env, request)
    for done, agent in enumerate(agents, 1):
        found, said = _agent(env, agent, request)
        checks += found
        warnings += [note._replace(message=f"{agent}: {note.message}") for note in said]
        progress("check", done, len(agents))
    states = [check.state for check in checks]
    data = {
        "checks": [check.document() for check in checks],
        "counts": {
            **{state: states.count(state) for state in ("ok", "fixable", "damaged")},
            "fixed": sum(check.fixed for check in checks),
        },
    }
    status = EXIT_DAMAGED if DAMAGED in states else EXIT_PARTIAL
    status = EXIT_DONE if set(states) <= {OK} else status
    return Result("doctor", data, tuple(warnings), status=status)


def _agents(env: Environment, chosen: str | None) -> list[str]:
    try:
        known = env.state.agent_ids()
    except (OSError, OpenclawError):
        known = []  # the check of the state directory tells
    if chosen is None:
        return known
    if chosen not in known:
        there = f"agents are: {', '.join(known[:8])}" if known else "there are none yet"
        raise NotFoundError(f"there is no agent {chosen!r} in {env.state.root}", hint=there)
    return [chosen]


def _state(env: Environment, request: Request) -> tuple[list[Check], list[Warning]]:
    found = list(check_state(env))
    wrong_modes = any(check.name == "modes" and check.state != OK for check in found)
    if not request.fix or not wrong_modes:
        return found, []
    said = repair_modes(shared_items(env.state))
    return _compared(found, list(check_state(env))), said


def _agent(env: Environment, agent: str, request: Request) -> tuple[list[Check], list[Warning]]:
    checks: list[Check] = []
    said: list[Warning] = []
    for part in request.parts:
        found = _found(env, agent, part)
        faulty = [check for check in found if check.state != OK]
        if request.fix and faulty and part.repair is not None:
            try:
                said += part.repair(Patient(env, agent), faulty)
            except (OSError, OpenclawError) as error:
                said.append(Warning("not-fixed", str(error), getattr(error, "path", None)))
            found = _compared(found, _found(env, agent, part))
        checks += found
    return checks, said


def _found(env: Environment, agent: str, part: Part) -> list[Check]:
    """Check a part of an agent; where somebody writes meanwhile, believe what is found twice."""
    patient = Patient(env, agent)
    before = patient.mark()
    found = _checked(patient, part)
    if before != patient.mark() and any(check.state != OK for check in found):
        known = {fault for check in found for fault in check.faults}
        found = [_steady(check, known) for check in _checked(Patient(env, agent), part)]
    return [check._replace(agent=agent) for check in found]


def _checked(patient: Patient, part: Part) -> list[Check]:
    return [result for check in part.checks for result in _guarded(check, patient)]


def _steady(check: Check, known: set[Fault]) -> Check:
    """Return a check without what was not so before: it is a write that is under way."""
    if check.state == OK or not check.faults or known.intersection(check.faults):
        return check
    return Check(check.name, OK, "in use: it is being written to")


def _guarded(check: AgentCheck, patient: Patient) -> list[Check]:
    """Run a check; what it cannot get past is what it has found."""
    try:
        return list(check(patient))
    except (OSError, OpenclawError) as error:
        name = check.__name__.removeprefix("check_").replace("_", " ")
        path = getattr(error, "path", None) or getattr(error, "filename", None)
        faults = (Fault(str(path or patient.paths.root), str(error)),)
        return [Check(name, DAMAGED, str(error), faults=faults, hint=getattr(error, "hint", None))]


def _compared(before: Sequence[Check], after: Sequence[Check]) -> list[Check]:
    """Return what was found before a repair, fixed where it was found to be ok after it."""
    earlier = {check.key: check for check in before}
    found = []
    for check in after:
        was = earlier.pop(check.key, None)
        if was is not None and was.state != OK and check.state == OK:
            check = was._replace(fixed=True)
        elif was is not None and was.state == DAMAGED:
            check = check._replace(state=DAMAGED)  # a part of it was set aside
        found.append(check)
    # A check that has nothing to say any more found what is no longer there.
    gone = [check._replace(fixed=True) for check in earlier.values() if check.state != OK]
    return gone + found
