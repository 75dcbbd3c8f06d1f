"""``session verify --repair``: damage is set aside, whole messages stay, counters are put right."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import archive, transcript
from openclaw_cli.session.lines import Line
from openclaw_cli.session.metadata import HISTORY_SHORT
from openclaw_cli.session.store import SessionStore, Writer
from openclaw_cli.session.transcript import History
from openclaw_cli.session.verification.carrying import Carried
from openclaw_cli.session.verification.examine import examine
from openclaw_cli.session.verification.findings import Findings
from openclaw_cli.store import fsio
from openclaw_cli.store.newfile import NewFile

_USELESS = frozenset(
    {"checkpoint-damaged", "branch-damaged", "summary-damaged", "summary-unusable"}
)


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
    carried = Carried(files)
    with transcript.opened(files) as history:
        if history is None:
            return []
        if history.packed:
            _write_sound(writer, history, carried, None)
        else:
            kept = fsio.free_name(files.history, "bad", writer.store.stamp())
            _write_sound(writer, history, carried, kept)
            return [str(kept)]
    kept = fsio.move_aside(files.packed, "bad", writer.store.stamp())
    with transcript.opened(files) as history:
        tail = None if history is None else history.tail()
    writer.loaded = writer.loaded._replace(tail=tail)
    archive.pack(writer)
    return [str(kept)]


def _write_sound(writer: Writer, history: History, carried: Carried, aside: Path | None) -> None:
    """Write the messages of a history in its place, and every damaged line to ``aside`` first.

    Of a sound line not a byte changes.
    """
    files = writer.files
    temp = fsio.temp_name(files.history)
    with ExitStack() as stack:
        bad = None if aside is None else stack.enter_context(NewFile(aside))
        good = stack.enter_context(NewFile(temp))
        for line, following in _with_next(history):
            carried.reach(line.at, sound=line.problem is None)
            for part in _sound(line):
                good.write(part)
                carried.take(part)
            if line.problem is not None and bad is not None:
                for piece in _pieces(history, line, following):
                    bad.write(piece)
    # If this is cut short here, the damage is still there, and the next repair comes to the same.
    carried.keep(temp, writer.store.now())
    fsio.move(temp, files.history)


def _sound(line: Line) -> Iterator[bytes]:
    """Yield the bytes of a line that stay: those of a blank one too, for hashes count them."""
    if line.message is None and line.problem is not None:
        return
    raw = line.raw if line.problem is None else line.raw.replace(b"\0", b"")
    yield raw
    if line.message is not None and not raw.endswith(b"\n"):
        yield b"\n"


def _with_next(history: History) -> Iterator[tuple[Line, int | None]]:
    """Yield each line and where the next one begins, None after the last."""
    previous = None
    for line in history.forward(blank=True):
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
    """Set small files that are no use to anybody aside; their place is free then."""
    paths = [Path(problem.path) for problem in found.problems if problem.code in _USELESS]
    return [
        str(fsio.move_aside(path, "bad", writer.store.stamp()))
        for path in paths
        if os.path.lexists(path)
    ]
