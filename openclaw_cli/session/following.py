"""A history as it grows: what is appended by others is yielded when it has come."""

from __future__ import annotations

import os
from collections.abc import Iterator

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session.schema import LINE_LIMIT, Message
from openclaw_cli.session.store import SessionStore
from openclaw_cli.session.transcript import lines_backward, parse
from openclaw_cli.store import files as reading

_PAUSE_SECONDS = 0.2


def follow(store: SessionStore, files: SessionFiles, after: int) -> Iterator[Message]:
    """Yield messages with an idx above ``after``, for ever; ends when the session is deleted.

    The file may be packed and unpacked again meanwhile: places in it are found by idx.
    """
    inode, at = 0, 0
    while files.exist():
        try:
            fd = reading.open_regular(files.history)
        except (FileNotFoundError, ValueError):
            store.env.clock.sleep(_PAUSE_SECONDS)
            continue
        with os.fdopen(fd, "rb") as source:
            state = os.fstat(fd)
            if state.st_ino != inode or state.st_size < at:
                inode, at = state.st_ino, _start(fd, state.st_size, after)
            source.seek(at)
            # A line without its end is still being written.
            while (raw := source.readline(LINE_LIMIT + 1)).endswith(b"\n"):
                at += len(raw)
                message, _problem = parse(raw)
                if message is not None and message["idx"] > after:
                    after = message["idx"]
                    yield message
        store.env.clock.sleep(_PAUSE_SECONDS)


def _start(fd: int, size: int, after: int) -> int:
    """Return an offset before the first message above ``after``, found from the end."""
    for line in lines_backward(fd, size):
        if line.message is not None and line.message["idx"] <= after:
            return line.at
    return 0
