"""The stores that are measured: real texts, imported and indexed by the program, kept in .bench.

``python -m tests.bench.stores FILE lines COUNT`` writes the texts of a store as JSON Lines,
``… FILE queries`` the queries, ``… FOLDER copy OTHER`` a copy of a store, and ``… FOLDER remove``
removes one: in a process of its own, for the measuring one must stay small (see measure.py).
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from zlib import crc32

from openclaw_cli.transfer.importer import BATCH
from tests.bench.measure import process

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "tests" / "data" / "retrieval"
ELSEWHERE = Path(
    os.environ.get("OPENCLAW_EVAL_DATA") or ROOT.parent / "shared" / "data" / "retrieval"
)
#: Up to this many records the vectors are the models' own; above, a stand-in's (see variants.py).
EMBEDDED = 10_000
#: Raise it when stores are to be built in another way.
VERSION = 2
QUERIES = 20
#: Characters of a text: memories are sentences and messages (45 tokens on average), not chapters.
LONGEST = 400
_CATEGORIES = ("event", "event", "preference", "profile")


def source() -> Path:
    """Return the folder of the data sets: the one that is named or lies near, or the sample."""
    return ELSEWHERE if ELSEWHERE.is_dir() else SHIPPED


def _read(name: str) -> list[dict]:
    lines = [
        json.loads(line)
        for path in sorted(source().glob(f"*/{name}.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [line for line in lines if 4 <= len(line["text"]) <= LONGEST]


def texts(count: int) -> Iterator[tuple[str, str]]:
    """Yield ``count`` texts and their languages, all different, always the same ones.

    When the real ones are used up, the beginnings of some are joined to the ends of others.
    """
    chance = random.Random(20260301)
    real = list({line["text"]: line.get("lang", "en") for line in _read("corpus")}.items())
    chance.shuffle(real)
    yield from real[:count]
    by_language: dict[str, list[str]] = {}
    for text, language in real:
        by_language.setdefault(language, []).append(text)
    seen = {text for text, _language in real}
    while len(seen) < count:
        first, language = chance.choice(real)
        other = chance.choice(by_language[language])
        text = first[: _cut(first, chance)] + other[_cut(other, chance) :]
        if text not in seen:
            seen.add(text)
            yield text, language


def _cut(text: str, chance: random.Random) -> int:
    """Return a place in the middle of a text to cut it, before a word where it has spaces."""
    middle = chance.randint(len(text) // 4, len(text) * 3 // 4)
    space = text.find(" ", middle)
    return middle if space < 0 else space


def lines(count: int) -> Iterator[str]:
    """Yield the texts as lines for ``memory import``."""
    for number, (text, _language) in enumerate(texts(count)):
        day, month = number % 28 + 1, number // 28 % 12 + 1
        record = {
            "id": record_id(number),
            "text": text,
            "category": _CATEGORIES[number % len(_CATEGORIES)],
            "createdAt": f"2025-{month:02}-{day:02}T10:00:00Z",
        }
        yield json.dumps(record, ensure_ascii=False)


def batches(count: int) -> int:
    """Return in how many batches the program imports ``count`` records."""
    return -(-count // BATCH)


def record_id(number: int) -> str:
    """Return the id of the n-th record."""
    return f"bench-{number:06}"


def queries() -> Iterator[str]:
    """Yield queries in English and in Chinese, of the length that people type."""
    asked = _read("queries")
    for language in ("en", "zh"):
        found = [q["text"] for q in asked if q["lang"] == language and len(q["text"]) <= 80]
        yield json.dumps({language: random.Random(7).sample(found, QUERIES)}, ensure_ascii=False)


class Stores:
    """Stores by number of records, built when first asked for."""

    def __init__(self, folder: Path) -> None:
        sizes = [path.stat().st_size for path in sorted(source().glob("*/corpus.jsonl"))]
        self.folder = folder / f"v{VERSION}-{crc32(repr(sizes).encode()):08x}"
        self.home = self.folder / "home"
        self._copies = self.folder / "copies"
        self._checked: set[Path] = set()
        self.home.mkdir(parents=True, exist_ok=True)

    def lines(self, count: int) -> Path:
        """Return the file with the texts of a store."""
        path = self.folder / f"{count}.jsonl"
        if not path.exists():
            self._do(path, "lines", str(count))
        return path

    def queries(self) -> dict[str, list[str]]:
        """Return the queries by language."""
        path = self.folder / "queries.jsonl"
        if not path.exists():
            self._do(path, "queries")
        found: dict[str, list[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            found |= json.loads(line)
        return found

    def _do(self, path: Path, *words: str) -> None:
        process(["-m", "tests.bench.stores", str(path), *words], self.env())

    def shared(self, count: int) -> Path:
        """Return the state directory of a store that is only read."""
        state = self.folder / f"{count}"
        if state in self._checked:
            return state
        if not state.exists():
            began = state.with_suffix(".part")
            shutil.rmtree(began, ignore_errors=True)
            argv = ["memory", "import", str(self.lines(count)), "--no-embed"]
            process(["-m", "openclaw_cli", *argv], self.env(began))
            self._index(began, count)
            began.rename(state)
        elif process(["-m", "openclaw_cli", "memory", "status"], self.env(state)).err:
            self._index(state, count)  # another version of the program has made its index
        self._checked.add(state)
        return state

    def _index(self, state: Path, count: int) -> None:
        stand_in = ("tests.bench.variants", "stand-in")
        program = ("openclaw_cli",) if count <= EMBEDDED else stand_in
        process(["-m", *program, "memory", "index"], self.env(state))

    def sessions(self, count: int) -> Path:
        """Return the state directory of so many sessions of two messages each."""
        ensure = ["session", "ensure", "--channel", "bench", "--chat", "0"]
        return self._made(f"sessions-{count}", lambda to: _write_sessions(to, count), ensure)

    def history(self, count: int) -> Path:
        """Return the state directory of one session of so many messages."""
        rename = ["session", "rename", session_id(0), "A long one"]
        return self._made(f"history-{count}", lambda to: _write_history(to, count), rename)

    def _made(self, name: str, write: Callable[[Path], None], argv: list[str]) -> Path:
        """Return a state that was written from outside; ``argv`` lets the program take it in."""
        state = self.folder / name
        if not state.exists():
            began = state.with_suffix(".part")
            shutil.rmtree(began, ignore_errors=True)
            write(began)
            process(["-m", "openclaw_cli", *argv], self.env(began))
            began.rename(state)
        return state

    def own(self, count: int, name: str, kind: str = "shared") -> Path:
        """Return a copy that may be changed: files that are only ever replaced are linked.

        For no records it is a state directory that does not exist.
        """
        target = self._copies / f"{name}-{count}"
        self._do(target, "remove")
        if count:
            source: Path = getattr(self, kind)(count)
            self._do(target, "copy", str(source))
        return target

    def discard_copies(self) -> None:
        """Remove what `own` has made."""
        self._do(self._copies, "remove")

    def env(self, state: Path | None = None) -> dict[str, str]:
        """Return an environment without a trace of the operator's settings."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "ORT_DISABLE_TELEMETRY": "1",
            "OPENCLAW_EVAL_DATA": str(source()),
            "OPENCLAW_STATE_DIR": str(state or self.home / "none"),
        }


def memory(state: Path) -> Path:
    """Return the folder of the one agent's memory."""
    return state / "agents" / "main" / "memory"


def _link_or_copy(source: str, target: str) -> None:
    appended = Path(source).parent.name in ("memory", "sessions") or source.endswith(".jsonl")
    (shutil.copy2 if appended else os.link)(source, target)


def _write_sessions(state: Path, count: int) -> None:
    folder = state / "agents" / "main" / "sessions"
    for number in range(count):
        place = folder / session_id(number)
        place.mkdir(parents=True)
        meta = {
            "sessionId": place.name,
            "agentId": "main",
            "channel": "bench",
            "chatId": str(number),
            "createdAt": "2026-01-01T00:00:00Z",
            "lastActiveAt": f"2026-01-01T{number % 24:02}:{number // 24 % 60:02}:00Z",
            "messageCount": 2,
            "status": "active",
            "title": f"About the {number}th thing",
        }
        (place / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
        (place / "messages.jsonl").write_text("".join(_messages(2)), encoding="utf-8")


def _write_history(state: Path, count: int) -> None:
    place = state / "agents" / "main" / "sessions" / session_id(0)
    place.mkdir(parents=True)
    with (place / "messages.jsonl").open("w", encoding="utf-8") as target:
        target.writelines(_messages(count))


def _messages(count: int) -> Iterator[str]:
    """Yield a history that alternates between two speakers, about 170 bytes a message."""
    for number in range(count):
        role = "assistant" if number % 2 else "user"
        text = (
            f"第{number}件事 is put down here, {'and answered' * (number % 2)} at some length " * 2
        )
        message = {"idx": number, "role": role, "content": text, "ts": "2026-01-01T00:00:00Z"}
        yield json.dumps(message, ensure_ascii=False) + "\n"


def session_id(number: int) -> str:
    """Return the id of the n-th session."""
    return f"s-bench-{number:06}"


def _main(path: Path, work: str, more: str = "") -> None:
    if work == "copy":
        shutil.copytree(more, path, symlinks=True, copy_function=_link_or_copy)
    elif work == "remove":
        shutil.rmtree(path, ignore_errors=True)
    else:
        made = queries() if work == "queries" else lines(int(more))
        path.write_text("".join(f"{line}\n" for line in made), encoding="utf-8")


if __name__ == "__main__":
    _main(Path(sys.argv[1]), *sys.argv[2:])
