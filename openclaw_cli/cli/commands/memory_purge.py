"""``memory purge``: forget everything of one user."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.confirm import confirm, require_answer
from openclaw_cli.cli.context import current
from openclaw_cli.cli.forgotten import COPIES, counts_of, in_groups, told
from openclaw_cli.cli.options import DryRun, Yes
from openclaw_cli.cli.proof import proved
from openclaw_cli.cli.source import check_argument
from openclaw_cli.cli.view import View
from openclaw_cli.result import Result, Warning

if TYPE_CHECKING:
    from openclaw_cli.cli.context import Invocation
    from openclaw_cli.memory.purging import Purged

EXAMPLES = (
    "openclaw memory purge --user 123456789 --dry-run",
    "openclaw memory purge --user 123456789 --all-agents --yes --verify",
)
EXITS = (errors.EXIT_NOT_FOUND, errors.EXIT_LOCKED, errors.EXIT_DAMAGED)
ALL_AGENTS = True
#: A digest to know it by would be a trace: a short text can be guessed from it.


def command(
    ctx: typer.Context,
    user: Annotated[str, typer.Option("--user", metavar="USER", help="Whose data to forget.")],
    sessions: Annotated[
        bool, typer.Option("--sessions", help="Their sessions and ledger lines, too.")
    ] = False,
    group_messages: Annotated[
        bool,
        typer.Option("--group-messages", help="With --sessions: what they said in others', too."),
    ] = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Then read every file for what must not be left anywhere."),
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> Result:
    """Forget everything of one user, and prove it.

    Removes the user's memories, insights that rest on nothing else, what the history of other
    memories repeats of them, backups and files set aside, and compacts the index at once. With
    --verify every file below the state directory is then searched for the ids and texts; any that
    is found makes it fail. Texts under 8 characters (4 of Han, kana or Hangul) are not looked for,
    as others may say them, too, but counted. Exports made before still hold what is forgotten, and
    as nothing is kept to know it by, an import brings it back: remove such files, too. A purge that
    is interrupted is finished by the next command that writes or by memory index.
    """
    from openclaw_cli.memory.requests import PurgeRequest

    invocation = current(ctx)
    if group_messages and not sessions:
        raise errors.UsageError("--group-messages is about sessions", hint="add --sessions")
    request = PurgeRequest(
        check_argument(user, "--user"), sessions, group_messages, dry_run=dry_run
    )
    require_answer(invocation, yes=yes, dry_run=dry_run)
    agents = _with_memory(invocation, sessions=sessions)
    if not dry_run and not yes:
        trial = request._replace(dry_run=True)
        plan = _data(invocation, trial, _purged(invocation, agents, trial))
        # With nothing to lose there is nothing to ask; the proof and what is unfinished go on.
        if any(map(counts_of, plan["agents"])):
            confirm(
                invocation,
                f"Forget user {request.user} for ever?",
                [*told(plan, view := invocation.output.view), *view.block(COPIES)],
            )
    done = _purged(invocation, agents, request)
    data = _data(invocation, request, done)
    warnings = tuple(
        said._replace(message=f"{report.agent}: {said.message}")
        for report in done
        for said in report.warnings
    )
    if verify and not dry_run:
        data["verified"] = proved(invocation, done, data)
        if not any(data["verified"][name] for name in ("idsSought", "textsSought")) and not any(
            report.cleaned for report in done
        ):
            message = "nothing was left to remove: only what names this user was looked for"
            warnings = (*warnings, Warning("nothing-sought", message))
    return Result("memory.purge", data, (*warnings, *_elsewhere_warning(data)))


def _with_memory(invocation: Invocation, *, sessions: bool) -> list[str]:
    """Return the agents to purge; the one that was named must have a memory."""
    if not invocation.all_agents:
        return invocation.agents
    state = invocation.state
    return [
        agent
        for agent in invocation.agents
        if state.memory(agent).exists() or (sessions and state.sessions(agent).exists())
    ]


def _purged(invocation: Invocation, agents: Iterable[str], request: Any) -> list[Purged]:
    with invocation.progress() as progress:
        return [invocation.memory(agent).purge(request, progress) for agent in agents]


def _data(invocation: Invocation, request: Any, done: list[Purged]) -> dict[str, Any]:
    from openclaw_cli.memory.proof import elsewhere

    agents = [
        {
            "agent": report.agent,
            "records": report.records,
            "insights": report.insights,
            "trimmed": report.trimmed,
            "sessions": report.sessions,
            "ledgerLines": report.ledger_lines,
            "groupMessages": report.group_messages,
            "cleanedSessions": report.cleaned,
            "groupMessagesLeft": report.group_messages_left,
            "groupSessions": report.groups,
            "backups": report.backups,
            "bytes": report.bytes,
            **({"ids": report.ids} if request.dry_run else {}),
        }
        for report in done
    ]
    others = elsewhere(invocation.state, request.user, [report.agent for report in done])
    return {
        "user": request.user,
        "agents": agents,
        "elsewhere": others,
        "dryRun": request.dry_run,
    }


def _elsewhere_warning(data: dict[str, Any]) -> list[Warning]:
    found = []
    if data["elsewhere"]:
        names = ", ".join(data["elsewhere"])
        message = f"other agents still hold data of this user: {names}; see --all-agents"
        found.append(Warning("elsewhere", message))
    groups = sum(len(part["groupSessions"]) for part in data["agents"])
    if groups:
        left = sum(part["groupMessagesLeft"] for part in data["agents"])
        message = f"{in_groups(left, groups)} stay; see --group-messages"
        found.append(Warning("group-messages", message))
    return found


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Sum up what was forgotten, and the proof; nothing when quiet."""
    if not view.quiet:
        yield from told(data, view)
