"""A shell in a pseudo-terminal of its own, driven as a person does."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from pathlib import Path

_CONTROL = re.compile(
    r"\x1b\[[0-9;?>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>]|\x1b\][^\x07]*\x07|[\r\x07]"
)
START = {
    "bash": ["bash", "--norc", "--noprofile", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}


class Shell:
    """One interactive shell; what it has shown since the last ``type`` is in ``shown``."""

    def __init__(self, name: str, folder: Path, env: dict[str, str]) -> None:
        pid, self._fd = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(START[name][0], START[name], {**env, "TERM": "xterm"})
        self._pid = pid
        self.shown = ""
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))

    def type(self, text: str) -> None:
        """Begin anew with these keys."""
        self.shown = ""
        self.press(text)

    def press(self, text: str) -> None:
        """Press these keys."""
        os.write(self._fd, text.encode())

    def shows(self, text: str, seconds: float = 20) -> bool:
        """Tell whether ``text`` appears on the screen within some time."""
        end = time.monotonic() + seconds
        while text not in self.shown and time.monotonic() < end:
            if select.select([self._fd], [], [], 0.05)[0]:
                try:
                    data = os.read(self._fd, 1 << 16)
                except OSError:
                    break
                # A shell that asks what the terminal can do waits for an answer.
                if b"\x1b[c" in data or b"\x1b[0c" in data:
                    os.write(self._fd, b"\x1b[?1;2c")
                self.shown += _CONTROL.sub("", data.decode("utf-8", "replace"))
        return text in self.shown

    def close(self) -> None:
        """End the shell."""
        with contextlib.suppress(OSError):
            os.close(self._fd)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, 9)
        os.waitpid(self._pid, 0)
