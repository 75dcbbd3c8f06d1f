"""``session new --from``: a session that begins as another one did."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from openclaw_cli.errors import DamagedError, LockedError, NotFoundError, OpenclawError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import branches, lookup, transcript
from openclaw_cli.session.requests import NewRequest
from openclaw_cli.session.schema import MOST, Meta, Totals
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.transcript import History
from openclaw_cli.store import fsio
from openclaw_cli.store.newfile import NewFile

_MOST_DIGITS = len(str(MOST))


class Prefix(NamedTuple):
    """The beginning of a history: its bytes, and their digest where one is known."""

    size: int
    sha256: str | None = None


def fork(store: SessionStore, request: NewRequest, given: str) -> Result:
    """Make a session whose history is that of another one up to a branch, a message, or now.

    ``given`` is the other's id, alone or followed by a colon and the name of a branch or an idx.
    User and model are taken over where the request names none, channel and chat are not: they go
    on meaning the session that they mean.
    """
    name, _, point = given.partition(":")
    files = lookup.resolve(store, name)
    parent = store.load(files)
    request = request._replace(
        user=request.user or parent.meta["userId"], model=request.model or parent.meta["model"]
    )
    with transcript.opened(files) as history:
        prefix = _prefix(files, history, point)

        def fill(made: SessionFiles, meta: Meta) -> Meta:
            try:
                _copy(files, history, made, prefix)
            except OpenclawError:
                fsio.remove_tree(made.folder)
                raise
            return {**meta, **_counters(made), "parentSessionId": files.id}

        result = lookup.new(store, request, fill)
    warnings = [*parent.warnings, *result.warnings, *_adopt(store, files, result.data["sessionId"])]
    return result._replace(warnings=tuple(warnings))


def _prefix(files: SessionFiles, history: History | None, point: str) -> Prefix:
    if point and not point.isdecimal():
        try:
            found = branches.fitting(history, branches.read(files, point))
        except ValueError as error:
            path = str(branches.path_of(files, point))
            raise DamagedError(
                f"{path}: {error}", path=path, hint="name the message by its idx instead"
            ) from error
        return Prefix(found.size, found.sha256)
    if not point and history is None:
        return Prefix(0)
    return Prefix(branches.located(files, history, _idx(point) if point else None)[1])


def _idx(digits: str) -> int:
    """Return the idx that is meant; of longer numbers than an idx can be, one that is not there."""
    return int(digits) if len(digits) <= _MOST_DIGITS else MOST


def _copy(files: SessionFiles, history: History | None, made: SessionFiles, prefix: Prefix) -> None:
    """Write the beginning of a history; raises `DamagedError` when it is not what it was."""
    if not prefix.size:
        return
    digest, length = sha256(), 0
    with NewFile(made.history) as target:
        for piece in branches.pieces(history, prefix.size):
            digest.update(piece)
            length += len(piece)
            target.write(piece)
    if length != prefix.size or prefix.sha256 not in (None, digest.hexdigest()):
        raise DamagedError(
            f"the history of session {files.id} no longer begins as it did at that branch",
            path=str(files.history),
            hint="name the message by its idx instead, after openclaw session verify",
        )


def _counters(made: SessionFiles) -> Meta:
    """Return the counters that a copied history adds up to."""
    totals, count = Totals(), 0
    with transcript.opened(made) as history:
        for line in history.forward() if history is not None else ():
            if line.message is not None:
                totals, count = totals.plus(line.message), line.message["idx"] + 1
    return {**totals.added_to({}), "messageCount": count}


def _adopt(store: SessionStore, files: SessionFiles, child: str) -> list[Warning]:
    """Note the new session in the other one's metadata; what it says itself is what counts."""
    try:
        with store.writing(files) as writer:
            writer.save({"childSessionIds": [*writer.meta["childSessionIds"], child]})
            return []
    except (LockedError, NotFoundError) as error:
        said = f"session {files.id} does not name the new one: {error.message}"
        return [Warning("parent-not-told", said, str(files.folder))]
