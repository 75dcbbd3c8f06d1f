"""What can stand where the cursor is: ids on disk for the completion of the shells.

Asked at every press of the tab key, so it costs little more than the interpreter: the standard
library only, and neither of typer, of the configuration nor of the stores. It reads the ends of
derived files rather than all records, tells the newest candidates only, and never fails: what
cannot be read is not offered.
"""

import json
import os
import re
from datetime import UTC, datetime
from itertools import pairwise

#: Candidates at most; more are no help on a screen.
LIMIT = 40
_TAIL = 1 << 18
_CATALOG_TAIL = 1 << 20
_CATALOG_LINES = 1000
_HEAD = 1 << 14
_SHORT = 8
_TEXT = 60
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SUMMARY = re.compile(rb'"(?:l0|content)":\s*("(?:[^"\\]|\\.)*")')
_ID = re.compile(rb'"id":"([^"]+)"')
_ACTIVE = re.compile(rb'"lastActiveAt":"([^"]+)"')
_QUOTING = re.compile(r"""\\(.)|['"]""")

Found = list[tuple[str, str]]


def candidates(kind: str, prefix: str, words: list[str], env: dict[str, str]) -> Found:
    """Return (value, description) of what may stand in the place of ``prefix``, the best first.

    ``kind`` is agent, record, session or trash; ``words`` is the command line so far, of which
    --state-dir and --agent count, as do ``env``'s variables.
    """
    try:
        given = _given(words)
        agents = os.path.join(state_dir(given.get("--state-dir"), env), "agents")
        if kind == "agent":
            return [(name, "") for name in sorted(os.listdir(agents)) if _fits(name, prefix)]
        agent = given.get("--agent") or env.get("OPENCLAW_AGENT") or "main"
        sources = {"record": _records, "session": _sessions, "trash": _trash}
        if kind not in sources or not _NAME.fullmatch(agent):
            return []
        return sources[kind](os.path.join(agents, agent), prefix)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []  # damage is told by commands, not between two keys


def state_dir(option: str | None, env: dict[str, str]) -> str:
    """Return the state directory as `paths.resolve_state_dir` does, without what that imports."""
    chosen = option or env.get("OPENCLAW_STATE_DIR")
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    home = env.get("OPENCLAW_HOME")
    if home:
        return os.path.join(os.path.abspath(os.path.expanduser(home)), ".openclaw")
    profile = env.get("OPENCLAW_PROFILE") or "default"
    suffix = "" if profile == "default" else f"-{profile}"
    home = "" if env.get("HOME") == "" else os.path.expanduser("~")
    return os.path.join(home, f".openclaw{suffix}") if home else os.devnull


def _given(words: list[str]) -> dict[str, str]:
    """Return the options with a value on the command line; bash takes "--a=b" for three words."""
    found = {}
    flat = [part for word in words for part in _split(word) if part != "="]
    for name, value in pairwise(flat):
        if name in ("--state-dir", "--agent"):
            found[name] = _QUOTING.sub(lambda match: match[1] or "", value)
    return found


def _split(word: str) -> list[str]:
    name, equals, value = word.partition("=")
    return [name, value] if equals and name.startswith("--") else [word]


def _fits(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and _NAME.fullmatch(name) is not None


def _value(name: str, prefix: str) -> str | None:
    """Return an id as it goes on from ``prefix``: whole, or by its end as tables show it."""
    found = name if name.startswith(prefix) else name[-_SHORT:]
    return found if found.startswith(prefix) and _NAME.fullmatch(name) else None


def _end_of(path: str, length: int) -> bytes:
    """Return the last whole lines of a file; nothing for one that is not there."""
    try:
        with open(path, "rb") as source:
            size = os.fstat(source.fileno()).st_size
            source.seek(max(0, size - length))
            data = source.read()
    except OSError:
        return b""
    return data if size <= length else data.partition(b"\n")[2]


def _plain(text: str, limit: int = _TEXT) -> str:
    """Return the beginning of a text as one line that does nothing to a terminal."""
    line = " ".join("".join(map(_harmless, " " + text, text[: 4 * limit])).split())
    if len(line) <= limit:
        return line
    end = limit - 3
    if not line.isascii():  # what people see as one character is not broken apart
        from openclaw_cli.cli.cells import clusters

        seen = clusters(line)
        end = 0
        while end + len(part := next(seen)) <= limit - 3:
            end += len(part)
    return line[:end] + "..."


def _harmless(before: str, char: str) -> str:
    """Return a character, a blank for one that is not seen; joiners stay behind other scripts."""
    joins = char in "\u200c\u200d" and before >= "\u0600"
    return char if joins or char.isprintable() else " "


def _records(agent: str, prefix: str) -> Found:
    memory = os.path.join(agent, "memory")
    found: dict[str, str] = {}
    for name in _record_ids(memory, prefix):
        value = _value(name, prefix)
        if value is None or value in found:
            continue
        text = _text_of(memory, name)
        if text is not None:
            found[value] = text
        if len(found) == LIMIT:
            break
    return list(found.items())


def _record_ids(memory: str, prefix: str) -> list[str]:
    """Return ids that may fit, the newest first, from the log and the index; else by the files."""
    logged = [
        match[1].decode()
        for line in reversed(_end_of(os.path.join(memory, "wal.jsonl"), _TAIL).split(b"\n"))
        if b'"op":"put"' in line and (match := _ID.search(line))
    ]
    try:
        return logged + _indexed_ids(os.path.join(memory, "index", "metadata.json"), prefix)
    except (OSError, ValueError, KeyError):
        names = _files(memory, "user", prefix) + _files(memory, "agent", prefix)
        names.sort(reverse=True)
        return logged + [name[:-5] for name in names[: 4 * LIMIT] if name.endswith(".json")]


def _files(memory: str, scope: str, prefix: str) -> list[str]:
    try:
        names = os.listdir(os.path.join(memory, "records", scope))
    except OSError:
        return []
    return [name for name in names if prefix in name] if prefix else names


def _indexed_ids(path: str, prefix: str) -> list[str]:
    """Return ids of the index's id column that hold ``prefix``, the last ones first."""
    with open(path, "rb") as source:
        head = json.loads(source.readline().rstrip(b",\n") + b"}")
        offset, length = head["columns"]["id"]
        begin = source.tell() + offset
        # A short prefix fits so many ids that the newest thousands are enough to look at.
        skipped = max(0, length - _TAIL) if len(prefix) < 3 else 0
        source.seek(begin + skipped)
        column = source.read(length - skipped)
    wanted, place = prefix.encode("utf-8", "replace"), len(column)
    found: list[str] = []
    while len(found) < 4 * LIMIT:
        place = column.rfind(wanted or b'"', 0, place)
        start, end = column.rfind(b'"', 0, place) + 1, column.find(b'"', place)
        if place <= 0 or start <= 0 or end < 0:
            return found
        if start == place or end - place == _SHORT or not wanted:
            found.append(column[start : place if not wanted else end].decode())
            place = start - 1
    return found


def _text_of(memory: str, name: str) -> str | None:
    """Return the beginning of what a record says, None when there is no such file."""
    for scope in ("user", "agent"):
        try:
            with open(os.path.join(memory, "records", scope, f"{name}.json"), "rb") as source:
                match = _SUMMARY.search(source.read(_HEAD))
        except FileNotFoundError:
            continue
        return _plain(json.loads(match[1])) if match else ""
    return None


def _sessions(agent: str, prefix: str) -> Found:
    folder = os.path.join(agent, "sessions")
    lines = _end_of(os.path.join(folder, "catalog.jsonl"), _CATALOG_TAIL).split(b"\n")
    wanted = prefix.encode("utf-8", "replace")
    # What was said last stands at the end; older lines are looked at for a known beginning only.
    lines = [line for line in lines if wanted in line] if wanted else lines
    newest: dict[str, bytes] = {}
    for line in lines[-_CATALOG_LINES:]:
        if match := _ID.search(line):
            name = match[1].decode()
            newest[name] = line if b'"meta":' in line else newest.get(name, line)
    known = {name: line for name, line in newest.items() if _value(name, prefix)}
    if not known:
        known = {name: b"" for name in sorted(os.listdir(folder)) if _value(name, prefix)}
    found = []
    for name in sorted(known, key=lambda name: _active(known[name]), reverse=True):
        if os.path.isdir(os.path.join(folder, name)):
            found.append((_value(name, prefix) or name, _about(folder, name, known[name])))
        if len(found) == LIMIT:
            break
    return found


def _active(line: bytes) -> str:
    match = _ACTIVE.search(line)
    return match[1].decode() if match else ""


def _about(folder: str, name: str, line: bytes) -> str:
    """Return title and age of a session, from its line in the catalogue or its metadata."""
    try:
        if b'"meta":' in line:
            meta = json.loads(line)["meta"]
        else:
            with open(os.path.join(folder, name, "meta.json"), "rb") as source:
                meta = json.load(source)
        told = meta.get("title") or meta.get("channel") or "untitled"
        return f"{_plain(str(told))}, {_age(meta['lastActiveAt'])}"
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""


def _age(text: str) -> str:
    minutes = (datetime.now(UTC) - datetime.fromisoformat(text)).total_seconds() / 60
    if minutes < 60:
        return f"{max(0, int(minutes))} min ago"
    return f"{int(minutes / 60)} h ago" if minutes < 48 * 60 else f"{int(minutes / 1440)} d ago"


def _trash(agent: str, prefix: str) -> Found:
    folder = os.path.join(agent, "trash", "sessions")
    parts = [name.partition("~") for name in os.listdir(folder) if "~" in name]
    named = sorted(parts, key=lambda part: part[2], reverse=True)
    found = {
        value: f"deleted {stamp[:4]}-{stamp[4:6]}-{stamp[6:8]}"
        for name, _tilde, stamp in named
        if (value := _value(name, prefix))
    }
    return list(found.items())[:LIMIT]
