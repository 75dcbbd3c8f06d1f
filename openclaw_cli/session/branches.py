"""Branch points: named places in a history, each with a hash of all that lies before it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import ExistsError, InvalidNameError, NotFoundError
from openclaw_cli.paths import SessionFiles, check_name, valid_name
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.schema import is_idx
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.transcript import History
from openclaw_cli.store import fsio
from openclaw_cli.store.files import read_file
from openclaw_cli.store.fsio import reporting

VERSION = 1
_PIECE = 1 << 20


class Point(NamedTuple):
    """A branch point: the history up to message ``idx`` is its first ``size`` bytes."""

    name: str
    idx: int
    size: int
    sha256: str
    document: dict[str, Any]


def path_of(files: SessionFiles, name: str) -> Path:
    """Return the file of a branch point; the name is checked before the path is built."""
    return files.branches / f"{check_name('branch', name)}.json"


def branch(store: SessionStore, files: SessionFiles, name: str, at: int | None) -> Result:
    """Record a branch point after message ``at``, the last one by default."""
    path = path_of(files, name)
    if name.isdecimal():
        raise InvalidNameError(
            f"{name} cannot name a branch: ID:{name} means the message of that idx",
            hint="put a letter into the name",
        )
    with store.writing(files) as writer:
        if os.path.lexists(path):
            raise ExistsError(
                f"session {files.id} has a branch {name} already",
                path=str(path),
                hint="choose another name, or remove that file",
            )
        with transcript.opened(files) as history:
            idx, size = located(files, history, at)
            digest = sha256()
            for piece in pieces(history, size):
                digest.update(piece)
        document = {
            "version": VERSION,
            "sessionId": files.id,
            "name": name,
            "idx": idx,
            "bytes": size,
            "sha256": digest.hexdigest(),
            "createdAt": store.now(),
        }
        fsio.make_folder(files.branches)
        fsio.write_file(
            path, orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        )
    return Result("session.branch", document, tuple(writer.warnings))


def located(files: SessionFiles, history: History | None, at: int | None) -> tuple[int, int]:
    """Return the idx of a message (of the last one for None) and the byte where its line ends.

    Raises `NotFoundError` naming the last one when there is no such message.
    """
    last = None
    for found in _messages(history):
        if found[0] == at:
            return found
        if last is None or found[1] > last[1]:
            last = found
        if at is None and history is not None and not history.packed:
            break
    if at is None and last is not None:
        return last
    known = "it has no messages" if last is None else f"the last one is {last[0]}"
    wanted = "no message to branch at" if at is None else f"no message {at}"
    raise NotFoundError(
        f"session {files.id} has {wanted}: {known}",
        hint="openclaw session tail shows the last ones",
    )


def _messages(history: History | None) -> Iterator[tuple[int, int]]:
    """Yield idx and end of every message: a plain history's from its end."""
    if history is None:
        return
    if history.packed:
        history.source.seek(0)
        for line in history.forward():
            if line.message is not None:
                yield line.message["idx"], line.at + len(line.raw)
        return
    size = history.size
    for line in history.backward():
        if line.message is not None:
            yield line.message["idx"], min(size, line.at + len(line.raw) + 1)


def pieces(history: History | None, size: int) -> Iterator[bytes]:
    """Yield the first ``size`` bytes of a history."""
    if history is None:
        return
    history.source.seek(0)
    while size > 0 and (piece := history.source.read(min(_PIECE, size))):
        size -= len(piece)
        yield piece


def read(files: SessionFiles, name: str) -> Point:
    """Return a branch point.

    Raises `NotFoundError` when there is none and ``ValueError`` for a damaged one.
    """
    path = path_of(files, name)
    with reporting("read", path):
        try:
            data = read_file(path)
        except FileNotFoundError as error:
            known = ", ".join(names(files)[:8])
            raise NotFoundError(
                f"session {files.id} has no branch {name}",
                hint=f"it has: {known}" if known else "openclaw session branch makes one",
            ) from error
    document = orjson.loads(data)
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")
    idx, size, digest = document.get("idx"), document.get("bytes"), document.get("sha256")
    if not is_idx(idx) or not is_idx(size) or not isinstance(digest, str):
        raise ValueError("idx, bytes or sha256 is missing or of the wrong kind")
    return Point(name, idx, size, digest, document)


def names(files: SessionFiles) -> list[str]:
    """Return the names of the branch points of a session, in order."""
    with reporting("read", files.branches):
        try:
            found = os.listdir(files.branches)
        except (FileNotFoundError, NotADirectoryError):
            return []
    stems = (name.removesuffix(".json") for name in found if name.endswith(".json"))
    return sorted(filter(valid_name, stems))


class Survey(NamedTuple):
    """All branch points, which of them the history still begins as, and why others are damaged."""

    points: list[Point]
    matching: set[str]
    damaged: dict[str, str]


def survey(files: SessionFiles) -> Survey:
    """Read every branch point, and the history once up to the last of them."""
    points: list[Point] = []
    damaged: dict[str, str] = {}
    for name in names(files):
        try:
            points.append(read(files, name))
        except NotFoundError:
            continue  # removed since
        except ValueError as error:
            damaged[name] = str(error)
    if not points:
        return Survey([], set(), damaged)
    with transcript.opened(files) as history:
        return Survey(points, _matching(history, points), damaged)


def branches(store: SessionStore, files: SessionFiles) -> Result:
    """Return the branch points of a session, and whether the history still begins as it did then.

    The history is read once, up to the last of them.
    """
    _ = store
    found = survey(files)
    warnings = [
        Warning(
            "branch-damaged",
            f"session {files.id}: branch {name} is damaged: {reason}",
            str(path_of(files, name)),
        )
        for name, reason in found.damaged.items()
    ]
    items = [{**point.document, "matches": point.name in found.matching} for point in found.points]
    data = {"sessionId": files.id, "items": items, "total": len(items)}
    return Result("session.branches", data, tuple(warnings))


def _matching(history: History | None, points: list[Point]) -> set[str]:
    found = set()
    digest, done = sha256(), 0
    ordered = sorted(points, key=lambda point: point.size)
    stream = pieces(history, ordered[-1].size if ordered else 0)
    rest = b""
    for point in ordered:
        while done < point.size:
            rest = rest or next(stream, b"")
            if not rest:
                break
            taken = rest[: point.size - done]
            digest.update(taken)
            done += len(taken)
            rest = rest[len(taken) :]
        if done == point.size and digest.hexdigest() == point.sha256:
            found.add(point.name)
    return found
