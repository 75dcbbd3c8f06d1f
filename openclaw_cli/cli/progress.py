"""How far long work is: a bar on a terminal, plain lines at intervals elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from openclaw_cli.cli.render import Output, is_terminal
from openclaw_cli.clock import Clock

#: Seconds of silence before anything is shown: short work needs no bar, and no rich.
_PATIENCE = 0.7
_LINE_INTERVAL = 10.0


class Reporter:
    """Shows ``(stage, done, total)`` on standard error; nothing when quiet."""

    def __init__(self, output: Output, clock: Clock) -> None:
        self._output = output
        self._clock = clock
        self._started = self._clock.monotonic()
        self._told = self._started
        self._stage = ""
        self._stage_started = self._started
        self._bar: Any = None
        self._task: Any = None
        self._terminal = is_terminal(sys.stderr)

    def __enter__(self) -> Reporter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        """Take note of progress and show it when it is time."""
        if self._output.quiet:
            return
        now = self._clock.monotonic()
        if stage != self._stage:
            self._stage, self._stage_started = stage, now
            if self._bar is not None:
                self._task = self._bar.add_task(stage, total=total)
        if self._terminal:
            self._draw(stage, done, total, now)
        elif now - self._told >= _LINE_INTERVAL:
            self._told = now
            self._output.note(self._line(stage, done, total, now))

    def _draw(self, stage: str, done: int, total: int | None, now: float) -> None:
        if self._bar is None:
            if now - self._started < _PATIENCE:
                return
            self._bar = _make_bar(self._output.no_color)
            self._bar.start()
            self._task = self._bar.add_task(stage, total=total)
        self._bar.update(self._task, completed=done, total=total)

    def _line(self, stage: str, done: int, total: int | None, now: float) -> str:
        seconds = max(now - self._stage_started, 0.001)
        rate = done / seconds
        said = f"{stage} {done}" if total is None else f"{stage} {done} of {total}"
        if rate > 0:
            said += f", {rate:.0f} a second"
            if total is not None and total > done:
                said += f", {(total - done) / rate:.0f} s left"
        return said


def _make_bar(no_color: bool) -> Any:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Items a second."""

        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "", style="dim")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True, no_color=no_color or None),
        transient=True,
    )
