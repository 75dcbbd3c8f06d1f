"""Asking before something is destroyed: what will happen, and to how many."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_cli.cli.context import Invocation
from openclaw_cli.errors import DeclinedError, UsageError


def require_answer(invocation: Invocation, *, yes: bool, dry_run: bool) -> None:
    """Raise `UsageError` before anything is read where nobody can be asked."""
    if not (yes or dry_run or invocation.output.can_ask):
        raise UsageError(
            f"{invocation.path} asks before it acts, and there is no terminal to ask on",
            hint="add --yes to do it, or --dry-run to see what would happen",
        )


def confirm(invocation: Invocation, question: str, lines: Iterable[str]) -> None:
    """Ask on the terminal; anything but y or yes raises `DeclinedError`."""
    answer = invocation.output.ask(f"{question} [y/N]", lines)
    if answer.strip().lower() not in ("y", "yes"):
        raise DeclinedError("nothing was changed", hint="answer y to do it")


def require_consent(invocation: Invocation, question: str, *, yes: bool) -> None:
    """Ask unless ``--yes`` was given; raise where nobody can be asked or does not agree."""
    require_answer(invocation, yes=yes, dry_run=False)
    if not yes:
        confirm(invocation, question, ())
