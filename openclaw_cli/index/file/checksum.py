"""Checksums of index files: a sampled one for every open, the full one for ``--verify``."""

from __future__ import annotations

import mmap
from zlib import crc32

_WHOLE = 8 << 20
_BLOCK = 4096
_EDGE = 64 << 10
_SAMPLES = 256


def sample_digest(data: mmap.mmap | bytes | memoryview) -> str:
    """Return a checksum of the whole up to 8 MiB, else of both ends and 256 blocks between them.

    The length is part of it. It finds cut, emptied, swapped and exchanged files in milliseconds;
    a single flipped bit of a big file is found by the full digest only. A memoryview is one of
    single bytes.
    """
    length = len(data)
    if length <= _WHOLE:
        return f"{length}:{crc32(data):08x}"
    value = crc32(data[:_EDGE])
    for number in range(_SAMPLES):
        begin = number * (length - _BLOCK) // _SAMPLES
        value = crc32(data[begin : begin + _BLOCK], value)
    return f"{length}:{crc32(data[length - _EDGE :], value):08x}"


def full_digest(data: mmap.mmap | bytes) -> str:
    """Return the SHA-256 of all bytes."""
    import hashlib

    return hashlib.sha256(data).hexdigest()
