"""Checksums of index files: a sampled one for every open, the full one for ``--verify``."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from zlib import crc32

from openclaw_cli.store import files
from openclaw_cli.store.fsio import reporting

_WHOLE = 8 << 20
_BLOCK = 4096
_EDGE = 64 << 10
_SAMPLES = 256
_HELD = 32


def sample_digest(data: mmap.mmap | bytes | memoryview) -> str:
    """Return a checksum of the whole up to 8 MiB, else of both ends and 256 blocks between them.

    The length is part of it. It finds cut, emptied, swapped and exchanged files in milliseconds;
    a single flipped bit of a big file is found by the full digest only. A memoryview is one of
    single bytes.
    """
    if len(data) <= _WHOLE:
        return f"{len(data)}:{crc32(data):08x}"
    return _digest(len(data), _blocks(data))


def _blocks(data: mmap.mmap | bytes | memoryview) -> Iterator[bytes | memoryview]:
    for number, (begin, end) in enumerate(_samples(len(data)), 1):
        yield data[begin:end]
        if number % _HELD == 0 and isinstance(data, mmap.mmap):
            files.release(data)  # the kernel maps the neighbours of every block too


def sample_digest_of(path: Path) -> str:
    """Return the `sample_digest` of a file without mapping it: mapped pages count as memory."""
    with reporting("read", path), open(path, "rb") as source:
        fd = source.fileno()
        length = os.fstat(fd).st_size
        blocks = (os.pread(fd, end - begin, begin) for begin, end in _samples(length))
        return _digest(length, blocks)


def _samples(length: int) -> Iterator[tuple[int, int]]:
    if length <= _WHOLE:
        yield from ((begin, begin + _EDGE) for begin in range(0, length, _EDGE))
        return
    yield 0, _EDGE
    for number in range(_SAMPLES):
        begin = number * (length - _BLOCK) // _SAMPLES
        yield begin, begin + _BLOCK
    yield length - _EDGE, length


def _digest(length: int, blocks: Iterable[bytes | memoryview]) -> str:
    value = 0
    for block in blocks:
        value = crc32(block, value)
    return f"{length}:{value:08x}"


def full_digest(data: mmap.mmap | bytes) -> str:
    """Return the SHA-256 of all bytes."""
    import hashlib

    return hashlib.sha256(data).hexdigest()
