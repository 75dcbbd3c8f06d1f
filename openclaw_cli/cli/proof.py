"""The proof of a purge as an operator is told it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from openclaw_cli.cli.context import Invocation
from openclaw_cli.cli.view import counted
from openclaw_cli.errors import NotForgottenError

if TYPE_CHECKING:
    from openclaw_cli.memory.purging import Purged


def proved(invocation: Invocation, done: list[Purged], data: dict[str, Any]) -> dict[str, Any]:
    """Return what was looked through after a purge; raise `NotForgottenError` for what is left."""
    from openclaw_cli.memory.proof import verify

    ids = {name for report in done for name in report.ids}
    texts = {text for report in done for text in report.texts}
    with invocation.progress() as progress:
        # Once everything is gone, only what names the user can tell of a copy elsewhere.
        verified = verify(invocation.state, ids, texts, data["user"], progress)
    if verified["matches"] or verified["unread"]:
        raise _not_forgotten(verified, {**data, "verified": verified})
    return verified


def _not_forgotten(verified: dict[str, Any], data: dict[str, Any]) -> NotForgottenError:
    where, unread = verified["where"], verified["unread"]
    first = [*where, *unread][0]["path"]
    others = sum(1 for item in where if "userId" in item)
    verb = "holds" if len(where) == 1 else "hold"
    message = f"purged, but {counted(len(where), 'file')} {verb} purged ids or texts"
    if others:
        message += f" ({others} of them memories in which other users say the same)"
    if unread:
        message += f", and {counted(len(unread), 'file')} could not be read"
    return NotForgottenError(
        f"{message}; the first is {first}",
        hint="--json lists them all; what is not another user's own memory should be removed",
        path=first,
        details={"data": data},
    )
