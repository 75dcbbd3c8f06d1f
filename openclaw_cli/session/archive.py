"""A history compressed and unpacked: each form goes only when the other one has proved the same.

A plain history is the truth wherever there are both, so that stopping at any step leaves the
session readable, and doing the same again finishes it.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from openclaw_cli.errors import DamagedError, OpenclawError
from openclaw_cli.paths import SessionFiles
from openclaw_cli.result import Warning
from openclaw_cli.session.store import Writer
from openclaw_cli.store import files as reading
from openclaw_cli.store import fsio
from openclaw_cli.store.newfile import NewFile

_PIECE = 1 << 20


class Proof(NamedTuple):
    """What two forms of a history must agree in."""

    lines: int
    length: int
    sha256: str


def prove(pieces: Iterator[bytes]) -> Proof:
    """Return the proof of what the pieces hold together."""
    digest, lines, length = hashlib.sha256(), 0, 0
    for piece in pieces:
        digest.update(piece)
        lines += piece.count(b"\n")
        length += len(piece)
    return Proof(lines, length, digest.hexdigest())


def plain_pieces(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a plain history."""
    with os.fdopen(reading.open_regular(path), "rb", buffering=0) as source:
        while piece := source.read(_PIECE):
            yield piece


def packed_pieces(path: Path) -> Iterator[bytes]:
    """Yield the unpacked bytes of a compressed history; raises `DamagedError` where it ends."""
    import gzip

    try:
        with (
            os.fdopen(reading.open_regular(path), "rb") as source,
            gzip.GzipFile(fileobj=source) as unpacked,
        ):
            if os.fstat(source.fileno()).st_size == 0:
                raise EOFError("it is empty")
            while piece := unpacked.read(_PIECE):
                yield piece
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise DamagedError(
            f"{path}: the compressed history is damaged: {error}",
            path=str(path),
            hint="openclaw session verify tells how far it can be read",
        ) from error


def pack(writer: Writer) -> None:
    """Replace the plain history of a session by a compressed one, read back before that."""
    files = writer.files
    if not os.path.lexists(files.history):
        return
    writer.mend()
    _keep_other(writer)
    temp = fsio.temp_name(files.packed)
    try:
        _prove_same(files, _write_packed(temp, files), prove(packed_pieces(temp)))
    except OpenclawError:
        fsio.remove(temp)
        raise
    fsio.move(temp, files.packed)
    fsio.remove(files.history)


def _prove_same(files: SessionFiles, plain: Proof, packed: Proof) -> None:
    if plain != packed:
        raise DamagedError(
            f"{files.packed}: read back, it has {packed.lines} lines where the history has"
            f" {plain.lines}, or other bytes; the plain history stays",
            path=str(files.packed),
            hint="check the disk, then archive the session again",
        )


def _write_packed(temp: Path, files: SessionFiles) -> Proof:
    packer = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    with NewFile(temp) as target:

        def passing() -> Iterator[bytes]:
            for piece in plain_pieces(files.history):
                target.write(packer.compress(piece))
                yield piece

        proof = prove(passing())
        target.write(packer.flush())
    return proof


def _keep_other(writer: Writer) -> None:
    """Set a compressed history that the plain one does not begin with aside before it goes."""
    files = writer.files
    if not os.path.lexists(files.packed) or is_beginning(files):
        return
    kept = fsio.move_aside(files.packed, "bad", writer.store.stamp())
    writer.warnings.append(
        Warning(
            "set-aside",
            f"another compressed history of session {files.id} was kept in {kept.name}",
            str(kept),
        )
    )


def is_beginning(files: SessionFiles) -> bool:
    """Tell whether the plain history begins with all that the compressed one holds."""
    try:
        with open(files.history, "rb") as source:
            return all(_follows(source, piece) for piece in packed_pieces(files.packed))
    except DamagedError:
        return False


def _follows(source: BinaryIO, piece: bytes) -> bool:
    return source.read(len(piece)) == piece


def unpack(writer: Writer) -> None:
    """Make an archived history plain again, so that it can be appended to.

    Raises `DamagedError`, with everything as it was, when it cannot be read to its end.
    """
    files = writer.files
    if os.path.lexists(files.history) or not os.path.lexists(files.packed):
        return
    temp = fsio.temp_name(files.history)
    try:
        with NewFile(temp) as target:
            for piece in packed_pieces(files.packed):
                target.write(piece)
    except OpenclawError:
        fsio.remove(temp)
        raise
    fsio.move(temp, files.history)
    # Only now it can be told at no cost whether the metadata are as old as the history.
    writer.reload()
    fsio.remove(files.packed)
