"""Approximate nearest neighbours (HNSW) beside the flat matrix, with the optional ``hnswlib``.

hnswlib trusts its files: a wrong one crashes the process, searches another space or reports
nothing at all. So a file is opened only after its length, SHA-256, model, dimension, space and
source matrix have been compared with what was recorded when it was built; and every cosine that
leaves this module comes from the flat matrix, from which the file can be built again.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from openclaw_cli.errors import DamagedError, StorageError, UnavailableError
from openclaw_cli.index.file import vectors
from openclaw_cli.index.file.checksum import sample_digest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from openclaw_cli.index.file.vectors import Mask, Matrix

SPACE = "cosine"
LINKS = 16
EF_CONSTRUCTION = 200
EF_SEARCH = 100

_SEED = 100
_ADD_ROWS = 4096
# With fewer allowed rows than this part, an exact scan of them is sure and fast.
_MIN_ALLOWED = 0.5
_LEAST_ASKED = 50


@dataclass(frozen=True, slots=True)
class HnswMeta:
    """What is recorded about an index file, to be compared before it is opened.

    ``length`` in bytes and ``sha256`` of the file, ``source`` the sampled checksum of the matrix
    that it was built from, ``model`` the embedding model with its digest, ``count`` the vectors.
    """

    length: int
    sha256: str
    source: str
    model: str
    count: int
    dim: int
    space: str = SPACE
    links: int = LINKS
    ef_construction: int = EF_CONSTRUCTION
    ef_search: int = EF_SEARCH

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: Mapping[str, Any]) -> HnswMeta:
        """Read what ``as_dict`` gave; DamagedError when a field is missing or of another type."""
        kinds = {name: str(kind) for name, kind in cls.__annotations__.items()}
        values = {name: raw.get(name) for name in kinds}
        for name, value in values.items():
            if type(value).__name__ != kinds[name]:
                raise DamagedError(f"the description of the HNSW index lacks {name!r}")
        return cls(**values)  # type: ignore[arg-type]


def available() -> bool:
    """Tell whether the optional package ``hnswlib`` is installed."""
    return find_spec("hnswlib") is not None


def build(matrix: Matrix, out_path: str, *, model: str, threads: int = 1) -> HnswMeta:
    """Build the index of ``matrix`` in ``out_path`` (a temporary file) and describe it.

    Rows that are not finite or of no length stay out. With one thread the same matrix gives the
    same file. StorageError when the file on disk is not complete; UnavailableError without
    ``hnswlib``. The caller makes the file durable and renames it.
    """
    import numpy as np

    index = _new_index(matrix.shape[1])
    index.init_index(
        max_elements=max(1, len(matrix)),
        ef_construction=EF_CONSTRUCTION,
        M=LINKS,
        random_seed=_SEED,
    )
    count = 0
    for start in range(0, len(matrix), _ADD_ROWS):
        block = matrix[start : start + _ADD_ROWS]
        with np.errstate(all="ignore"):
            norms = np.linalg.norm(block, axis=1)
        usable = np.flatnonzero(np.isfinite(norms) & (norms > 0))
        if len(usable):
            index.add_items(block[usable], usable + start, num_threads=threads)
            count += len(usable)
    expected = index.index_file_size()
    try:
        index.save_index(os.fspath(out_path))
        sha256 = _digest(out_path, expected)
    except (OSError, RuntimeError) as error:
        raise StorageError(f"cannot write {out_path}: {error}", path=out_path) from error
    if sha256 is None:
        # hnswlib does not report a full disk.
        raise StorageError(
            f"{out_path} is not the {expected} bytes that were written: is the disk full?",
            path=out_path,
        )
    return HnswMeta(expected, sha256, _source(matrix), model, count, int(matrix.shape[1]))


def open_index(path: str, meta: HnswMeta, matrix: Matrix, *, model: str) -> HnswIndex:
    """Open the index file of ``matrix`` after checking that it is the one that ``meta`` describes.

    DamagedError, before hnswlib sees the file, when its length or SHA-256 differs, or when it
    was built for another model, dimension, space or matrix; UnavailableError without
    ``hnswlib``. In both cases an exact search of the matrix answers.
    """
    wrong = _mismatch(meta, matrix, model)
    if wrong is None:
        try:
            wrong = "file" if _digest(path, meta.length) != meta.sha256 else None
        except OSError as error:
            raise _damaged(path, f"cannot be read ({error.strerror})") from error
    if wrong is not None:
        raise _damaged(path, f"does not fit: another {wrong}")
    # Always a new object: one that failed to load once crashes later.
    index = _new_index(meta.dim)
    try:
        index.load_index(os.fspath(path), max_elements=max(1, meta.count))
    except RuntimeError as error:
        raise _damaged(path, f"cannot be loaded ({error})") from error
    index.set_num_threads(1)
    return HnswIndex(index, meta, matrix)


class HnswIndex:
    """An open index with the matrix that it was built from."""

    def __init__(self, index: Any, meta: HnswMeta, matrix: Matrix) -> None:
        """Wrap a loaded hnswlib index; use ``open_index``."""
        self._index = index
        self._count = meta.count
        self._matrix = matrix

    def search(self, query: Matrix, k: int, allowed: Mask | None = None) -> list[tuple[int, float]]:
        """Return about the ``k`` nearest rows as (row, exact cosine), the best first.

        The order, rounding and ties are those of ``vectors.top_k``. When ``allowed`` leaves less
        than half of the rows, or the graph yields fewer rows than there are, the answer is that
        exact search.
        """
        import numpy as np

        usable = self._count if allowed is None else int(np.count_nonzero(allowed))
        share = usable / max(1, len(self._matrix))
        # A filter thins out what the graph finds, so ask for as many more.
        asked = max(k, _LEAST_ASKED)
        if allowed is not None:
            asked = int(asked / max(share, 1e-9) * 1.2)
        asked = min(self._count, asked)
        if k <= 0 or asked <= 0 or (allowed is not None and share < _MIN_ALLOWED):
            return vectors.top_k(self._matrix, query, k, allowed)
        # A loaded index has forgotten its ef. Near 200,000 vectors ef = 100 finds 97.4 % of the
        # nearest 10 and ef = k 91 % of the nearest 200; four times as many find over 98 %.
        self._index.set_ef(max(EF_SEARCH, 4 * asked))
        try:
            labels, _ = self._index.knn_query(query, k=asked, num_threads=1)
        except RuntimeError:
            # A graph with parts that cannot be reached yields fewer than asked.
            return vectors.top_k(self._matrix, query, k, allowed)
        rows = np.sort(labels[0].astype(np.intp))
        if allowed is not None:
            rows = rows[allowed[rows]]
        if len(rows) < min(k, usable):
            return vectors.top_k(self._matrix, query, k, allowed)
        mask = np.zeros(len(self._matrix), dtype=np.bool_)
        mask[rows] = True
        return vectors.top_k(self._matrix, query, k, mask)


def _mismatch(meta: HnswMeta, matrix: Matrix, model: str) -> str | None:
    checks = (
        ("space", meta.space == SPACE),
        ("model", meta.model == model),
        ("dimension", meta.dim == matrix.shape[1]),
        ("matrix", meta.count <= len(matrix) and meta.source == _source(matrix)),
    )
    return next((name for name, fits in checks if not fits), None)


def _source(matrix: Matrix) -> str:
    return sample_digest(matrix.data.cast("B") if matrix.size else b"")


def _new_index(dim: int) -> Any:
    try:
        import hnswlib
    except ImportError as error:
        raise UnavailableError(
            "an HNSW index needs the package hnswlib",
            hint="install the extra `hnsw`; exact search works without it",
        ) from error
    return hnswlib.Index(space=SPACE, dim=dim)


def _digest(path: str, length: int) -> str | None:
    with open(path, "rb") as stream:
        if os.fstat(stream.fileno()).st_size != length:
            return None
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _damaged(path: str, what: str) -> DamagedError:
    return DamagedError(
        f"the HNSW index {path} {what}",
        hint="`openclaw memory index` builds it again; until then the search is exact",
        path=path,
    )
