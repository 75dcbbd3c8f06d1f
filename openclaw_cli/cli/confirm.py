"""What destroys something is asked about first, or told ``--yes``."""

from __future__ import annotations

import sys

from openclaw_cli.cli.context import Invocation
from openclaw_cli.cli.render import is_terminal
from openclaw_cli.errors import UsageError


def require_consent(invocation: Invocation, question: str, *, yes: bool) -> None:
    """Return if the operator agrees; raise `UsageError`, before anything is done, if not.

    Without a terminal nobody can be asked: then only ``--yes`` is consent.
    """
    if yes:
        return
    if invocation.output.json or not is_terminal(sys.stdin):
        raise UsageError(
            f"not done without consent: {question}",
            hint="give --yes to agree beforehand, or --dry-run to see what would be done",
        )
    invocation.output.ask(f"{question} [y/N]")
    answer = invocation.stdin().readline().strip().lower()
    if answer not in (b"y", b"yes"):
        raise UsageError("nothing was done", hint="answer y, or give --yes, to agree")
