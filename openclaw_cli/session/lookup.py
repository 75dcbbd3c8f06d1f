"""Which session an id, the end of one, or a channel and a chat mean; and making one."""

from __future__ import annotations

import os
from collections.abc import Callable

import orjson

from openclaw_cli.errors import (
    AmbiguousIdError,
    ExistsError,
    InvalidNameError,
    NotFoundError,
    OpenclawError,
)
from openclaw_cli.paths import SessionFiles, check_name
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import catalog, metadata
from openclaw_cli.session.lifecycle import STATUS
from openclaw_cli.session.listing import complete, moment_key
from openclaw_cli.session.requests import NewRequest
from openclaw_cli.session.schema import Meta, encode_meta, new_meta
from openclaw_cli.session.store import SessionStore, Survey, gone
from openclaw_cli.store import fsio

SHORT_ID = 8
#: Gets the files and the metadata of a session that is being made, and returns the latter anew.
Fill = Callable[[SessionFiles, Meta], Meta]
#: Endings that other programs, and our own files beside the sessions, have.
_TAKEN_ENDINGS = (".json", ".jsonl", ".lock")


def resolve(store: SessionStore, given: str) -> SessionFiles:
    """Return the files of the session whose id is ``given``, or ends in these 8 or more characters.

    Raises `NotFoundError` when there is none, `AmbiguousIdError` when there are several.
    """
    store.require()
    files = store.paths.session(given)
    if files.exist():
        return files
    matches = []
    if len(given) >= SHORT_ID:
        names = sorted(name for name in os.listdir(store.paths.root) if name.endswith(given))
        candidates = [store.paths.session(name) for name in names if not name.startswith(".")]
        matches = [found for found in candidates if found.exist()]
    if len(matches) > 1:
        shown = ", ".join(found.id for found in matches[:5])
        raise AmbiguousIdError(
            f"{given} fits {len(matches)} sessions: {shown}",
            hint="write more characters of the id",
        )
    if not matches:
        raise gone(given)
    return matches[0]


def new(store: SessionStore, request: NewRequest, fill: Fill | None = None) -> Result:
    """Make a session; the active one of the same channel and chat becomes dormant.

    ``fill`` puts into its folder what it is to begin with.
    """
    keyed = request.channel is not None and request.chat is not None
    warnings: list[Warning] = []
    _check_id(request.id)
    with store.looking_up():
        earlier = _matching(store, request, warnings)[0] if keyed else []
        meta = _make(store, request, fill)
        for match in earlier:
            if match["status"] == "active":
                _retire(store, match["sessionId"], warnings)
    return Result("session.new", meta, tuple(warnings))


def ensure(store: SessionStore, request: NewRequest) -> Result:
    """Return the session of a channel and chat, made if there is none.

    Of several the active one is meant, then the one that was active last. Many processes at once
    get the same one. Raises why the session cannot be read where it is known that there is one: a
    second one would take its place.
    """
    warnings: list[Warning] = []
    _check_id(request.id)
    with store.looking_up():
        matches, survey = _matching(store, request, warnings)
        if not matches:
            for unreadable in survey.unreadable.values():
                if _fits(unreadable.known, request):
                    raise unreadable.error
            return Result(
                "session.ensure", {**_make(store, request), "created": True}, tuple(warnings)
            )
        best = max(matches, key=_preference)
        # Who made it may have been killed before its name was safe.
        fsio.sync_folder(store.paths.root)
    data = {**complete(best, store.agent), "created": False}
    return Result("session.ensure", data, tuple(warnings))


def _preference(meta: Meta) -> tuple[bool, str, str]:
    return (meta["status"] == "active", moment_key(meta["lastActiveAt"]), meta["sessionId"])


def _matching(
    store: SessionStore, request: NewRequest, warnings: list[Warning]
) -> tuple[list[Meta], Survey]:
    """Return the sessions of a channel and chat that are not archived, and the walk through all."""
    survey = store.survey()
    needle = orjson.dumps({"chatId": request.chat})[1:-1]
    found = [meta for meta in store.walk(survey, needle) if _fits(meta, request)]
    store.tidy(survey)
    warnings += survey.warnings
    return found, survey


def _fits(meta: Meta, request: NewRequest) -> bool:
    place = (meta.get("channel"), meta.get("chatId"))
    return place == (request.channel, request.chat) and meta.get("status") != "archived"


def _check_id(given: str | None) -> None:
    """Refuse an id that cannot be one before the lock makes folders for it."""
    if given is None:
        return
    check_name("session", given)
    if given.endswith(_TAKEN_ENDINGS):
        raise InvalidNameError(
            f"{given!r} cannot be a session id",
            hint=f"a new id does not end in {', '.join(_TAKEN_ENDINGS)}",
        )


def _make(store: SessionStore, request: NewRequest, fill: Fill | None = None) -> Meta:
    """Make the folder of a new session whole, elsewhere, and give it its name in one step."""
    session_id = request.id or store.env.ids.new("s")
    files = store.paths.session(session_id)
    if os.path.lexists(files.folder):
        raise ExistsError(
            f"there is a session {session_id} already",
            path=str(files.folder),
            hint="choose another --id, or go on with that one",
        )
    meta = {**new_meta(session_id, store.agent, store.now()), **request.fields()}
    made = SessionFiles(fsio.temp_name(files.folder))
    fsio.make_folder(made.folder)
    if fill is not None:
        meta = fill(made, meta)
    fsio.write_file(made.meta, encode_meta(meta))
    fsio.move(made.folder, files.folder)
    stat = metadata.stat_of(os.stat(files.meta))
    store.catalog.note(catalog.put_line(session_id, meta, stat))
    return meta


def _retire(store: SessionStore, session_id: str, warnings: list[Warning]) -> None:
    """Make an earlier session of the key dormant; one that is being written to may stay active."""
    files = store.paths.session(session_id)
    try:
        with store.writing(files) as writer:
            if writer.meta["status"] == "active":
                STATUS.check("active", "dormant", whose=f"session {session_id}")
                writer.save({"status": "dormant"})
    except NotFoundError:
        return
    except OpenclawError as error:
        # The new one is there: who were told otherwise would make another.
        message = f"session {session_id} stays active: {error.message}"
        warnings.append(Warning("still-active", message, str(files.folder)))
