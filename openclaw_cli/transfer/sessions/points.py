"""Branch points on the way to another machine: known by how many messages lie before them.

The bytes of a history that has been exported and imported may be others, for white space around
messages stays behind. A branch point that fits the history it is exported with fits the imported
one as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from openclaw_cli.paths import SessionFiles
from openclaw_cli.session import branches, transcript

#: The field that an export adds to a branch point that fits: the number of messages before it.
_MESSAGES = "messages"

Document = dict[str, Any]


def counted(files: SessionFiles, documents: list[Any]) -> list[Any]:
    """Return the documents of branch points, each that fits with its number of messages."""
    if not documents:
        return documents
    survey = branches.survey(files)
    sizes = {point.name: point.size for point in survey.points if point.name in survey.matching}
    numbers = dict.fromkeys(sizes.values(), 0)
    furthest = max(numbers, default=0)
    with transcript.opened(files) as history:
        for line in history.forward() if history is not None else ():
            if line.at >= furthest:
                break
            if line.message is not None:
                for size in numbers:
                    numbers[size] += line.at < size
    return [_with_number(document, sizes, numbers) for document in documents]


def _with_number(document: Any, sizes: dict[str, int], numbers: dict[int, int]) -> Any:
    size = sizes.get(str(document.get("name"))) if isinstance(document, dict) else None
    return document if size is None else {**document, _MESSAGES: numbers[size]}


class Points:
    """Follows the messages of an import, to say where its branch points lie now."""

    def __init__(self, documents: object) -> None:
        given = documents if isinstance(documents, list) else []
        self._wanted = set(_numbers(each for each in given if isinstance(each, dict)))
        self._places: dict[int, tuple[int, str]] = {}
        self._digest = sha256()
        self._count = self._size = 0
        self._note()

    def add(self, raw: bytes) -> None:
        """Note the next line, without its end."""
        if not self._wanted:
            return
        self._digest.update(raw + b"\n")
        self._count += 1
        self._size += len(raw) + 1
        self._note()

    def _note(self) -> None:
        if self._count in self._wanted:
            self._wanted.discard(self._count)
            self._places[self._count] = (self._size, self._digest.hexdigest())

    def placed(self, document: Document) -> Document:
        """Return a branch point as it is of the imported history."""
        kept = {name: value for name, value in document.items() if name != _MESSAGES}
        for number in _numbers([document]):
            if number in self._places:
                size, digest = self._places[number]
                kept |= {"bytes": size, "sha256": digest}
        return kept


def _numbers(documents: Iterable[Document]) -> list[int]:
    found = [document.get(_MESSAGES) for document in documents]
    return [number for number in found if type(number) is int]
