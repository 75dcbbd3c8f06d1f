"""``doctor``: check everything, and repair what is safe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from openclaw_cli import errors
from openclaw_cli.cli.context import current
from openclaw_cli.cli.view import View, counted
from openclaw_cli.paths import StatePaths, check_name, resolve_state_dir
from openclaw_cli.result import Result

if TYPE_CHECKING:
    from openclaw_cli.config import Config

EXAMPLES = ("openclaw doctor", "openclaw doctor --fix", "openclaw doctor --agent main --json")
EXITS = (errors.EXIT_PARTIAL, errors.EXIT_NOT_FOUND, errors.EXIT_DAMAGED)
ALL_AGENTS = True

#: Cells that the detail of a check needs to stand beside its name.
_LEAST = 20
_STYLES = {"fixed": "cyan", "fixable": "yellow", "damaged": "red"}


def command(
    ctx: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what is safe; set damage aside, delete none.")
    ] = False,
) -> Result:
    """Check everything, and repair what is safe.

    All agents are checked unless --agent names one. Without --fix nothing is written. With it modes
    are corrected, unfinished writes finished, damaged files kept as *.bad-TIME, and the index is
    brought up to date without making vectors. Exit status 3: something was or can be repaired;
    14: something is damaged, or was and has been set aside.
    """
    from openclaw_cli.cli.checks import PARTS
    from openclaw_cli.memory.doctor.checkup import Request, examine

    invocation = current(ctx)
    _ = invocation.all_agents  # refuses it together with --agent
    agent = invocation.given.get("agent")
    state = StatePaths(resolve_state_dir(invocation.given.get("state_dir")))
    env = invocation.environment(state, _config(state))
    chosen = None if agent is None else check_name("agent", agent)
    with invocation.progress() as progress:
        return examine(env, Request(chosen, fix, PARTS), progress)


def _config(state: StatePaths) -> Config:
    """Return the configuration, or the defaults where a check tells what is wrong with it."""
    from openclaw_cli.config import Config

    try:
        return Config.load(state.config)
    except errors.OpenclawError:
        return Config.defaults()


def lines(data: dict[str, Any], view: View) -> Iterator[str]:
    """Show one line a check; only what is not ok when quiet, every fault when verbose."""
    checks = [c for c in data["checks"] if not (view.quiet and c["ok"])]
    width = max((len(_subject(check)) for check in checks), default=0)
    for check in checks:
        word = "fixed" if check["fixed"] else check["state"]
        head = view.style(f"{word:<8}", _STYLES.get(word, "dim"))
        if view.width is not None and view.width - width - 11 < _LEAST:
            yield f"{head} {_subject(check)}"
            yield from view.block(check["detail"], indent=9)
        else:
            yield f"{head} {_subject(check):<{width}}  {_room(view, width).cut(check['detail'])}"
        if check["hint"] and not check["ok"] and not check["fixed"]:
            yield from view.block(f"hint: {check['hint']}", indent=9)
        if view.verbose:
            for fault in check["faults"]:
                yield from view.block(f"{fault['path']}: {fault['reason']}", indent=9)
    if not view.quiet:
        yield _sum(data["counts"])


def _subject(check: dict[str, Any]) -> str:
    return f"{check['agent']}: {check['name']}" if check["agent"] else str(check["name"])


def _room(view: View, width: int) -> View:
    """Return a view of the cells that are left of a line beside the state and the subject."""
    return view if view.width is None else view._replace(width=view.width - width - 11)


def _sum(counts: dict[str, int]) -> str:
    wrong = [f"{counts[name]} {name}" for name in ("fixable", "damaged") if counts[name]]
    if not wrong:
        return f"{counted(counts['ok'], 'check')}, all ok"
    fixed = f"; {counts['fixed']} fixed" if counts["fixed"] else "; --fix repairs what is safe"
    return f"{counts['ok']} ok, {', '.join(wrong)}{fixed}"
