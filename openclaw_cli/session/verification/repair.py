"""``session verify --repair``: damage is set aside, whole messages stay, counters are put right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import archive, transcript
from openclaw_cli.session.metadata import HISTORY_SHORT
from openclaw_cli.session.store import SessionStore, Writer
from openclaw_cli.session.transcript import History, Line
from openclaw_cli.session.verification.examine import examine
from openclaw_cli.session.verification.findings import Findings
from openclaw_cli.store import fsio
from openclaw_cli.store.newfile import NewFile


def repair(store: SessionStore, files: SessionFiles) -> tuple[Findings, Findings, list[str]]:
    """Put right what can be; return what was found before and after, and what was set aside.

    Nothing is deleted but a compressed copy of what the plain history begins with.
    """
    with store.writing(files) as writer:
        before = examine(store, files)
        if not any(problem.repairable for problem in before.problems):
            return before, before, []
        kept = _history(writer, before) + _twins(writer, before)
        kept += _damaged_beside(writer, before)
        for problem in before.problems:
            if problem.code == "mode-wide" and os.path.lexists(problem.path):
                fsio.set_mode(Path(problem.path), folder=os.path.isdir(problem.path))
        after = examine(store, files)
        if any(map(after.count, ("meta-damaged", "counter-differs", HISTORY_SHORT))):
            writer.save(after.counters)
            kept += [str(w.path) for w in writer.warnings if w.code == "set-aside"]
            after = examine(store, files)
    return before, after, kept


def _history(writer: Writer, found: Findings) -> list[str]:
    if not found.count("history-damaged") and not found.count("torn-tail"):
        return []
    files = writer.files
    with transcript.opened(files) as history:
        if history is None:
            return []
        if history.packed:
            _write_sound(files, history, None)
        else:
            kept = fsio.free_name(files.history, "bad", writer.store.stamp())
            _write_sound(files, history, kept)
            return [str(kept)]
    kept = fsio.move_aside(files.packed, "bad", writer.store.stamp())
    with transcript.opened(files) as history:
        tail = None if history is None else history.tail()
    writer.loaded = writer.loaded._replace(tail=tail)
    archive.pack(writer)
    return [str(kept)]


def _write_sound(files: SessionFiles, history: History, aside: Path | None) -> None:
    """Write the messages of a history in its place, and every other line to ``aside`` first."""
    temp = fsio.temp_name(files.history)
    with ExitStack() as stack:
        bad = None if aside is None else stack.enter_context(NewFile(aside))
        good = stack.enter_context(NewFile(temp))
        for line, following in _with_next(history):
            if line.message is not None:
                good.write(line.raw.strip(b"\0 \t\r\n") + b"\n")
            if line.problem is not None and bad is not None:
                for piece in _pieces(history, line, following):
                    bad.write(piece)
    fsio.move(temp, files.history)


def _with_next(history: History) -> Iterator[tuple[Line, int | None]]:
    """Yield each line and where the next one begins, None after the last."""
    previous = None
    for line in history.forward():
        if previous is not None:
            yield previous, line.at
        previous = line
    if previous is not None:
        yield previous, None


def _pieces(history: History, line: Line, following: int | None) -> Iterator[bytes]:
    """Yield the bytes of a damaged line; one too long to hold is read again in pieces."""
    if line.raw:
        yield line.raw
        return
    end = history.size if following is None else following
    yield from transcript.span(history.source.fileno(), line.at, end)


def _twins(writer: Writer, found: Findings) -> list[str]:
    files = writer.files
    if found.count("twin-left"):
        fsio.remove(files.packed)
    if not found.count("twin-differs"):
        return []
    return [str(fsio.move_aside(files.packed, "bad", writer.store.stamp()))]


def _damaged_beside(writer: Writer, found: Findings) -> list[str]:
    """Set a checkpoint and branch points that nobody can read aside; their place is free then."""
    paths = [
        Path(problem.path)
        for problem in found.problems
        if problem.code in ("checkpoint-damaged", "branch-damaged")
    ]
    return [
        str(fsio.move_aside(path, "bad", writer.store.stamp()))
        for path in paths
        if os.path.lexists(path)
    ]
