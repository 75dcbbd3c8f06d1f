"""The text of the configuration: its JSON5, what is wrong with it, where its keys stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from openclaw_cli.errors import ConfigError

_MAX_DEPTH = 200
#: What the parser calls things, and what people call them.
_NAMES = {
    "JSON5Value": "a value",
    "IdentifierStart": "a key",
    "colon": "a colon",
    "comma": "a comma",
    "hexadecimal character": "a hexadecimal digit",
    "object": "the object {",
    "array": "the list [",
    "string": "the text",
    "comment": "the comment",
}
_TOKEN = (
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|\s+)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<mark>[][{}:,])|(?P<word>[^][{}:,"'\s/]+)"""
)


def parse(path: Path, data: bytes) -> dict[str, Any]:
    """Return what the file ``path`` holds; a file without a value in it holds no settings.

    Raises `ConfigError` for what is no JSON5, or no object.
    """
    import orjson

    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError:
        document = _parse_json5(path, data)
    if not isinstance(document, dict):
        raise ConfigError(
            f"{path}: the file must hold one object {{...}}",
            path=str(path),
            hint="correct or remove the file",
        )
    return document


def _parse_json5(path: Path, data: bytes) -> object:
    import pyjson5

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{path}:{line}: byte {error.start} is not UTF-8",
            path=str(path),
            hint="save the file as UTF-8",
        ) from error
    try:
        return pyjson5.decode(text, maxdepth=_MAX_DEPTH)
    except pyjson5.Json5DecoderException as error:
        said = str(error.args[0]) if error.args else "it cannot be read"
        if said.startswith("No JSON data found"):
            return {}
        near = re.search(r"near (\d+)", said)
        place = max(0, int(near[1]) - 1) if near else 0
        line = text.count("\n", 0, place) + 1
        deep = isinstance(error, pyjson5.Json5NestingTooDeep)
        reason = (
            f"nested more than {_MAX_DEPTH} levels deep"
            if deep
            else f"this is not JSON5: {_in_plain_words(said, text[place:])}"
        )
        raise ConfigError(
            f"{path}:{line}: {reason}",
            path=str(path),
            hint="correct the file; openclaw config validate checks it",
        ) from error


def _in_plain_words(said: str, rest: str) -> str:
    """Return a complaint of the parser as people would say it; ``rest`` is where it stopped."""
    word = re.match(r"[^\s,\]}]{0,40}", rest)
    if "NumericLiteral" in said:
        return f"{word[0] if word else ''} is not a number that can be kept"
    said = re.sub(r" near \d+", "", said)
    said = re.sub(r"b'([\w ]+)'", lambda name: _NAMES.get(name[1], name[1]), said)
    said = re.sub(r"U\+([0-9a-fA-F]+)", lambda code: repr(chr(int(code[1], 16))), said)
    if unclosed := re.fullmatch("Unclosed (.+) starting", said):
        return f"{unclosed[1]} that begins here has no end"
    if extra := re.fullmatch("Extra data (.+)", said):
        return f"{extra[1]} stands after the end of the object"
    said = re.sub("^Stray (.+)", r"\1 too many", said)
    said = re.sub("^Expected (.+), found (.+)", r"\1 must stand here, not \2", said)
    return said[:1].lower() + said[1:]


def lines_of(text: str) -> dict[str, int]:
    """Return the line of every key, by dotted name, in JSON5 text that has been parsed already.

    The last one counts where a key is repeated, as for the parser.
    """
    return {".".join(names): line for names, line in _keys(text)}


def repeated(text: str, sections: Sequence[str]) -> list[str]:
    """Return the dotted names of keys in ``sections`` that stand more than once in one object."""
    seen: set[tuple[str, ...]] = set()
    twice: dict[tuple[str, ...], None] = {}
    for names, _line in _keys(text):
        inside = any(names[:length] in twice for length in range(1, len(names)))
        if names in seen and names[0] in sections and not inside:
            twice[names] = None
        seen.add(names)
    return [".".join(names) for names in twice]


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield every key that stands in no list, with the names above it, and its line."""
    path: list[str | None] = []
    key: str | None = None
    line, counted = 1, 0
    for token in re.finditer(_TOKEN, text, re.DOTALL):
        if token["text"] or token["word"]:
            key = token["word"] or token["text"][1:-1]
        elif token["mark"] == ":":
            line += text.count("\n", counted, token.start())
            counted = token.start()
            names = [*path[1:], key]
            if None not in names:
                yield tuple(cast("list[str]", names)), line
        elif token["mark"] in ("{", "["):
            path.append(key if token["mark"] == "{" else None)
            key = None
        elif token["mark"] in ("}", "]") and path:
            path.pop()
