"""What kind of file is this? Gzip is unpacked; what holds no JSON is named and refused."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any, BinaryIO, cast

from openclaw_cli.errors import DamagedError, UsageError
from openclaw_cli.store.jsonl import decode

BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_HEAD = 1 << 16
_BUFFER = 1 << 18
_LINES = 20
_UTF16 = "convert it first: iconv -f UTF-16 -t UTF-8"
_UTF32 = "convert it first: iconv -f UTF-32 -t UTF-8"
_UNPACK = "unpack it first and import the file inside"
_TABLE = 'turn each row into a line such as {"text":"..."} first'
_JSON = 'import takes an export document or JSON Lines such as {"text":"..."}'
_FOREIGN = (
    (b"PK\x03\x04", "a ZIP archive", _UNPACK),
    (b"PK\x05\x06", "an empty ZIP archive", _UNPACK),
    (_GZIP, "compressed with gzip twice", _UNPACK),
    (b"BZh", "compressed with bzip2", _UNPACK),
    (b"\xfd7zXZ", "compressed with xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", _UNPACK),
    (b"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (b"\xff\xfe\0\0", "UTF-32 text", _UTF32),
    (b"\0\0\xfe\xff", "UTF-32 text", _UTF32),
    (b"\xff\xfe", "UTF-16 text", _UTF16),
    (b"\xfe\xff", "UTF-16 text", _UTF16),
    (b"SQLite format 3", "an SQLite database", "export its rows as JSON Lines first"),
    (b"%PDF", "a PDF document", _JSON),
    (b"<", "HTML or XML", _JSON),
)


def opened(stream: BinaryIO, name: str) -> BinaryIO:
    """Return the JSON text of a file as a stream, unpacked and without a byte order mark.

    Raises `UsageError` that names the kind of a file which cannot hold any, before more than its
    beginning has been read; reading on raises `DamagedError` where gzip data is not sound.
    """
    head = _beginning(stream)
    if not head.startswith(_GZIP):
        return _text(head, stream, name)
    packed = io.BufferedReader(_Joined(head, stream))
    unpacked = _Unpacked(gzip.GzipFile(fileobj=packed), name)
    inner = cast("BinaryIO", io.BufferedReader(unpacked, _BUFFER))
    return _text(_beginning(inner), inner, f"{name}, unpacked,")


def _beginning(stream: BinaryIO) -> bytes:
    """Return the first bytes, beyond white space that a file may begin with."""
    head = b""
    while part := stream.read(_HEAD):
        head += part
        if len(head) >= _HEAD and head.removeprefix(BOM).strip():
            break
    return head


def _text(head: bytes, stream: BinaryIO, name: str) -> BinaryIO:
    head = head.removeprefix(BOM)
    _refuse_foreign(head, name)
    return joined(head, stream)


def joined(head: bytes, stream: BinaryIO) -> BinaryIO:
    """Return a stream of ``head`` and then of the rest of ``stream``."""
    return cast("BinaryIO", io.BufferedReader(_Joined(head, stream), _BUFFER))


class _Joined(io.RawIOBase):
    """Bytes that have been read already, and then the rest of the stream."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = memoryview(head)
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        part = self._head[: len(room)] if self._head else self._stream.read(len(room))
        self._head = self._head[len(part) :]
        room[: len(part)] = part
        return len(part)


class _Unpacked(io.RawIOBase):
    """The content of gzip data, which may prove damaged anywhere."""

    def __init__(self, file: gzip.GzipFile, name: str) -> None:
        self._file = file
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        room = memoryview(buffer).cast("B")
        try:
            part = self._file.read(len(room))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DamagedError(
                f"{self._name}: the gzip data is damaged or cut off: {error}",
                path=self._name,
                hint="fetch the file again, then run the command again: it goes on where it was",
            ) from error
        room[: len(part)] = part
        return len(part)


def _refuse_foreign(head: bytes, name: str) -> None:
    for magic, kind, hint in _FOREIGN:
        if head.startswith(magic):
            raise _foreign(name, kind, hint)
    if head[257:262] == b"ustar":
        raise _foreign(name, "a tar archive", _UNPACK)
    if b"\0" in head[:2]:
        is_32 = b"\0\0" in head[1:4] or head[:2] == b"\0\0"
        raise _foreign(name, *(("UTF-32 text", _UTF32) if is_32 else ("UTF-16 text", _UTF16)))
    lines = [line for line in head.split(b"\n")[:_LINES] if line.strip()]
    if not lines or any(line.lstrip()[:1] in (b"{", b"[") for line in lines):
        return
    if b"\0" in head:
        raise _foreign(name, "binary data", _JSON)
    if decode(lines[0].strip())[1] is None:
        return
    for kind, sign in _SEPARATORS:
        if all(sign in line for line in lines[:2]):
            raise _foreign(name, kind, _TABLE)
    raise _foreign(name, "plain text", _TABLE.replace("row", "statement"))


_SEPARATORS = (
    ("a CSV table", b","),
    ("a CSV table", b";"),
    ("a table with tabs", b"\t"),
)


def _foreign(name: str, kind: str, hint: str) -> UsageError:
    return UsageError(f"{name} is {kind}, not JSON", path=name.partition(",")[0], hint=hint)
