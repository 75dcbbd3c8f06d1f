"""A reader of the store, written from openclaw-store(5) alone, with nothing of the program."""

from __future__ import annotations

import gzip
import json
import os
import struct
import zlib
from pathlib import Path


def checked_lines(data: bytes) -> list[dict]:
    """CHECKED LINES: an object a line, its first member the CRC-32 of the object without it."""
    found = []
    for line in data.split(b"\n")[:-1]:
        if line[:8] != b'{"crc":"' or line[16:18] != b'",':
            continue
        body = b"{" + line[18:]
        if line[8:16] == b"%08x" % zlib.crc32(body):
            found.append(json.loads(body))
    return found


def read_if_there(path: Path) -> bytes:
    """Return the bytes of a file, none where there is none."""
    return path.read_bytes() if path.exists() else b""


def records(memory: Path) -> dict[tuple[str, str], dict]:
    """READING A STORE: the records by scope and id, files first and the log over them."""
    found, checksums = {}, {}
    for scope in ("user", "agent"):
        for path in sorted((memory / "records" / scope).glob("[!.]*.json")):
            data = path.read_bytes()
            checksums[scope, path.stem] = zlib.crc32(data)
            found[scope, path.stem] = json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    newest, replaced = logged(memory)
    for key, line in newest.items():
        is_old = checksums.get(key) in replaced[key]
        there = found.get(key)
        if line["op"] != "put":
            if is_old:
                found.pop(key, None)
        elif there is None or is_old or there["updatedAt"] < line["record"]["updatedAt"]:
            found[key] = line["record"]
    return found


def logged(memory: Path) -> tuple[dict, dict]:
    """The last line of the log for each record, and the checksums of the files it has replaced."""
    newest: dict[tuple[str, str], dict] = {}
    replaced: dict[tuple[str, str], set] = {}
    last = 0
    for line in checked_lines(read_if_there(memory / "wal.jsonl")):
        if "base" in line:
            last = max(last, line["base"])
        elif line["seq"] > last:
            last = line["seq"]
            for scope, name, checksum in gone_of(line):
                sums = replaced.setdefault((scope, name), set())
                before = newest.get((scope, name), {})
                if "record" in before:
                    sums.add(checksum_of(before["record"]))
                sums.add(checksum)
                newest[scope, name] = line
    return newest, replaced


def gone_of(line: dict) -> list[list]:
    """Return scope, id, and checksum of the file before, of each record that a line is about."""
    if line["op"] == "purge":
        return line["gone"]
    return [[line["scope"], line["id"], line.get("replaces")]]


def checksum_of(record: dict) -> int:
    """Return the CRC-32 of the file that a line makes: indented by two blanks, with a line end."""
    return zlib.crc32(json.dumps(record, indent=2, ensure_ascii=False).encode() + b"\n")


def index(memory: Path) -> dict:
    """INDEX: the configuration, the columns, the postings and the vectors of the generation."""
    folder = memory / os.readlink(memory / "index")
    config = checked_lines((folder / "config.json").read_bytes())[0]
    for name, mark in config["files"].items():
        data = (folder / name).read_bytes()
        assert len(data) == mark["bytes"]
        assert f"{len(data)}:{zlib.crc32(data):08x}" == mark["sample"]
    data = (folder / "metadata.json").read_bytes()
    whole = json.loads(data)
    second = data.index(b"\n") + 1
    for name, (begin, length) in whole["columns"].items():
        assert json.loads(data[second + begin :][:length]) == whole[name]
    columns = {name: whole[name] for name in whole["columns"]}
    for name, column in columns.items():
        if isinstance(column, dict):
            columns[name] = [column["values"][code] for code in column["codes"]]
    lines = (folder / "bm25.idx").read_bytes().split(b"\n")[1:-1]
    assert lines == sorted(lines)
    postings = {(line[0], line[1]): line[2:] for line in map(json.loads, lines)}
    vectors = {}
    for model, space in config["spaces"].items():
        data = (folder / f"vectors.{model}.f32").read_bytes()
        size = space["dimensions"]
        rows = [
            struct.unpack_from(f"<{size}f", data, 4 * size * n) for n in range(space["vectors"])
        ]
        holders = [n for n, held in enumerate(columns["space"]) if held == model]
        vectors |= dict(zip(holders, rows, strict=True))
    return {"config": config, "columns": columns, "postings": postings, "vectors": vectors}


def sessions(agent: Path) -> dict[str, tuple[dict, list[dict]]]:
    """SESSIONS: metadata and messages by session id."""
    found = {}
    for folder in sorted((agent / "sessions").iterdir()):
        if not folder.is_dir():
            continue
        plain, packed = folder / "messages.jsonl", folder / "messages.jsonl.gz"
        data = read_if_there(plain) if plain.exists() else gzip.decompress(read_if_there(packed))
        messages = []
        for line in data.split(b"\n")[:-1]:
            try:
                message = json.loads(line.strip(b"\0 \t\r\n"))
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("idx"), int):
                messages.append(message)
        found[folder.name] = (json.loads((folder / "meta.json").read_bytes()), messages)
    return found


def deleted(agent: Path) -> list[str]:
    """Return the ids of the sessions in the trash."""
    return [path.name.partition("~")[0] for path in (agent / "trash" / "sessions").iterdir()]
