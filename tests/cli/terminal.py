"""The program on a terminal, as an operator has it before them."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def on_terminal(
    *args: str, typed: str = "", columns: int = 60, code: str | None = None, **env: str
) -> tuple[int, str]:
    """Run the program (or Python ``code``) with all streams on a terminal of so many columns.

    ``typed`` is what the operator types. Return the exit status and what appeared.
    """
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    program = ["-c", code] if code else ["-m", "openclaw_cli", *args]
    process = subprocess.Popen(
        [sys.executable, *program],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, **env},
    )
    os.close(child)
    os.write(parent, typed.encode())
    seen = bytearray()
    while True:
        try:
            block = os.read(parent, 65536)
        except OSError:  # how Linux tells that the other end is closed
            break
        if not block:
            break
        seen += block
    os.close(parent)
    return process.wait(timeout=60), seen.decode().replace("\r\n", "\n")
