"""Commands that can work on every agent in turn (``--all-agents``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from openclaw_cli.cli.context import Invocation
from openclaw_cli.cli.view import View
from openclaw_cli.errors import OpenclawError
from openclaw_cli.result import Result, Warning

if TYPE_CHECKING:
    from openclaw_cli.memory.service import MemoryService
    from openclaw_cli.session.service import SessionService

S = TypeVar("S")


def for_each_agent(invocation: Invocation, work: Callable[[MemoryService], Result]) -> Result:
    """Return the result for the chosen agent, or ``agents: [...]`` of all of them.

    With all agents, one that fails is listed under ``failed``, one that has sessions but no memory
    under ``skipped``, and the others go on.
    """
    state = invocation.state
    return _each(invocation, invocation.memory, lambda agent: state.memory(agent).exists(), work)


def sessions_of_each(invocation: Invocation, work: Callable[[SessionService], Result]) -> Result:
    """Do for sessions what `for_each_agent` does for memories."""
    state = invocation.state
    return _each(
        invocation, invocation.sessions, lambda agent: state.sessions(agent).exists(), work
    )


def _each(
    invocation: Invocation,
    opened: Callable[..., S],
    exists: Callable[[str], bool],
    work: Callable[[S], Result],
) -> Result:
    if not invocation.all_agents:
        return work(opened())
    done: list[dict[str, Any]] = []
    skipped: list[str] = []
    failed: list[dict[str, Any]] = []
    warnings: list[Warning] = []
    for agent in invocation.agents:
        try:
            if not exists(agent):
                skipped.append(agent)
                continue
            result = work(opened(agent))
        except OpenclawError as error:
            failed.append({"id": agent, "code": error.code, "reason": error.message})
            continue
        done.append({"agent": agent, **result.data})
        items = result.data.get("failed") or ()
        failed += [{**item, "reason": f"{agent}: {item['reason']}"} for item in items]
        warnings += [said._replace(message=f"{agent}: {said.message}") for said in result.warnings]
    kind = invocation.path.replace(" ", ".")
    data = {"agents": done, "skipped": skipped, "failed": failed}
    return Result(kind, data, tuple(warnings))


def lines_for_each(
    data: dict[str, Any],
    view: View,
    lines: Callable[[dict[str, Any], View], Iterable[str]],
    what: str = "memory",
) -> Iterator[str]:
    """Yield the lines of one result, or of each agent's under its name."""
    if "agents" not in data:
        yield from lines(data, view)
        return
    for place, part in enumerate(data["agents"]):
        if place:
            yield ""
        yield view.style(view.cut(f"{part['agent']}:"), "bold")
        yield from lines(part, view)
    if data["skipped"]:
        yield from view.block(f"no {what}, skipped: {', '.join(data['skipped'])}")
