"""One session of an import: made out of sight, proved, and put in its place in one step."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator
from typing import Any

import orjson

from openclaw_cli import ids
from openclaw_cli.clock import parse_time, to_millis
from openclaw_cli.errors import InvalidTextError, NotFoundError
from openclaw_cli.paths import SessionFiles, valid_name
from openclaw_cli.result import Warning, counted
from openclaw_cli.session import branches, catalog, metadata, transcript
from openclaw_cli.session.lines import TOO_LONG
from openclaw_cli.session.resumption import checkpoints
from openclaw_cli.session.schema import (
    LINE_LIMIT,
    TOO_DEEP,
    Message,
    Meta,
    Totals,
    encode_meta,
    is_idx,
    message_problem,
    new_meta,
    sound_fields,
    too_deep,
)
from openclaw_cli.session.store import SessionStore
from openclaw_cli.store import fsio, trash
from openclaw_cli.store.newfile import NewFile
from openclaw_cli.transfer.sessions.file import Tally
from openclaw_cli.transfer.sessions.points import Points

Store = SessionStore
_GZIP_WINDOW = 31
#: Endings that a session id cannot have: other files beside the sessions have them.
_TAKEN_ENDINGS = (".json", ".jsonl", ".lock")
#: Odd messages that the warning about them names.
_NAMED = 5


class Draft:
    """A session that is being read; with ``dry_run`` everything is checked and nothing written.

    ``document`` is its first line. Raises `InvalidTextError` for metadata that cannot be kept.
    """

    def __init__(self, store: SessionStore, document: dict[str, Any], *, dry_run: bool) -> None:
        given = document["session"]
        self.session_id = name if isinstance(name := given.get("sessionId"), str) else ""
        self.warnings: list[Warning] = []
        self.tally = Tally()
        self.meta = self._checked(store, given)
        self._branches = self._usable_branches(document.get("branches"))
        self._checkpoint = self._usable_checkpoint(document.get("checkpoint"))
        self._points = Points(document.get("branches"))
        self._totals, self._following = Totals(), 0
        self._odd: list[str] = []
        self._odd_count = 0
        self._file: NewFile | None = None
        self._packer: Any = None
        self.files = SessionFiles(fsio.temp_name(store.paths.incoming / self.session_id))
        self.writes = not dry_run
        if self.writes:
            self._open()

    def _checked(self, store: SessionStore, given: Meta) -> Meta:
        if not valid_name(self.session_id) or self.session_id.endswith(_TAKEN_ENDINGS):
            raise InvalidTextError(f"{repr(self.session_id)[:80]} is no session id")
        sound, problems = sound_fields(given)
        if problems:
            raise InvalidTextError(f"the metadata cannot be used: {problems[0]}")
        if "createdAt" not in sound:
            raise InvalidTextError("the metadata have no createdAt")
        base = new_meta(self.session_id, store.agent, sound["createdAt"])
        return {**base, **sound, "agentId": store.agent}

    def _open(self) -> None:
        fsio.make_folder(self.files.folder)
        packed = self.meta["status"] == "archived"
        if packed:
            self._packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW)
        self._file = NewFile(self.files.packed if packed else self.files.history)
        self._file.__enter__()

    def add(self, raw: bytes, message: Message) -> None:
        """Take one message; raises `InvalidTextError` for one that no history can hold.

        What a history can hold and ``session append`` would not take is kept as it is, with a
        warning: a backup of a history that other programs have written to must come back.
        """
        idx = message.get("idx")
        if not is_idx(idx):
            raise InvalidTextError("a message has no idx")
        if too_deep(message, raw):
            raise InvalidTextError(f"message {idx}: {TOO_DEEP}")
        if len(raw) > LINE_LIMIT:
            raise InvalidTextError(f"message {idx}: {TOO_LONG}")
        if idx < self._following:
            self._note(f"message {idx} comes after message {self._following - 1}")
        problem = message_problem(message)
        if problem is not None:
            self._note(f"message {idx}: {problem}")
        self._following = max(self._following, idx + 1)
        self._totals = self._totals.plus(message)
        self.tally.add(raw)
        self._points.add(raw)
        self._write(raw + b"\n")

    def _note(self, oddity: str) -> None:
        self._odd_count += 1
        if len(self._odd) < _NAMED:
            self._odd.append(oddity)

    def _write(self, data: bytes) -> None:
        if self._file is not None:
            self._file.write(data if self._packer is None else self._packer.compress(data))

    def check_end(self, end: dict[str, Any]) -> None:
        """Compare what was read with the end line; raises `InvalidTextError` if they differ."""
        if end.get("sessionId") != self.session_id:
            raise InvalidTextError("the end line is that of another session")
        if end.get("messages") != self.tally.count:
            raise InvalidTextError(
                f"{counted(self.tally.count, 'message')} where {end.get('messages')} are due"
            )
        if end.get("sha256") not in (None, self.tally.sha256):
            raise InvalidTextError(
                "the messages are not those that were exported: their digest differs"
            )
        if self._odd_count:
            more = self._odd_count - len(self._odd)
            told = "; ".join([*self._odd, *([f"{more} more"] if more else [])])
            self._warn("odd-messages", f"kept as they are: {told}")

    def _warn(self, code: str, said: str) -> None:
        self.warnings.append(Warning(code, f"session {self.session_id}: {said}"))

    def close(self, session_id: str) -> None:
        """Complete the folder of the session under the id that it is to have."""
        count = self.meta["messageCount"]
        if count != self._following:
            # Messages that were lost before the export: their idx are not given again.
            recounted = {"messageCount": max(count, self._following)}
            if self._following < count and not metadata.is_known_gap(self.meta, self._following):
                recounted[metadata.KNOWN_GAP] = [self._following, count]
            self.meta = {**self.meta, **self._totals.added_to({}), **recounted}
        self.meta = {**self.meta, "sessionId": session_id}
        if self._file is None:
            return
        if self._packer is not None:
            self._file.write(self._packer.flush())
        file, self._file = self._file, None
        file.__exit__(None, None, None)
        for path, document in self._places():
            fsio.make_folder(path.parent)
            data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            fsio.write_file(path, data)
        fsio.write_file(self.files.meta, encode_meta(self.meta))

    def _places(self) -> Iterator[tuple[Any, Any]]:
        if self._checkpoint is not None:
            yield self.files.checkpoint, self._checkpoint
        for name, branch in self._branches.items():
            document = {**branch, "sessionId": self.meta["sessionId"]}
            yield branches.path_of(self.files, name), self._points.placed(document)

    def _usable_branches(self, given: object) -> dict[str, Any]:
        """Return the branch points by name; those that cannot be used are left out and told."""
        found: dict[str, Any] = {}
        for document in given if isinstance(given, list) else () if given is None else (given,):
            name = document.get("name") if isinstance(document, dict) else None
            try:
                if not isinstance(name, str) or not valid_name(name):
                    raise ValueError("it has no name")
                if name in found:
                    raise ValueError("there is another one of that name")
                found[name] = branches.point_of(document, self.session_id, name).document
            except ValueError as error:
                which = f"branch {name}" if isinstance(name, str) else "a branch"
                self._warn("branch-left-out", f"{which[:80]} cannot be used: {error}")
        return found

    def _usable_checkpoint(self, given: object) -> checkpoints.Checkpoint | None:
        problem = None if given is None else checkpoints.problem(given)
        if problem is not None:
            self._warn("checkpoint-left-out", f"its checkpoint cannot be used: {problem}")
        return given if isinstance(given, dict) and problem is None else None

    def abandon(self) -> None:
        """Remove what has been made so far."""
        if self._file is not None:
            file, self._file = self._file, None
            file.__exit__(InvalidTextError, None, None)
        if self.writes and os.path.lexists(self.files.folder):
            fsio.remove_tree(self.files.folder)


def take_in(store: SessionStore, draft: Draft, on_conflict: str) -> tuple[str, str]:
    """Put a session in its place; return what was done, and the id that it has now.

    What was done is ``added``, ``skipped``, ``overwritten`` or ``renamed``; an overwritten session
    goes to the trash.
    """
    if not draft.writes:
        return _outcome(store, draft, on_conflict), draft.session_id
    with store.looking_up():
        outcome = _outcome(store, draft, on_conflict)
        if outcome == "skipped":
            draft.abandon()
            return outcome, draft.session_id
        session_id = _other_id(draft) if outcome == "renamed" else draft.session_id
        if outcome == "renamed" and os.path.lexists(store.paths.session(session_id).folder):
            draft.abandon()
            return "skipped", session_id
        draft.close(session_id)
        files = store.paths.session(session_id)
        fsio.make_folder(store.paths.root)
        if outcome == "overwritten":
            _put_away(store, files)
        fsio.move(draft.files.folder, files.folder)
        stat = metadata.stat_of(os.stat(files.meta))
        store.catalog.note(catalog.put_line(session_id, draft.meta, stat))
    return outcome, session_id


def _other_id(draft: Draft) -> str:
    """Return the id of a session whose own is taken: the same one in every run."""
    begun = to_millis(parse_time(draft.meta["createdAt"]))
    digest = hashlib.sha256(f"{draft.session_id} {draft.tally.sha256}".encode()).digest()
    return f"s-{ids.uuid7_text(begun, digest[:10])}"


def _outcome(store: SessionStore, draft: Draft, on_conflict: str) -> str:
    files = store.paths.session(draft.session_id)
    if not os.path.lexists(files.folder):
        return "added"
    if not files.exist():
        raise InvalidTextError(f"something else stands at {files.folder}")
    if on_conflict == "skip" or _is_same(store, files, draft):
        return "skipped"
    return "overwritten" if on_conflict == "overwrite" else "renamed"


def _is_same(store: SessionStore, files: SessionFiles, draft: Draft) -> bool:
    """Tell whether a session is there as it stands in the file: messages, and title and the like.

    What only tells when it was used last does not matter.
    """
    loaded = store.load(files).meta
    loose = ("lastActiveAt", "status", "runState", "childSessionIds")
    if any(loaded.get(name) != draft.meta.get(name) for name in draft.meta if name not in loose):
        return False
    tally = Tally()
    with transcript.opened(files) as history:
        for line in history.forward() if history is not None else ():
            if line.message is not None:
                tally.add(line.text)
    return tally.sha256 == draft.tally.sha256


def _put_away(store: SessionStore, files: SessionFiles) -> None:
    try:
        with store.writing(files):
            trash.put(store.paths.trash, files.folder, store.env.clock.now())
    except NotFoundError:
        return  # deleted in the meantime
