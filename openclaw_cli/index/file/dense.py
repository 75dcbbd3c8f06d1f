"""Exact and HNSW search of one embedding space, base and newer documents together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from openclaw_cli.index.file import vectors
from openclaw_cli.index.fusion import DenseList
from openclaw_cli.index.protocol import Mask

if TYPE_CHECKING:
    from openclaw_cli.index.file.snapshot import Snapshot


def search(
    snapshot: Snapshot,
    model: str,
    query: np.ndarray,
    mask: Mask,
    count: int,
    also: Sequence[int],
) -> DenseList:
    """Return the nearest allowed documents of a space and the cosines of ``also`` (see `Index`)."""
    cosines = _newer(snapshot, model, query)
    near_sum = sum(cosines.values())
    weight = len(cosines)
    base = snapshot.base
    space = base.config.spaces.get(model) if base is not None else None
    if base is not None and space is not None and space.info.vectors:
        near_sum += float(np.dot(np.asarray(space.mean, np.float32), query)) * space.info.vectors
        weight += space.info.vectors
    if mask is not None:
        cosines = {ordinal: cosine for ordinal, cosine in cosines.items() if mask[ordinal]}
    if base is not None and space is not None and space.info.vectors:
        cosines.update(_base_cosines(snapshot, model, query, mask, count, also))
    order = sorted(cosines, key=lambda ordinal: (-cosines[ordinal], ordinal))[:count]
    return DenseList(model, cosines, tuple(order), near_sum / weight if weight else 0.0)


def _newer(snapshot: Snapshot, model: str, query: np.ndarray) -> dict[int, float]:
    held = [
        (ordinal, np.frombuffer(document.vector.data, "<f4"))
        for ordinal, document in enumerate(snapshot.overlay, snapshot.count - len(snapshot.overlay))
        if document.vector is not None and document.vector.model == model
    ]
    return {
        ordinal: float(vector @ query) for ordinal, vector in held if vector.shape == query.shape
    }


def _base_cosines(
    snapshot: Snapshot,
    model: str,
    query: np.ndarray,
    mask: Mask,
    count: int,
    also: Sequence[int],
) -> dict[int, float]:
    assert snapshot.base is not None
    ordinals = np.asarray(snapshot.base.rows(model), np.int64)
    matrix = snapshot.base.matrix(model)
    if len(ordinals) != len(matrix):
        raise snapshot.base.damaged("metadata.json", f"does not fit the vectors of {model}")
    allowed = None
    if mask is not None:
        allowed = np.frombuffer(mask, np.uint8)[ordinals].astype(bool)
    found = _nearest(snapshot, model, matrix, query, count, allowed)
    cosines = {int(ordinals[row]): cosine for row, cosine in found}
    wanted = np.asarray([o for o in also if o not in cosines], np.int64)
    rows = np.searchsorted(ordinals, wanted)
    rows = rows[(rows < len(ordinals)) & (ordinals[np.minimum(rows, len(ordinals) - 1)] == wanted)]
    for row, cosine in zip(rows, vectors.cosines(matrix, query, rows), strict=True):
        if cosine == cosine:  # not a row that the scan passes over
            cosines[int(ordinals[row])] = float(cosine)
    return cosines


def _nearest(
    snapshot: Snapshot,
    model: str,
    matrix: np.ndarray,
    query: np.ndarray,
    count: int,
    allowed: np.ndarray | None,
) -> list[tuple[int, float]]:
    assert snapshot.base is not None
    if allowed is None:
        graph = snapshot.base.graph(model)
        if graph is not None:
            return graph.search(query, count)
    return vectors.top_k(matrix, query, count, allowed)
