"""Where the traceback of an unexpected failure is kept."""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from openclaw_cli import __version__
from openclaw_cli.clock import Clock
from openclaw_cli.errors import OpenclawError
from openclaw_cli.store import fsio

if TYPE_CHECKING:
    from openclaw_cli.cli.context import Invocation


def keep_traceback(error: Exception, invocation: Invocation) -> tuple[str, str | None]:
    """Return the traceback and the log file that holds it, or None if no place takes it.

    The log lies in the state directory if there is one, else in the folder for temporary files.
    Values of variables are not in it, so it holds no memory's text beyond error messages.
    """
    trace = "".join(traceback.format_exception(error))
    head = f"openclaw {__version__}, Python {sys.version.split()[0]}, {invocation.path or '-'}\n"
    data = (head + trace).encode("utf-8", "backslashreplace")
    stamp = f"{Clock().now():%Y%m%dT%H%M%S.%fZ}"
    try:
        return trace, _in_state(invocation, stamp, data) or _in_temp(stamp, data)
    except OSError:
        return trace, None


def _in_state(invocation: Invocation, stamp: str, data: bytes) -> str | None:
    try:
        state = invocation.state
        if not state.root.is_dir():
            return None
        fsio.make_folder(state.logs)
        path = Path(state.logs, f"crash-{stamp}.log")
        fsio.write_file(path, data)
    except (OpenclawError, OSError):
        return None
    return str(path)


def _in_temp(stamp: str, data: bytes) -> str:
    fd, path = tempfile.mkstemp(prefix=f"openclaw-crash-{stamp}-", suffix=".log")
    with os.fdopen(fd, "wb") as log:
        log.write(data)
    return path
