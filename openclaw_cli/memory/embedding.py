"""Vectors for texts: which model reads them, one session a model, failures told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from openclaw_cli.embed.catalog import Catalog, require_sound
from openclaw_cli.embed.manifest import ModelInfo
from openclaw_cli.index.protocol import Vector

if TYPE_CHECKING:
    import numpy

    from openclaw_cli.embed.onnx import OnnxEmbedder, Task


class Embedding:
    """The embedders of one command; each model is loaded when its first text comes.

    ``threads`` is how many processor cores bulk work may use.
    """

    def __init__(self, catalog: Catalog, threads: int) -> None:
        self.catalog = catalog
        self._threads = threads
        self._embedders: dict[str, OnnxEmbedder] = {}

    def _embedder(self, model: ModelInfo) -> OnnxEmbedder:
        if model.name not in self._embedders:
            from openclaw_cli.embed.onnx import OnnxEmbedder

            self._embedders[model.name] = OnnxEmbedder(model, self._threads)
        return self._embedders[model.name]

    def check(self, models: Sequence[ModelInfo]) -> None:
        """Check the files of ``models`` against their digests; raises `UnavailableError`."""
        for model in models:
            require_sound(model)

    def vectors(self, model: ModelInfo, texts: Sequence[str]) -> tuple[list[Vector], list[bool]]:
        """Return the vectors of ``texts`` in their order, and which texts were truncated."""
        task = self.prepare(model, texts)
        task.start()
        return self.made(model, task)

    def prepare(self, model: ModelInfo, texts: Sequence[str]) -> Task:
        """Return the task of making the vectors of ``texts``, not begun yet."""
        return self._embedder(model).prepare(texts)

    def made(self, model: ModelInfo, task: Task) -> tuple[list[Vector], list[bool]]:
        """Wait for a task; return its vectors, and which texts were truncated."""
        embedded = task.result()
        rows = embedded.vectors.astype("<f4", copy=False)
        made = [Vector(model.name, model.digest, row.tobytes()) for row in rows]
        return made, list(embedded.truncated)

    def query(self, model: ModelInfo, text: str) -> numpy.ndarray:
        """Return the unit vector of a query, shape (dimensions,)."""
        vector: numpy.ndarray = self._embedder(model).embed([text], query=True).vectors[0]
        return vector
