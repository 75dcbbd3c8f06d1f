"""The flat float32 matrix of one embedding space: a view of its bytes, and exact search.

A row is the vector of one record, little-endian, of length 1 (a cosine is then a dot product). A
row that is not finite, or longer than 1, takes part in nothing. numpy is imported by the functions
that compute, so that the module itself costs no import.
"""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]
    Mask = npt.NDArray[np.bool_]

_FLOAT_BYTES = 4
_SCAN_BYTES = 2 * 1024 * 1024
# A row of length 1 has no cosine beyond 1 but for rounding.
_COSINE_LIMIT = 1.001
_DECIMALS = 6
# How far the squared length of a row may be from 1 by rounding.
_LENGTH_SLACK = 0.002
# Below this part of the rows it is cheaper to fetch the allowed ones than to scan all.
_GATHER_PART = 8


def matrix_of(data: mmap.mmap | bytes, rows: int, dim: int) -> Matrix:
    """Return mapped bytes as an array of shape (rows, dim); ValueError when they do not fit."""
    import numpy as np

    if len(data) != rows * dim * _FLOAT_BYTES:
        raise ValueError(f"has {len(data)} bytes, not {rows} rows of {dim} floats")
    matrix: Matrix = np.frombuffer(data, dtype="<f4").reshape(rows, dim)
    return matrix


def cosines(matrix: Matrix, query: Matrix, rows: Sequence[int] | npt.NDArray[np.intp]) -> Matrix:
    """Return the cosine of ``query`` with each of ``rows``; NaN for an unusable row."""
    import numpy as np

    wanted = np.asarray(rows, dtype=np.intp)
    found = np.empty(len(wanted), dtype=np.float32)
    # Each scattered row brings in the pages around it, so fewer at a time.
    step, mapped = max(1, _step(matrix) // 8), _mapping(matrix)
    with np.errstate(all="ignore"):
        for start in range(0, len(wanted), step):
            part = wanted[start : start + step]
            found[start : start + step] = matrix[part] @ query
            _release(mapped)
    return _clean(found)


def top_k(
    matrix: Matrix, query: Matrix, k: int, allowed: Mask | None = None
) -> list[tuple[int, float]]:
    """Return the ``k`` rows nearest to ``query`` as (row, cosine), the best first.

    An exact scan in blocks of 2 MiB, of which one at a time stays in memory. ``query`` has
    length 1; ``allowed`` has one flag per row.
    Cosines are rounded to 6 decimals, so that equal vectors tie wherever they stand; ties come
    by row.
    """
    import numpy as np

    rows: npt.NDArray[np.intp] | None = None
    if allowed is not None:
        rows = np.flatnonzero(allowed)
        if len(rows) * _GATHER_PART < len(matrix):
            return _best(cosines(matrix, query, rows), k, rows)
    found = np.empty(len(matrix), dtype=np.float32)
    step, mapped = _step(matrix), _mapping(matrix)
    with np.errstate(all="ignore"):
        for start in range(0, len(matrix), step):
            np.dot(matrix[start : start + step], query, out=found[start : start + step])
            _release(mapped)
    scores = _clean(found)
    return _best(scores, k, None) if rows is None else _best(scores[rows], k, rows)


def unusable_rows(matrix: Matrix) -> int:
    """Return how many rows have not length 1: no search can use or rightly weigh them."""
    import numpy as np

    count, step, mapped = 0, _step(matrix), _mapping(matrix)
    with np.errstate(all="ignore"):
        for start in range(0, len(matrix), step):
            part = matrix[start : start + step]
            lengths = np.einsum("ij,ij->i", part, part)
            count += int(np.count_nonzero(~(np.abs(lengths - 1) <= _LENGTH_SLACK)))
            _release(mapped)
    return count


def _step(matrix: Matrix) -> int:
    return max(1, _SCAN_BYTES // (int(matrix.shape[1]) * _FLOAT_BYTES))


def _mapping(matrix: Matrix) -> mmap.mmap | None:
    base: object = matrix
    while (under := getattr(base, "base", None)) is not None:
        base = under
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, mmap.mmap) else None


def _release(mapped: mmap.mmap | None) -> None:
    # Pages that were scanned would count as this process's memory until it ends (400 MB at
    # 200,000 x 512). They stay in the system's cache, and coming back costs next to nothing.
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _clean(found: Matrix) -> Matrix:
    import numpy as np

    with np.errstate(all="ignore"):
        found[~(np.abs(found) <= _COSINE_LIMIT)] = np.nan
        np.round(found, _DECIMALS, out=found)
    return found


def _best(scores: Matrix, k: int, rows: npt.NDArray[np.intp] | None) -> list[tuple[int, float]]:
    import numpy as np

    usable = np.flatnonzero(~np.isnan(scores))
    k = min(k, len(usable))
    if k <= 0:
        return []
    values = scores[usable]
    # Everything that ties with the k-th stays in until the stable sort decides by row.
    least = np.partition(values, len(values) - k)[len(values) - k]
    kept = usable[values >= least]
    kept = kept[np.argsort(-scores[kept], kind="stable")][:k]
    labels = kept if rows is None else rows[kept]
    return [(int(row), float(score)) for row, score in zip(labels, scores[kept], strict=True)]
