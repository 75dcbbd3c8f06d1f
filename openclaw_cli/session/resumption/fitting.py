"""Whether a checkpoint fits the history of its session, and if not, why."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from openclaw_cli.session.context.pairing import made_calls
from openclaw_cli.session.context.recent import Recent
from openclaw_cli.session.resumption.checkpoints import KIND, READY, Checkpoint, Stored
from openclaw_cli.session.schema import answered_call, is_time

#: Code and words of every answer; the words take the fields of `Fit`.
REASONS = {
    "fits": "the history ends in the tool batch of checkpoint {id}",
    "none": "there is no checkpoint",
    "damaged": "the checkpoint is damaged: {said}",
    "kind": "the checkpoint is of the kind {said}, not " + KIND,
    "state": "the checkpoint is {said}, not " + READY,
    "not-persisted": "the checkpoint does not say when it was stored (persistedAtUtc)",
    "history-longer": "the history has {length} messages, the checkpoint is of {said}",
    "history-shorter": "the history has only {length} messages, the checkpoint is of {said}",
    "tail-is-another-batch": "the history does not end in the tool batch of the checkpoint: {said}",
}


class Fit(NamedTuple):
    """The answer: its code, and what its words need."""

    reason: str
    length: int = 0
    said: str = ""
    id: str = ""

    @property
    def fits(self) -> bool:
        """Tell whether the session can be resumed from its checkpoint."""
        return self.reason == "fits"

    @property
    def explanation(self) -> str:
        """The answer in words."""
        return REASONS[self.reason].format(length=self.length, said=self.said, id=self.id)


def fit(stored: Stored, recent: Recent, count: int) -> Fit:
    """Return whether the checkpoint fits a history of ``count`` messages."""
    checkpoint = stored.checkpoint
    if checkpoint is None:
        return Fit("none" if stored.problem is None else "damaged", count, stored.problem or "")
    reason, said = _mismatch(checkpoint, count)
    if reason is None:
        other = _other_batch(checkpoint, recent)
        reason, said = ("fits", "") if other is None else ("tail-is-another-batch", other)
    return Fit(reason, count, said, checkpoint["checkpointId"])


def _mismatch(checkpoint: Checkpoint, count: int) -> tuple[str | None, str]:
    kind, known = checkpoint.get("kind", KIND), checkpoint["historyCount"]
    if kind != KIND:
        return "kind", kind
    if checkpoint["state"] != READY:
        return "state", checkpoint["state"]
    if not is_time(checkpoint.get("persistedAtUtc")):
        return "not-persisted", ""
    if count != known:
        return ("history-longer" if count > known else "history-shorter"), str(known)
    return None, ""


def _other_batch(checkpoint: Checkpoint, recent: Recent) -> str | None:
    """Return what the history ends in, None when that is the batch of the checkpoint.

    That is a message with its very calls, and after it nothing but their results, all of them.
    """
    wanted = Counter(call["callId"] for call in checkpoint.get("toolCalls") or [])
    if not wanted:
        return "it names no calls"
    results: Counter[str] = Counter()
    for entry in recent.backward():
        call = answered_call(entry.message)
        if call is not None:
            if call not in wanted:
                return "it ends in the result of another call"
            results[call] += 1
            continue
        made = Counter(made_calls(entry.message))
        if not made:
            return (
                f"it ends in a message of the {entry.role}"
                if not results
                else ("the results at its end have no call")
            )
        if made != wanted:
            return "the last calls are others"
        missing = [call_id for call_id in wanted if results[call_id] < wanted[call_id]]
        return None if not missing else f"{len(missing)} of its calls have no result"
    return "it has no call"
