"""Branch points: named places in a history, each with a hash of all that lies before it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import DamagedError, ExistsError, InvalidNameError, NotFoundError
from openclaw_cli.paths import SessionFiles, check_name, valid_name
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import transcript
from openclaw_cli.session.lines import NOT_ALONE
from openclaw_cli.session.schema import TOO_DEEP, is_idx, is_time, too_deep
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.transcript import History
from openclaw_cli.store import fsio, jsonl
from openclaw_cli.store.files import read_file
from openclaw_cli.store.fsio import reporting

VERSION = 1
_PIECE = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")


class Point(NamedTuple):
    """A branch point: the history up to message ``idx`` is its first ``size`` bytes.

    Its name and session are those of its file, whatever the ``document`` in it said.
    """

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
        _require_own_folder(files)
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
            end = line.at + len(line.raw)
            alone = line.problem != NOT_ALONE
            if alone or os.pread(history.source.fileno(), 1, end) == b"\n":
                end += 1
            yield line.message["idx"], min(size, end)


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
    _require_own_folder(files)
    with reporting("read", path):
        try:
            data = read_file(path)
        except FileNotFoundError as error:
            known = ", ".join(names(files)[:8])
            raise NotFoundError(
                f"session {files.id} has no branch {name}",
                hint=f"it has: {known}" if known else "openclaw session branch makes one",
            ) from error
    document, reason = jsonl.decode(data)
    if reason is not None:
        raise ValueError(f"no JSON: {reason}")
    return point_of(document, files.id, name)


def point_of(document: object, session_id: str, name: str) -> Point:
    """Return the branch point that a document describes; raises ``ValueError`` for another one."""
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")
    if too_deep(document):
        raise ValueError(f"it is {TOO_DEEP}")
    idx, size, digest = document.get("idx"), document.get("bytes"), document.get("sha256")
    if not is_idx(idx) or not is_idx(size):
        raise ValueError("idx or bytes is missing or no whole number from 0 on")
    if not isinstance(digest, str) or _SHA256.fullmatch(digest) is None:
        raise ValueError("sha256 is missing or no digest")
    if not is_time(document.get("createdAt")):
        raise ValueError("createdAt is missing or no ISO-8601 time with a zone")
    return Point(name, idx, size, digest, {**document, "sessionId": session_id, "name": name})


def _require_own_folder(files: SessionFiles) -> None:
    """Raise `DamagedError` where a link, which may lead out of the store, or a file stands."""
    path = files.branches
    with reporting("read", path):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return
    if not stat.S_ISDIR(mode):
        raise DamagedError(
            f"{path} is not a folder", path=str(path), hint="move away what stands there"
        )


def names(files: SessionFiles) -> list[str]:
    """Return the names of the branch points of a session, in order.

    Other files are not ours. Raises `DamagedError` where no folder stands in place of theirs.
    """
    _require_own_folder(files)
    with reporting("read", files.branches):
        try:
            found = os.listdir(files.branches)
        except FileNotFoundError:
            return []
    stems = (name.removesuffix(".json") for name in found if name.endswith(".json"))
    return sorted(filter(valid_name, stems))


class Survey(NamedTuple):
    """All branch points, which of them the history still begins as, and why others are damaged.

    ``waiting`` of the matching ones fit as they were before a repair that was cut short.
    """

    points: list[Point]
    matching: set[str]
    damaged: dict[str, str]
    waiting: frozenset[str] = frozenset()


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
        matching = _matching(history, points)
        others = [point for point in points if point.name not in matching]
        waiting = frozenset(_matching(history, list(filter(None, map(_earlier, others)))))
    return Survey(points, matching | waiting, damaged, waiting)


def _earlier(point: Point) -> Point | None:
    """Return a branch point as it was before the history was repaired, if it was."""
    before = point.document.get("repaired")
    if not isinstance(before, dict):
        return None
    size, digest = before.get("bytes"), before.get("sha256")
    if not is_idx(size) or not isinstance(digest, str):
        return None
    return point._replace(size=size, sha256=digest)


def fitting(history: History | None, point: Point) -> Point:
    """Return a branch point as the history begins: as it was, where a repair was cut short."""
    earlier = _earlier(point)
    if earlier is None or _matching(history, [point]) or not _matching(history, [earlier]):
        return point
    return earlier


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
