"""Signals that tell the program to end: when they are heard, and what they raise."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

_ENDING = (signal.SIGTERM, signal.SIGHUP)
#: Those that wait while modules are loaded; Ctrl-C has a handler of Python's own.
_WAITING = (signal.SIGINT, *_ENDING)


class Ended(KeyboardInterrupt):
    """A signal told the program to end: everything is cleaned up as after Ctrl-C."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def hold() -> None:
    """Let the signals wait: modules that they leave half loaded fail in odd ways."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITING)


def hear() -> None:
    """Let the signals through, those that have waited as well."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITING)


def end_in_order() -> None:
    """Let signals that end the program run its clean-up; a second one ends it at once."""
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, _ended)


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_DFL)
    raise Ended(number)
