"""Configuration: ``<state>/openclaw.json`` (JSON5) below the environment below options.

A value of the wrong type is an error that names file, line and key; `config_keys` is the schema.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from openclaw_cli.config_keys import (
    FOREIGN,
    GENERAL,
    KEYS,
    NO_OPENAI,
    UNUSED,
    Key,
    Prices,
    Value,
    span_seconds,
)
from openclaw_cli.config_syntax import lines_of, parse, repeated
from openclaw_cli.errors import ConfigError, StorageError

_MAX_BYTES = 1 << 20
_MOST_DOUBTS = 50
_REPEATED = "stands there more than once; the last one counts"


class Problem(NamedTuple):
    """What the configuration may not hold, or holds in vain; ``line`` is None outside the file.

    ``code`` says which kind of doubt it is: unknown-key, repeated-key or no-effect.
    """

    key: str
    line: int | None
    message: str
    code: str = ""

    def document(self) -> dict[str, Any]:
        """Return the problem as it stands in a JSON document."""
        return {"key": self.key, "line": self.line, "message": self.message}


class Config(NamedTuple):
    """The configuration in force: a value and an origin for every key of the schema.

    ``document`` is what the file holds, keys of other programs included.
    """

    path: Path | None
    values: Mapping[str, Value]
    origins: Mapping[str, str]
    document: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path, environ: Mapping[str, str] | None = None) -> Config:
        """Read ``path`` (which need not exist) and the environment.

        Raises `ConfigError` for a file that is no JSON5 object or a value of the wrong type, and
        `StorageError` for a file that cannot be read.
        """
        environ = os.environ if environ is None else environ
        data = _read(path)
        document = {} if data is None else parse(path, data)
        values, origins, problems = _settle(document, environ)
        if problems:
            raise _refusal(path, data, problems)
        return cls(path, values, origins, document)

    @classmethod
    def defaults(cls) -> Config:
        """Return the configuration of an empty file and an empty environment."""
        values, origins, _ = _settle({}, {})
        return cls(None, values, origins, {})

    def get(self, key: str) -> Value:
        """Return the value of a key of the schema."""
        return self.values[key]

    def text(self, key: str) -> str:
        """Return the value of a text key that is never null."""
        return cast("str", self.values[key])

    def optional_text(self, key: str) -> str | None:
        """Return the value of a text key; None for null."""
        return cast("str | None", self.values[key])

    def integer(self, key: str) -> int:
        """Return the value of a whole-number key that is never null."""
        return cast("int", self.values[key])

    def number(self, key: str) -> float:
        """Return the value of a number key that is never null."""
        return float(cast("float", self.values[key]))

    def flag(self, key: str) -> bool:
        """Return the value of a yes-or-no key."""
        return cast("bool", self.values[key])

    def prices(self, key: str) -> Prices:
        """Return the price of a million tokens by model and kind; empty for null."""
        return cast("Prices", self.values[key] or {})

    def seconds(self, key: str) -> int:
        """Return the value of a duration key in seconds."""
        return span_seconds(self.text(key))

    def origin(self, key: str) -> str:
        """Return where the value comes from: default, file, or ``environment NAME``."""
        return self.origins[key]

    def items(self) -> Iterator[tuple[Key, Value, str]]:
        """Yield schema entry, value and origin of every key, in the order of the schema."""
        for name, key in KEYS.items():
            yield key, self.values[name], self.origins[name]

    def doubts(self) -> list[Problem]:
        """Return what is allowed and has no effect, in the order of its lines.

        That is keys of the memory and session sections that do not exist, each with the nearest
        one, those that stand there twice, and settings that this version cannot follow. Of very
        many the first are returned.
        """
        data = None if self.path is None else _read(self.path)
        text = "" if data is None else data.decode("utf-8-sig", "replace")
        lines = lines_of(text)
        found = [(name, _no_such_key(name), "unknown-key") for name in _unknown(self.document)]
        twice = repeated(text, ("memory", "session"))[:_MOST_DOUBTS]
        found += [(name, _REPEATED, "repeated-key") for name in twice]
        for key, value, origin in self.items():
            if key.name == "memory.embedding.provider" and value == "openai":
                found.append((key.name, f"is openai: {NO_OPENAI}", "no-effect"))
            elif origin != "default" and key.doc.startswith(UNUSED):
                found.append((key.name, "is not used by this version", "no-effect"))
        problems = [Problem(name, lines.get(name), message, code) for name, message, code in found]
        problems.sort(key=lambda problem: (problem.line is None, problem.line))
        return problems


def secret(name: str) -> str | None:
    """Return what the environment variable holds that a key such as ``apiKeyEnv`` names."""
    return os.environ.get(name) or None if name else None


def _read(path: Path) -> bytes | None:
    """Return what the file holds; None where there is none, or no directory for it."""
    try:
        # Without waiting: a pipe in its place could keep the reader for ever.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _unreadable(path, "not a regular file")
    with os.fdopen(fd, "rb") as source:
        try:
            data = source.read(_MAX_BYTES + 1)
        except OSError as error:
            raise _unreadable(path, error.strerror or str(error)) from error
    if len(data) > _MAX_BYTES:
        raise ConfigError(
            f"{path}: the file is larger than 1 MiB",
            path=str(path),
            hint="this is no configuration; move the file away",
        )
    return data


def _unreadable(path: Path, reason: str) -> StorageError:
    return StorageError(
        f"cannot read {path}: {reason}",
        path=str(path),
        hint="check what stands there and its permissions, or give another --state-dir",
    )


_Settled = tuple[dict[str, Value], dict[str, str], list[tuple[str, str]]]


def _settle(document: Mapping[str, Any], environ: Mapping[str, str]) -> _Settled:
    """Return values and origins of all keys, and ``(key, message)`` of every bad value."""
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    problems: list[tuple[str, str]] = []

    def take(key: Key, name: str, value: object, origin: str) -> None:
        if faults := _faults(key, name, value):
            problems.extend(faults)
        else:
            values[key.name] = cast("Value", value)
            origins[key.name] = origin

    flat = _flatten(document, problems) if document else {}
    for name, targets in GENERAL.items():
        for target in targets:
            if name in flat:
                take(KEYS[target], name, flat[name], "file")
    for name, key in KEYS.items():
        if name in flat:
            take(key, name, flat[name], "file")
        if key.env and environ.get(key.env):
            take(key, key.env, key.read(environ[key.env]), f"environment {key.env}")
        if name not in values:
            values[name] = key.default
            origins[name] = "default"
    return values, origins, list(dict.fromkeys(problems))


def _faults(key: Key, name: str, value: object) -> list[tuple[str, str]]:
    return [
        (name + below, f"must be {expected}, not {_show(bad)}")
        for below, expected, bad in key.faults(value)
    ]


def _sections() -> frozenset[str]:
    """Return the dotted names of all objects that the schema enters."""
    names = [*KEYS, *GENERAL]
    return frozenset(
        name[:place] for name in names for place in range(len(name)) if name[place] == "."
    )


def _flatten(document: Mapping[str, Any], problems: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the values below the sections of the schema by dotted name; others are passed by."""
    sections = _sections()
    flat: dict[str, Any] = {}
    pending: list[tuple[str, Any]] = list(document.items())
    while pending:
        name, value = pending.pop()
        if name not in sections:
            flat[name] = value
        elif isinstance(value, dict):
            pending.extend((f"{name}.{part}", inner) for part, inner in value.items())
        else:
            problems.append((name, f"must be an object {{...}}, not {_show(value)}"))
    return flat


def _show(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    shown = repr(value) if isinstance(value, str) else str(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _refusal(path: Path, data: bytes | None, found: list[tuple[str, str]]) -> ConfigError:
    text = "" if data is None else data.decode("utf-8-sig", "replace")
    variables = {key.env for key in KEYS.values()}
    lines = lines_of(text)
    problems = [
        Problem(name, None if name in variables else lines.get(name), message)
        for name, message in found
    ]
    problems.sort(key=lambda problem: (problem.line is None, problem.line))
    first = problems[0]
    in_file = first.key not in variables
    place = str(path) if in_file else "environment"
    line = f":{first.line}" if first.line else ""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return ConfigError(
        f"{place}{line}: {first.key} {first.message}{more}",
        path=str(path) if in_file else None,
        hint="openclaw config validate lists every problem, config schema what is allowed",
        details={"problems": [problem.document() for problem in problems]},
    )


def _unknown(document: Mapping[str, Any]) -> list[str]:
    known = {*KEYS, *GENERAL, *FOREIGN}
    flat = _flatten(document, []) if document else {}
    ours = (name for name in flat if name.startswith(("memory.", "session.")))
    return [name for name in ours if name not in known][:_MOST_DOUBTS]


def _no_such_key(name: str) -> str:
    near = suggest(name, general=True)
    return "is no key" + (f"; did you mean {near}?" if near else "")


def suggest(name: str, *, general: bool = False) -> str | None:
    """Return the key or section that ``name`` most likely means, or None.

    ``general`` takes the general forms, which only the file may use, into account.
    """
    from difflib import get_close_matches

    names: list[str] = [
        *KEYS,
        *(GENERAL if general else ()),
        *(name for name in sorted(_sections()) if "." in name),
    ]
    near: list[str] = get_close_matches(name, names, n=1)
    if near:
        return near[0]
    last = name.rpartition(".")[2].lower()
    return next((key for key in KEYS if key.lower().endswith(f".{last}")), None)
