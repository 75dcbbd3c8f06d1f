"""The only module that draws randomness or asks which process and boot this is."""

from __future__ import annotations

import os
from typing import NamedTuple

from openclaw_cli.clock import Clock, to_millis


class IdSource(NamedTuple):
    """Makes new ids that sort by time: a prefix and a UUIDv7 (RFC 9562, section 5.7)."""

    clock: Clock

    def new(self, prefix: str) -> str:
        """Return ``<prefix>-<uuid7>`` for the clock's present."""
        return f"{prefix}-{uuid7_text(to_millis(self.clock.now()), os.urandom(10))}"


def uuid7_text(millis: int, chance: bytes) -> str:
    """Return the UUIDv7 of a time (ms since 1970) and ten bytes of chance, or of a digest."""
    bits = int.from_bytes(chance, "big")
    value = (max(0, millis) & ((1 << 48) - 1)) << 80 | 0x7 << 76 | (bits >> 68 & 0xFFF) << 64
    value |= 0b10 << 62 | bits & ((1 << 62) - 1)
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def token() -> str:
    """Return a short random name part for temporary files."""
    return os.urandom(6).hex()


def boot_id() -> str:
    """Return what tells this boot of the machine from another, or "" where nothing does.

    Pages that were written but not synced outlive a killed process and do not outlive a boot.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as source:
            return source.read().strip()
    except OSError:
        return ""


def process_id() -> int:
    """Return the id of this process."""
    return os.getpid()


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
