"""A small store with every kind of file in it, and the ways in which a file can be damaged."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

from openclaw_cli.memory.indexing import build as indexing
from openclaw_cli.store import wal
from openclaw_cli.store.repository import Change
from tests.support import Memory

INDEXED = {
    "user": ["Grows tomatoes and quincea", "喜欢在早上喝龙井茶 quinceb", "Vive en Sevilla quincec"],
    "agent": ["Retry twice before giving up quinced", "先写测试再写代码 quincee"],
}
LATER = ["Keeps two greyhounds quincef", "最近搬到了杭州 quinceg"]
SLOT = {"category": "preference", "key": "editor"}


def build(state: Path) -> dict[str, str]:
    """Make the template store in ``state``; return the unique word of each of its records.

    There are records in an index with vectors, later ones in the log only, a merged one, a deleted
    one, and the vectors of an index run that was killed.
    """
    memory = Memory(state)
    words: dict[str, str] = {}

    def add(text: str, **options) -> None:
        word = text.rpartition(" ")[2]
        # The same names every time, so that a case can be repeated.
        words[memory.add(text, **{"id": f"mem-{word}", **options})["id"]] = word

    for scope, texts in INDEXED.items():
        category = "event" if scope == "user" else "case"
        for text in texts:
            add(text, category=category, embed=True)
    add("Writes with vim quinceh", embed=True, **SLOT)
    gone = memory.add("To be forgotten", id="mem-gone", embed=True)["id"]
    memory.index(embed=True)
    for text in LATER:
        add(text)
    memory.later(days=1)
    add("Writes with emacs quinceh", id=None, **SLOT)
    with memory.service.store.repository.writing() as writer:
        writer.commit([Change("user", gone, None)])
    _kill_an_index_run(memory)
    for name in ("reflections/insights.json", "wal.jsonl.torn-20260101T000000Z"):
        path = memory.paths.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"insights":[]}\n')
    (state / "openclaw.json").write_text('{"memory": {"wal": {"maxEntries": 1000}}}\n')
    return words


def _kill_an_index_run(memory: Memory) -> None:
    def die(*_args):
        raise KeyboardInterrupt

    original = indexing.Builder.finish
    indexing.Builder.finish = die
    try:
        memory.index(embed=True)
    except KeyboardInterrupt:
        assert memory.paths.partial.exists()
    finally:
        indexing.Builder.finish = original


def targets(state: Path) -> list[str]:
    """Return every file, link and folder of the store that can be damaged, by relative path."""
    agent = state / "agents" / "main" / "memory"
    found = [path.relative_to(state) for path in agent.rglob("*") if "index" not in path.parts[:-1]]
    return sorted(map(str, [*found, "openclaw.json"]))


# -- what is done to the bytes ---------------------------------------------------------------------

Bytes = Callable[[bytes, random.Random], bytes]


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(chance.choice([1, 1, 1, 16])):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) or 1)]


def _zero(data: bytes, chance: random.Random) -> bytes:
    start, stop = sorted(chance.choices(range(len(data) + 1), k=2))
    return data[:start] + bytes(stop - start) + data[stop:]


def _swap(data: bytes, chance: random.Random) -> bytes:
    a, b, c = sorted(chance.choices(range(len(data) + 1), k=3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _repeat_line(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b"\n"]
    number = chance.randrange(len(lines))
    return b"".join([*lines[: number + 1], *lines[number:]])


def _swap_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def _append(data: bytes, chance: random.Random) -> bytes:
    return data + chance.choice([b"{", b"\0" * 4096, b"\xff\xfe", b"[]\n", data])


# -- what is done to a value -----------------------------------------------------------------------

#: JSON texts that stand where something else is expected.
WRONG = ["null", "true", "17", "-1", "0.5", '""', '"x"', '"../../x"', "[]", "[1]", "{}", '{"a":1}']
HUGE = ["1e308", "1e999", "-1e999", "9" * 19, "9" * 400, "-" + "9" * 30, "1e-320"]
DEEP = ["[" * 900 + "]" * 900, "[" * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000]
_MARK = "\x01here"


def _valued(texts: list[str]) -> Bytes:
    """Return an operation that puts one of ``texts`` in the place of some value of a JSON file.

    Of a file of lines it takes one line; a line of the log gets the checksum that it then needs.
    """

    def operation(data: bytes, chance: random.Random) -> bytes:
        text = chance.choice(texts).encode()
        lines = data.splitlines(keepends=True) if data.count(b"\n{") or b"\n[" in data else [data]
        if not lines:
            return text
        number = chance.randrange(len(lines))
        lines[number] = _changed(lines[number], text, chance)
        return b"".join(lines)

    return operation


def _changed(line: bytes, text: bytes, chance: random.Random) -> bytes:
    entry, _problem = wal.decode_line(line.rstrip(b"\n"))
    try:
        value = json.loads(line) if entry is None else entry
    except ValueError:
        return text + b"\n"
    raw = json.dumps(_marked(value, chance), ensure_ascii=False).encode()
    raw = raw.replace(json.dumps(_MARK).encode(), text)
    return (raw if entry is None else b'{"crc":"%08x",' % crc32(raw) + raw[1:]) + b"\n"


def _marked(value, chance: random.Random):
    if value and isinstance(value, dict | list) and chance.random() < 0.85:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        changed = value.copy()
        key = chance.choice(keys)
        changed[key] = _marked(value[key], chance)
        return changed
    return _MARK


# -- what is put in the place of the file ----------------------------------------------------------


def remove(path: Path, _outside: Path | None = None) -> None:
    """Remove what stands at ``path``, whatever it is."""
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def _folder(path: Path, _outside: Path) -> None:
    remove(path)
    path.mkdir()
    (path / "something").write_text("x")


def _pipe(path: Path, _outside: Path) -> None:
    remove(path)
    os.mkfifo(path)


def _link_out(path: Path, outside: Path) -> None:
    """Put what stands at ``path`` outside of the state directory, and a link in its place."""
    os.rename(path.resolve(), outside)
    if os.path.lexists(path):
        path.unlink()
    path.symlink_to(outside)


BYTES: dict[str, Bytes] = {
    "flipped": _flip,
    "cut": _cut,
    "zeroed": _zero,
    "blocks swapped": _swap,
    "line repeated": _repeat_line,
    "lines shuffled": _swap_lines,
    "appended to": _append,
    "wrong type": _valued(WRONG),
    "huge number": _valued(HUGE),
    "deep nesting": _valued(DEEP),
}
PLACES: dict[str, Callable[[Path, Path], None]] = {
    "deleted": remove,
    "a folder": _folder,
    "a pipe": _pipe,
    "a link out": _link_out,
}


def damage(path: Path, way: str, outside: Path, chance: random.Random) -> None:
    """Damage ``path`` in one of the ways; of a link it is the target's name that changes.

    A folder becomes a file. ``outside`` is where a link that leads out may lead.
    """
    if way in PLACES:
        PLACES[way](path, outside)
        return
    if path.is_symlink():
        target = BYTES[way](os.readlink(path).encode(), chance).replace(b"\0", b"0")[:200]
        path.unlink()
        os.symlink(target or b"x", path)
    elif path.is_dir():
        remove(path)
        path.write_bytes(BYTES[way](b"{}\n", chance))
    else:
        path.write_bytes(BYTES[way](path.read_bytes(), chance))
