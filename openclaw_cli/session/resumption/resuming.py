"""``session resume``: go on from the checkpoint where it fits, else with the conversation."""

from __future__ import annotations

from typing import Any, NamedTuple

from openclaw_cli.errors import UsageError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import appending, archive, catalog
from openclaw_cli.session.context.attachments import NO_TEXT, words
from openclaw_cli.session.context.build import described, window_warnings
from openclaw_cli.session.context.formats import formatted
from openclaw_cli.session.context.pairing import made_calls
from openclaw_cli.session.context.pruning import Window, sliding
from openclaw_cli.session.context.recent import Recent, reading
from openclaw_cli.session.lifecycle import RUN_STATE, STATUS
from openclaw_cli.session.requests import ResumeRequest
from openclaw_cli.session.resumption import checkpoints
from openclaw_cli.session.resumption.fitting import Fit, fit
from openclaw_cli.session.schema import Message
from openclaw_cli.session.store import SessionStore, Writer

#: Messages that only ask to go on, in lower case.
BARE = frozenset({"", "resume", "continue", "/resume", "/continue"})

_DONE = (
    "[Resumed] The run was interrupted after the tool calls above had completed ({calls})."
    " Their results are complete: do not run them again. Go on from there."
)
_NOTE = "[Note of the operator] {text}"
_GO_ON = "[Resumed] Go on with the conversation from where it stopped."


class Resumption(NamedTuple):
    """What the session's lock was held for: the fit, and the messages that come after."""

    fit: Fit
    warnings: tuple[Warning, ...]
    run_state: str


def is_bare(message: str | None) -> bool:
    """Tell whether an operator's message says nothing but to go on."""
    return message is None or message.strip().lower() in BARE


def resume(store: SessionStore, files: SessionFiles, request: ResumeRequest) -> Result:
    """Make a session active and return the messages with which its run goes on.

    From a checkpoint that fits, nothing is appended to the history: the messages end in the batch
    of tool calls, an instruction not to run them again, and the operator's note unless it is bare.
    Otherwise the operator's message is appended as what a user says.
    """
    note = None if is_bare(request.message) else str(request.message).strip()
    resumed = _prepare(store, files)
    warnings = list(resumed.warnings)
    appended = None
    if note is not None and not resumed.fit.fits:
        said = appending.checked({"role": "user", "content": note}, store.now())
        result = appending.append(store, files, [said])
        appended = result.data["firstIdx"]
        warnings += result.warnings
    loaded = store.load(files)
    count = int(loaded.meta["messageCount"])
    with reading(files) as recent:
        needed = int(resumed.fit.fits)
        window = _window(
            store, recent, request, warnings, needed=needed, stored=appended is not None
        )
        warnings += recent.warnings
    warnings += window_warnings(window, count)
    messages = [entry.message for entry in window.entries]
    messages += _following(messages, resumed.fit, note if appended is None else None)
    data: dict[str, Any] = {
        "sessionId": files.id,
        "resumed": "checkpoint" if resumed.fit.fits else "continuation",
        "reason": resumed.fit.reason,
        "explanation": resumed.fit.explanation,
        "runState": resumed.run_state,
        "appended": appended,
        **described(window, count),
        "format": request.format,
        **formatted(messages, request.format),
    }
    return Result("session.resume", data, tuple(warnings))


def _prepare(store: SessionStore, files: SessionFiles) -> Resumption:
    """Unpack and wake the session, look at its checkpoint and record the attempt."""
    with store.writing(files) as writer:
        # From here on the catalogue knows that it must ask, wherever this process is killed.
        store.catalog.add(catalog.mark_line(files.id))
        archive.unpack(writer)
        stored = checkpoints.read(files)
        tail = writer.loaded.tail
        count = writer.meta["messageCount"] if tail is None else tail.next_idx
        with reading(files) as recent:
            found = fit(stored, recent, count)
        if stored.checkpoint is not None:
            attempt = {**stored.checkpoint, "lastResumeAttemptAtUtc": store.now()}
            checkpoints.save(files, attempt, store.env.clock)
        run_state = _wake(writer)
        warnings = list(writer.warnings)
        if stored.problem is not None:
            said = f"session {files.id}: checkpoint.json: {stored.problem}"
            warnings.append(Warning("checkpoint-damaged", said, str(files.checkpoint)))
        return Resumption(found, tuple(warnings), run_state)


def _wake(writer: Writer) -> str:
    """Set status and run state as of a session that goes on; return the latter."""
    meta, whose = writer.meta, f"session {writer.files.id}"
    if meta["status"] != "active":
        STATUS.check(meta["status"], "active", whose=whose)
    current = meta["runState"]
    wanted = "continuing" if "continuing" in RUN_STATE.allowed[current] else "running"
    RUN_STATE.check(current, wanted, whose=whose)
    writer.save({"status": "active", "runState": wanted, "lastActiveAt": writer.store.now()})
    return wanted


def _window(
    store: SessionStore,
    recent: Recent,
    request: ResumeRequest,
    warnings: list[Warning],
    *,
    needed: int,
    stored: bool,
) -> Window:
    """Return the window of the context; the budget grows where the batch itself needs more.

    It does as well where the operator's message has been ``stored``: who were told that the command
    has failed would have it appended again.
    """
    budget = request.budget or store.env.config.integer("session.context.budget")
    try:
        return sliding(recent, budget, needed=needed)
    except UsageError as error:
        least = error.details.get("least")
        if not (needed or stored) or not isinstance(least, int):
            raise
    what = "tool batch" if needed else "last message"
    said = f"the {what} takes more than {budget} tokens: the messages take {least}"
    warnings.append(Warning("budget-exceeded", said))
    return sliding(recent, least, needed=needed)


def _following(messages: list[Message], found: Fit, note: str | None) -> list[Message]:
    """Return what is said after the history and not kept in it."""
    if found.fits:
        last = next(message for message in reversed(messages) if made_calls(message))
        calls = ", ".join(
            f"{call.get('name')} {call.get('id')}"
            for call in last["toolCalls"]
            if isinstance(call, dict)
        )
        said = [_DONE.format(calls=calls)]
        said += [] if note is None else [_NOTE.format(text=note)]
        return [{"role": "user", "content": text} for text in said]
    if messages and _asks(messages[-1]):
        return []
    return [{"role": "user", "content": _GO_ON}]


def _asks(message: Message) -> bool:
    """Tell whether a message leaves it to the assistant to go on."""
    return message["role"] == "tool" or (message["role"] == "user" and words(message) != NO_TEXT)
