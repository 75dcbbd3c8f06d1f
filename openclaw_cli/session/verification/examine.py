"""``session verify``: what is wrong with a session, found by reading all of it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import archive, metadata, transcript
from openclaw_cli.session.lines import Line
from openclaw_cli.session.schema import (
    COUNTERS,
    Message,
    Meta,
    Totals,
    answered_call,
    calls_of,
    parse_meta,
)
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.verification.beside import check_small_files
from openclaw_cli.session.verification.findings import Findings
from openclaw_cli.store.disk import FILE_MODE, FOLDER_MODE
from openclaw_cli.store.files import read_file
from openclaw_cli.store.fsio import reporting

_ATTEMPTS = 3


def examine(store: SessionStore, files: SessionFiles) -> Findings:
    """Read all of a session, in memory that does not depend on its length.

    One that is written to meanwhile is read again, so that no half of a change is taken for damage.
    """
    for _ in range(_ATTEMPTS):
        before = _state(files)
        findings = _examined(store, files)
        if not findings.problems or _state(files) == before:
            break
    return findings


def _state(files: SessionFiles) -> list[tuple[int, int, int] | None]:
    found: list[tuple[int, int, int] | None] = []
    for path in (files.meta, files.history, files.packed, files.checkpoint, files.branches):
        try:
            found.append(metadata.stat_of(os.stat(path, follow_symlinks=False)))
        except OSError:
            found.append(None)
    return found


def _examined(store: SessionStore, files: SessionFiles) -> Findings:
    findings = Findings(files)
    loaded = store.load(files)
    for warning in loaded.warnings:
        if warning.code == metadata.HISTORY_SHORT:
            continue  # looked at below, in a compressed history too
        findings.add(
            warning.code,
            warning.message,
            files.meta,
            repairable=warning.code == "meta-damaged",
        )
    _check_history(findings)
    if findings.counters:
        _check_end(findings, loaded.meta)
        if loaded.stat is not None and not findings.count("meta-damaged"):
            _check_counters(findings)
    check_small_files(findings)
    _check_twins(findings)
    _check_modes(findings)
    return findings


def _check_history(findings: Findings) -> None:
    totals, order = Totals(), Order(findings)
    lost = 0
    with transcript.opened(findings.files) as history:
        if history is None:
            return
        path = findings.files.packed if history.packed else findings.files.history
        for line in history.forward():
            _check_line(findings, line, path)
            if line.message is not None:
                findings.messages += 1
                totals = totals.plus(line.message)
                order.take(line.number, line.message)
                lost = 0
            elif not line.torn and line.problem != "zero bytes":
                lost += 1
    following = order.following + lost
    findings.counters = {**totals.added_to({}), "messageCount": following}


def _check_line(findings: Findings, line: Line, path: os.PathLike[str]) -> None:
    if line.torn:
        message = f"the last {len(line.raw)} bytes are no whole message: {line.problem}"
        findings.add("torn-tail", message, path, line=line.number)
    elif line.problem is not None:
        findings.add("history-damaged", line.problem, path, line=line.number)


@dataclass(slots=True)
class Order:
    """Follows idx, and the pairs of tool calls and results, through a history.

    Calls are forgotten when they have been answered, so that only open ones are held.
    """

    findings: Findings
    following: int = 0
    open_calls: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)

    def take(self, number: int, message: Message) -> None:
        """Take note of the next message."""
        idx, path = message["idx"], self.findings.files.history
        if idx > self.following:
            said = f"idx {idx} where {self.following} is due: {idx - self.following} are missing"
            self._note("idx-gap", said, number)
        elif idx < self.following:
            said = f"idx {idx} again, where {self.following} is due"
            self.findings.add("idx-repeated", said, path, line=number, repairable=False)
        self.following = idx + 1
        self._pair(number, message)

    def _note(self, code: str, said: str, number: int) -> None:
        path = self.findings.files.history
        self.findings.add(code, said, path, line=number, repairable=False, grave=False)

    def _pair(self, number: int, message: Message) -> None:
        call = answered_call(message)
        if call is not None and call not in self.open_calls and call not in self.answered:
            said = f"a result of call {call[:80]!r}, which no message before makes"
            self._note("call-missing", said, number)
        if call in self.open_calls:
            self.open_calls.discard(str(call))
            # Parallel results may come twice; only the calls of the current turn are remembered.
            self.answered.add(str(call))
        made = calls_of(message)
        if made:
            self.answered = set()
            self.open_calls.update(made)


def _check_end(findings: Findings, meta: Meta) -> None:
    """Look whether the history ends before the last message that the metadata know of.

    A repair keeps the number of the next message, so that no idx is given again, and takes note
    that the loss is known: from then on it is told, and no failure any more.
    """
    following, count = findings.counters["messageCount"], meta["messageCount"]
    if following >= count:
        return
    findings.counters["messageCount"] = count
    known = metadata.is_known_gap(meta, following)
    if not known:
        findings.counters[metadata.KNOWN_GAP] = [following, count]
    said, path = metadata.gap(following, count), findings.files.history
    findings.add(metadata.HISTORY_SHORT, said, path, repairable=not known, grave=not known)


def _check_counters(findings: Findings) -> None:
    """Compare the metadata as they are on disk with what the history adds up to."""
    stored, _problems = parse_meta(read_file(findings.files.meta))
    for name in COUNTERS:
        found, wanted = stored.get(name, 0), findings.counters[name]
        if found != wanted and abs(found - wanted) > 1e-6:
            said = f"{name} is {found}, the history adds up to {wanted}"
            findings.add("counter-differs", said, findings.files.meta)


def _check_twins(findings: Findings) -> None:
    files = findings.files
    if not (os.path.lexists(files.history) and os.path.lexists(files.packed)):
        return
    if archive.is_beginning(files):
        message = "a compressed copy of the beginning of the history is left over"
        findings.add("twin-left", message, files.packed)
    else:
        message = "another compressed history stands beside the plain one"
        findings.add("twin-differs", message, files.packed)


def _check_modes(findings: Findings) -> None:
    with reporting("read", findings.files.folder):
        for path, wanted in _places(findings.files):
            try:
                found = stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode)
            except FileNotFoundError:
                continue  # a writer has renamed it since
            if found & ~wanted:
                name = os.path.relpath(path, findings.files.folder)
                whose = "the session's folder" if name == "." else name
                said = f"{whose}: its mode is {found:04o}, wider than {wanted:04o}"
                findings.add("mode-wide", said, path)


def _places(files: SessionFiles) -> Iterator[tuple[os.PathLike[str], int]]:
    """Yield a session's folders and files, and the widest mode that each may have."""
    yield files.folder, FOLDER_MODE
    pending = [files.folder]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    continue
                if entry.is_dir():
                    pending.append(files.folder / entry.path)
                yield entry, FOLDER_MODE if entry.is_dir() else FILE_MODE
