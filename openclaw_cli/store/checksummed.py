"""Files of lines that carry a checksum, as the log's do: what of one is sound, and mending it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from openclaw_cli.store import files, fsio, wal
from openclaw_cli.store.damage import Damage, Damages


class Inspected(NamedTuple):
    """The lines of such a file: the sound ones, and which are damaged.

    ``torn`` is how many bytes follow the last line end: a write that was never acknowledged.
    """

    sound: tuple[bytes, ...] = ()
    damaged: Damage = Damage()
    torn: int = 0

    @property
    def is_whole(self) -> bool:
        """Tell whether there is nothing to mend."""
        return not self.damaged and not self.torn


def inspect(path: Path) -> Inspected:
    """Read the file; a missing one has no lines. Raises ``ValueError`` for what is no file."""
    sound: list[bytes] = []
    damages = Damages(Damage())
    torn = 0
    for number, line in enumerate(lines(path), 1):
        if not line.ended:
            torn = line.end - line.begin
            break
        if line.raw == b"":
            continue  # it ends the torn line of a killed writer
        _value, problem = (None, "not an entry") if line.raw is None else wal.decode_line(line.raw)
        if problem is not None or line.raw is None:
            damages.add(number, problem or "", line)
        else:
            sound.append(line.raw)
    return Inspected(tuple(sound), damages.all(), torn)


def lines(path: Path) -> Iterator[files.Line]:
    """Yield the lines of the file, which need not exist, damaged or not."""
    try:
        fd = files.open_regular(path)
    except FileNotFoundError:
        return
    try:
        yield from files.lines(fd, wal.LONGEST)
    finally:
        os.close(fd)


def mend(path: Path, found: Inspected, stamp: str) -> Path:
    """Keep the damaged and torn lines of a file beside it, and the sound ones in it.

    Return where the damage is kept. The caller holds the lock under which the file is written.
    """
    kept = found.damaged.kept(path, stamp, torn=found.torn)
    fsio.write_file(path, b"".join(line + b"\n" for line in found.sound))
    return kept
