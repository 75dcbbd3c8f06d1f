"""Files of lines that carry a checksum, as the log's do: what of one is sound, and mending it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from openclaw_cli.store import files, fsio, wal


class Inspected(NamedTuple):
    """The lines of such a file: the sound ones, the damaged ones as (number, reason, bytes).

    ``torn`` is what follows the last line end: a write that was never acknowledged.
    """

    sound: tuple[bytes, ...] = ()
    damaged: tuple[tuple[int, str, bytes], ...] = ()
    torn: bytes = b""

    @property
    def is_whole(self) -> bool:
        """Tell whether there is nothing to mend."""
        return not self.damaged and not self.torn


def inspect(path: Path) -> Inspected:
    """Read the file; a missing one has no lines. Raises ``ValueError`` for what is no file."""
    try:
        data = files.read_file(path)
    except FileNotFoundError:
        return Inspected()
    *lines, torn = data.split(b"\n")
    sound: list[bytes] = []
    damaged: list[tuple[int, str, bytes]] = []
    for number, line in enumerate(lines, 1):
        _value, problem = wal.decode_line(line)
        if problem is None:
            sound.append(line)
        elif line:  # an empty one ends the torn line of a killed writer
            damaged.append((number, problem, line))
    return Inspected(tuple(sound), tuple(damaged), torn)


def mend(path: Path, found: Inspected, stamp: str) -> Path:
    """Keep the damaged and torn lines of a file beside it, and the sound ones in it.

    Return where the damage is kept. The caller holds the lock under which the file is written.
    """
    rest = [line for _number, _reason, line in found.damaged]
    lines = [*rest, found.torn] if found.torn else rest
    kept = fsio.set_aside(path, b"\n".join(lines) + b"\n", "bad", stamp)
    fsio.write_file(path, b"".join(line + b"\n" for line in found.sound))
    return kept
