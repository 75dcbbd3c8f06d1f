"""``session context``: a history made to fit a budget, in the form that is wanted."""

from __future__ import annotations

from typing import Any, NamedTuple

from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session.context.formats import formatted
from openclaw_cli.session.context.pruning import Lead, Window, sliding
from openclaw_cli.session.context.recent import WINDOW_BYTES, Recent, reading
from openclaw_cli.session.requests import ContextRequest
from openclaw_cli.session.store import SessionStore


class Pruned(NamedTuple):
    """The window that a strategy has made; ``strategy`` is the one that was really used."""

    strategy: str
    window: Window
    warnings: tuple[Warning, ...] = ()
    explained: dict[str, Any] | None = None


def build(store: SessionStore, files: SessionFiles, request: ContextRequest) -> Result:
    """Return the context of a session; nothing is written but a new summary."""
    loaded = store.load(files)
    config = store.env.config
    budget = request.budget or config.integer("session.context.budget")
    strategy = request.strategy or config.text("session.context.pruneStrategy")
    count = int(loaded.meta["messageCount"])
    with reading(files) as recent:
        pruned = _pruned(store, recent, strategy, budget, count)
        warnings = [*loaded.warnings, *recent.warnings, *pruned.warnings]
    warnings += window_warnings(pruned.window, count)
    data = {
        "sessionId": files.id,
        "strategy": pruned.strategy,
        "requested": strategy,
        "budget": budget,
        **described(pruned.window, count),
        "format": request.format,
        **formatted([entry.message for entry in pruned.window.entries], request.format),
    }
    if request.explain:
        data["explain"] = pruned.explained or _weights(pruned.window)
    return Result("session.context", data, tuple(warnings))


def described(window: Window, count: int) -> dict[str, Any]:
    """Return what a window takes, whether that is estimated, and how many messages it leaves out.

    ``estimatedTokens`` is the part of ``tokens`` that is.
    """
    kept = sum(entry.place >= 0 for entry in window.entries)
    return {
        "tokens": window.weight.tokens,
        "estimated": window.weight.estimated > 0,
        "estimatedTokens": window.weight.estimated,
        "messageCount": count,
        "dropped": max(0, count - kept),
    }


def window_warnings(window: Window, count: int) -> list[Warning]:
    """Return what is to be told about a window besides its messages."""
    warnings = []
    if window.limited:
        said = f"more would fit the budget; a context holds {WINDOW_BYTES >> 20} MiB at most"
        warnings.append(Warning("window-limited", said))
    if count and not any(entry.role == "user" for entry in window.entries):
        said = "no user has said anything: a few words stand for it where a model needs a user"
        warnings.append(Warning("no-user-message", said))
    return warnings


def _pruned(store: SessionStore, recent: Recent, strategy: str, budget: int, count: int) -> Pruned:
    if strategy == "importance":
        from openclaw_cli.session.context import importance

        weights = importance.Weights.of(store.env.config)
        choice = importance.choose(recent, budget, weights, count)
        return Pruned(strategy, choice.window, (), importance.explain(choice, weights, count))
    if strategy == "summary":
        return _summary(store, recent, budget, count)
    return Pruned("sliding-window", sliding(recent, budget))


def _summary(store: SessionStore, recent: Recent, budget: int, count: int) -> Pruned:
    """Return the summary and what follows it; the window where there is none or no room for it."""
    from openclaw_cli.errors import UsageError
    from openclaw_cli.session.context.compaction import summarised

    summary, warnings = summarised(store, recent, count)
    if summary is not None:
        try:
            window = sliding(recent, budget, lead=Lead(summary.entry(), summary.last))
            return Pruned("summary", window, warnings)
        except UsageError:
            said = f"the summary does not fit {budget} tokens; the window is used"
            warnings = (*warnings, Warning("summary-too-long", said))
    elif not warnings:
        said = "the history is short enough to do without a summary; the window is used"
        warnings = (Warning("no-summary", said),)
    return Pruned("sliding-window", sliding(recent, budget), warnings)


def _weights(window: Window) -> dict[str, Any]:
    """Return what each message of a window takes."""
    rows = [
        {
            "idx": entry.message.get("idx"),
            "tokens": entry.weight.tokens,
            "estimated": entry.weight.estimated > 0,
        }
        for entry in window.entries
    ]
    return {"messages": rows}
