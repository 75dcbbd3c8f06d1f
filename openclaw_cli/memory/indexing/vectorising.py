"""Vectors for a new generation: kept ones by content hash, an interrupted run's, new ones."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from openclaw_cli.embed.manifest import ModelInfo
from openclaw_cli.errors import DamagedError, UnavailableError
from openclaw_cli.index.file.base import Base
from openclaw_cli.index.protocol import Document, Vector
from openclaw_cli.memory.store import Store
from openclaw_cli.store import checksummed, fsio, wal

if TYPE_CHECKING:
    from openclaw_cli.embed.onnx import Task

#: Texts embedded together: among more of them are more of one length, which need less padding
#: (4 % less work than with 256), but a killed run loses what it has made of them.
BATCH = 1024
#: The first batch of many, which nothing is embedded beside; each one after it has twice as many.
_FIRST = 128


class Item(NamedTuple):
    """A document on its way into the generation, the model that reads it, and its indexed text."""

    document: Document
    model: ModelInfo | None
    text: str


class _Batch(NamedTuple):
    """Items that one model reads, and the task of embedding them."""

    model: ModelInfo
    items: list[Item]
    task: Task


class Vectors:
    """Fills in the vectors of documents in batches and counts what it did.

    ``source`` is the generation whose vectors may be used again; ``embed`` allows new ones to be
    made. Each batch made is kept in a side file until the generation is published, so that a
    killed run goes on where it was.
    """

    def __init__(self, store: Store, source: Base | None, *, embed: bool) -> None:
        self._store = store
        self._source = source
        self._embed = embed
        self._ahead: _Batch | None = None
        self.embedded = 0
        self.truncated = 0

    def fill(self, items: Iterable[Item], count: int) -> Generator[Document]:
        """Yield every document, with its vector where a model reads it and one can be had.

        ``count`` is how many there are at most. While one batch is being embedded, the texts of the
        next are read and analysed.
        """
        waiting: dict[str, list[Item]] = {}
        size = min(_FIRST, BATCH) if count > BATCH else BATCH
        try:
            for item in items:
                vector = self._known(item)
                if vector is not None:
                    yield item.document._replace(vector=vector, pending=False)
                elif item.model is None or not self._embed:
                    yield _without_vector(item)
                else:
                    group = waiting.setdefault(item.model.name, [])
                    group.append(item)
                    if len(group) >= size:
                        size = min(2 * size, BATCH)
                        yield from self._after(self._prepared(waiting.pop(item.model.name)))
            for group in waiting.values():
                yield from self._after(self._prepared(group))
            yield from self._after(None)
        finally:
            if self._ahead is not None:
                self._ahead.task.cancel()

    def _known(self, item: Item) -> Vector | None:
        model, carried = item.model, item.document.vector
        if model is None:
            return None
        if carried is not None and (carried.model, carried.digest) == (model.name, model.digest):
            return carried
        if self._source is None and not self._partial:
            return None
        data = self._partial.get(_label(model, item.document.content_hash))
        if data is None or len(data) != model.dimensions * 4:
            data = self._from_source(model, item.document.content_hash)
        return None if data is None else Vector(model.name, model.digest, data)

    def _prepared(self, items: list[Item]) -> _Batch:
        """Cut the texts of a batch, all of which one model reads, into tokens."""
        model = items[0].model
        assert model is not None
        with _hinting():
            task = self._store.embedding.prepare(model, [item.text for item in items])
        return _Batch(model, items, task)

    def _after(self, following: _Batch | None) -> Iterator[Document]:
        """Begin with a batch as soon as the one before is done; yield the documents of that."""
        done, self._ahead = self._ahead, None
        if done is not None:
            with _hinting():
                vectors, cut = self._store.embedding.made(done.model, done.task)
        if following is not None:
            following.task.start()
            self._ahead = following
        if done is None:
            return
        self.embedded += len(done.items)
        self.truncated += sum(cut)
        self._keep(done.model, done.items, vectors)
        for item, vector in zip(done.items, vectors, strict=True):
            yield item.document._replace(vector=vector, pending=False)

    def _keep(self, model: ModelInfo, items: list[Item], vectors: list[Vector]) -> None:
        lines = (
            wal.encode_line(
                {
                    "of": _label(model, item.document.content_hash),
                    "vector": b64encode(vector.data).decode("ascii"),
                }
            )
            for item, vector in zip(items, vectors, strict=True)
        )
        fsio.append(self._store.paths.partial, b"".join(lines))

    @cached_property
    def _partial(self) -> dict[str, bytes]:
        """The vectors that an interrupted run has left, by model and content hash."""
        path = self._store.paths.partial
        found: dict[str, bytes] = {}
        with suppress(ValueError):
            for line in checksummed.lines(path):
                if not line.ended:
                    fsio.cut(path, line.begin)
                elif line.raw is not None:
                    body, _problem = wal.decode_line(line.raw)
                    with suppress(KeyError, TypeError, ValueError):
                        if body is not None:
                            found[body["of"]] = b64decode(body["vector"])
        return found

    def _from_source(self, model: ModelInfo, content_hash: str) -> bytes | None:
        row = self._rows(model).get(content_hash)
        if row is None or self._source is None:
            return None
        data: bytes = self._source.matrix(model.name)[row].tobytes()
        return data

    def _rows(self, model: ModelInfo) -> dict[str, int]:
        if model.name not in self._row_maps:
            self._row_maps[model.name] = self._map_rows(model)
        return self._row_maps[model.name]

    @cached_property
    def _row_maps(self) -> dict[str, dict[str, int]]:
        return {}

    def _map_rows(self, model: ModelInfo) -> dict[str, int]:
        source = self._source
        if source is None or model.name not in source.config.spaces:
            return {}
        if source.config.spaces[model.name].info.digest != model.digest:
            return {}
        try:
            source.matrix(model.name)
            hashes = source.metadata.plain("hash")
            return {hashes[ordinal]: row for row, ordinal in enumerate(source.rows(model.name))}
        except DamagedError:
            return {}  # the run has told already that it builds these files anew


@contextmanager
def _hinting() -> Iterator[None]:
    """Say with a failure of the model how to index without it."""
    try:
        yield
    except UnavailableError as error:
        hint = "words are indexed without vectors by: openclaw memory index --no-embed"
        raise UnavailableError(
            error.message, hint=f"{error.hint}; {hint}", path=error.path
        ) from error


def _without_vector(item: Item) -> Document:
    document, pending = item.document, item.model is not None
    if document.vector is None and document.pending == pending:
        return document
    return document._replace(vector=None, pending=pending)


def _label(model: ModelInfo, content_hash: str) -> str:
    return f"{model.digest[:16]}:{content_hash}"
