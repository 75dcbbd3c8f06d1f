"""Long texts through the operator's pager: started only when they do not fit the terminal."""

from __future__ import annotations

import shlex
import signal
import subprocess
from collections.abc import Callable
from types import TracebackType

# It quits when all fits, shows colours, and leaves the text on the screen.
_LESS = ["less", "-FRX"]


def _words_of(program: str) -> list[str]:
    """Return the words of a pager's command line; none where it cannot be understood."""
    try:
        words = shlex.split(program)
    except ValueError:
        return []
    return _LESS if words == _LESS[:1] else words


class Pager:
    """Takes the pieces of a text; those that fit the screen go to ``direct`` at the end.

    Raises `BrokenPipeError` when the reader has left the pager.
    """

    def __init__(self, program: str, rows: int, direct: Callable[[bytes], None]) -> None:
        self._words = _words_of(program)
        self._rows: int | None = rows
        self._direct = direct
        self._held: list[bytes] = []
        self._lines = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._handler: object = None

    def __enter__(self) -> Pager:
        return self

    def write(self, piece: bytes) -> None:
        """Take the next piece; the pager starts with the one that no longer fits the screen."""
        if self._process is None:
            self._held.append(piece)
            self._lines += piece.count(b"\n")
            if self._rows is None or self._lines < self._rows or not self._start():
                return
            piece = b"".join(self._held)
            self._held.clear()
        self._feed(piece)

    def _start(self) -> bool:
        try:
            self._process = subprocess.Popen(self._words, stdin=subprocess.PIPE)
        except (OSError, IndexError):
            self._rows = None  # there is none: all goes to the terminal at the end
            return False
        # Ctrl-C is the pager's while it is there.
        self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        return True

    def _feed(self, piece: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(piece)
            self._process.stdin.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process is None:
            if kind is None and self._held:
                self._direct(b"".join(self._held))
            return
        try:
            self._process.communicate()
        finally:
            signal.signal(signal.SIGINT, self._handler)  # type: ignore[arg-type]
