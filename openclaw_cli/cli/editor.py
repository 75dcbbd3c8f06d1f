"""A memory in the operator's own editor: as a text with a few named parts, and back again."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from openclaw_cli.errors import EditorError, UsageError

_HEAD = """\
# {id}: change the parts below, save and leave the editor.
# Lines with # above the first part are ignored; an empty part is cleared. One line "tag: …" a tag.
category: {category}
key: {key}
{tags}"""
_PARTS = {"l0": "the summary that is found", "l1": "an overview", "l2": "the full original"}


class Draft(NamedTuple):
    """What an operator left in the editor."""

    category: str
    key: str
    tags: tuple[str, ...]
    l0: str
    l1: str
    l2: str


def draft_of(record: Mapping[str, Any]) -> Draft:
    """Return the draft of a record document that has all fields."""
    content = record["content"]
    return Draft(
        record["category"],
        record.get("key") or "",
        tuple(record.get("tags") or ()),
        *(str(content.get(level) or "") for level in _PARTS),
    )


def written(record_id: str, draft: Draft) -> str:
    """Return a draft as the text that is edited."""
    tags = "".join(f"tag: {tag}\n" for tag in draft.tags)
    head = _HEAD.format(id=record_id, category=draft.category, key=draft.key, tags=tags)
    parts = (f"\n== {name}: {what}\n{getattr(draft, name)}\n" for name, what in _PARTS.items())
    return head + "".join(parts)


def parsed(text: str) -> Draft:
    """Return the draft that an edited text holds; raises ``ValueError`` with the reason."""
    fields: dict[str, str] = {}
    tags: list[str] = []
    parts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n"):
        name = line[3:].partition(":")[0].strip() if line.startswith("== ") else ""
        if name in _PARTS and name not in parts:
            current = parts.setdefault(name, [])
        elif current is not None:
            current.append(line)
        elif line.strip() and not line.startswith("#"):
            name, colon, value = line.partition(":")
            if not colon or name.strip() not in ("category", "key", "tag"):
                raise ValueError(f"the line {line[:40]!r} is none of category, key, tag")
            if name.strip() == "tag":
                tags.append(value.strip())
            fields[name.strip()] = value.strip()
    missing = [name for name in (*_PARTS, "category") if name not in {**parts, **fields}]
    if missing:
        raise ValueError(f"the part {missing[0]} is missing")
    levels = {name: "\n".join(held).strip("\n") for name, held in parts.items()}
    return Draft(fields["category"], fields.get("key", ""), tuple(filter(None, tags)), **levels)


def edited(program: str, record_id: str, draft: Draft) -> dict[str, Any]:
    """Let the operator change a draft in an editor; return the parts that were changed.

    Raises `EditorError` when the editor fails, or when what it left cannot be read: then the file
    is kept, and the error names it.
    """
    fd, name = tempfile.mkstemp(prefix="openclaw-edit-", suffix=".txt")
    path = Path(name)
    with os.fdopen(fd, "w", encoding="utf-8", newline="") as stream:
        stream.write(written(record_id, draft))
    try:
        _run(program, path)
    except EditorError:
        path.unlink(missing_ok=True)
        raise
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            found = parsed(stream.read())
    except (OSError, ValueError) as error:
        kept = path.exists()
        raise EditorError(
            f"what the editor left cannot be read: {error}",
            hint="your text is kept there; nothing was changed" if kept else "nothing was changed",
            path=name if kept else None,
        ) from error
    path.unlink(missing_ok=True)
    before = parsed(written(record_id, draft))
    return {
        part: value for part, value in found._asdict().items() if value != getattr(before, part)
    }


def _run(program: str, path: Path) -> None:
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise UsageError(
            f"the editor {program!r} cannot be run: {error}",
            hint="correct $VISUAL or $EDITOR, or give the change as options",
        ) from error
    try:
        status = subprocess.run([*words, str(path)], check=False).returncode
    except OSError as error:
        raise EditorError(
            f"the editor {program} cannot be run: {error.strerror or error}",
            hint="set EDITOR, or give the change as options",
        ) from error
    if status != 0:
        raise EditorError(
            f"the editor {program} ended with status {status}", hint="nothing was changed"
        )
