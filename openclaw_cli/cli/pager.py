"""Long texts through the operator's pager: started only when they do not fit the terminal."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

# less quits when all fits, shows colours, and leaves the text on the screen. It reads options from
# its environment too, so that it is found out behind env, a path or a script.
_COLOURS, _FITTING = "-R", "-FRX"
#: A pager that has taken so many bytes shows them; of less, it may have shown none.
_SHOWN_BYTES = 1 << 20


def _words_of(program: str) -> list[str]:
    """Return the words of a pager's command line; none where it cannot be understood."""
    try:
        return shlex.split(program)
    except ValueError:
        return []


def _environment() -> dict[str, str]:
    """Return the pager's environment: less shows colours whatever other options it is given."""
    given = os.environ.get("LESS")
    return {**os.environ, "LESS": f"{_COLOURS} {given}" if given else _FITTING}


class Pager:
    """Takes the pieces of a text; those that fit the screen go to ``direct`` at the end.

    So does the text of a pager that cannot be started, or that fails before it has taken much.
    Raises `BrokenPipeError` when the reader has left the pager.
    """

    def __init__(self, program: str, rows: int, direct: Callable[[bytes], None]) -> None:
        self._words = _words_of(program)
        self._rows: int | None = rows
        self._direct = direct
        self._held: list[bytes] = []
        self._bytes = 0
        self._lines = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._handler: object = None

    def __enter__(self) -> Pager:
        return self

    def write(self, piece: bytes) -> None:
        """Take the next piece; the pager starts with the one that no longer fits the screen."""
        self._hold(piece)
        if self._process is not None:
            self._feed(piece)
            return
        self._lines += piece.count(b"\n")
        if self._rows is None:
            self._let_go()
        elif self._lines >= self._rows and self._start():
            self._feed(b"".join(self._held))

    def _hold(self, piece: bytes) -> None:
        """Keep a piece until it is sure that it was shown."""
        self._bytes += len(piece)
        if self._process is None or self._bytes <= _SHOWN_BYTES:
            self._held.append(piece)
        else:
            self._held.clear()

    def _let_go(self) -> None:
        held = b"".join(self._held)
        self._held.clear()
        if held:
            self._direct(held)

    def _start(self) -> bool:
        try:
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE, env=_environment())
        except (OSError, IndexError):
            self._rows = None  # there is none: all goes to the terminal
            self._let_go()
            return False
        # Ctrl-C is the pager's while it is there.
        self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        return True

    def _feed(self, piece: bytes) -> None:
        try:
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.write(piece)
                self._process.stdin.flush()
        except BrokenPipeError:
            if self._ended() == 0 or not self._held:
                raise
            self._let_go()

    def _ended(self) -> int:
        """Wait until the pager has ended, and return its exit status; later pieces go on alone."""
        process, self._process, self._rows = self._process, None, None
        if process is None:
            return 0
        try:
            with suppress(BrokenPipeError):
                process.communicate()
        finally:
            signal.signal(signal.SIGINT, self._handler)  # type: ignore[arg-type]
        return process.returncode

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is not None and self._ended() == 0:
            return
        if kind is None:
            self._let_go()
