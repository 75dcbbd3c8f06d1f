from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_cli.index.file import vectors
from openclaw_cli.store import files

Matrix = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


def unit_rows(rows: int, dim: int, seed: int = 1) -> Matrix:
    matrix = np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def mapped_file(path: Path, *blocks: Matrix) -> Matrix:
    """Write the blocks one after the other and map them as one matrix."""
    with path.open("wb") as target:
        for block in blocks:
            target.write(block.astype("<f4").tobytes())
    rows = sum(len(block) for block in blocks)
    return vectors.matrix_of(files.mapped(path), rows, blocks[0].shape[1])


# Bytes.


def test_a_mapped_matrix_holds_the_rows_that_were_written(tmp_path: Path) -> None:
    one, other = unit_rows(1500, 384), unit_rows(3, 384, seed=2)
    matrix = mapped_file(tmp_path / "m.f32", one, other)
    assert np.array_equal(matrix, np.concatenate([one, other]))
    assert not matrix.flags.writeable


@pytest.mark.parametrize("rows", [9, 11], ids=["a row more", "a row less"])
def test_bytes_of_another_length_are_no_matrix(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "m.f32"
    path.write_bytes(unit_rows(10, 8).tobytes())
    with pytest.raises(ValueError, match="320 bytes"):
        vectors.matrix_of(files.mapped(path), rows, 8)
    with pytest.raises(ValueError, match="319 bytes"):
        vectors.matrix_of(path.read_bytes()[:-1], 10, 8)


def test_a_matrix_without_rows_finds_nothing(tmp_path: Path) -> None:
    matrix = mapped_file(tmp_path / "m.f32", np.empty((0, 8), dtype=np.float32))
    query = unit_rows(1, 8)[0]
    assert matrix.shape == (0, 8)
    assert vectors.top_k(matrix, query, 5) == []
    assert vectors.top_k(matrix, query, 5, np.zeros(0, dtype=np.bool_)) == []
    assert len(vectors.cosines(matrix, query, [])) == 0


# Searching.


def naive(matrix: Matrix, query: Matrix, k: int, allowed: Mask | None) -> list[int]:
    scores = [
        (-round(float(np.float32(row @ query)), 5), index)
        for index, row in enumerate(matrix.astype(np.float64))
        if (allowed is None or allowed[index]) and np.isfinite(row).all()
    ]
    return [index for _, index in sorted(scores)[:k]]


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(0, 60),
    dim=st.integers(1, 12),
    k=st.integers(0, 70),
    share=st.sampled_from([None, 0.0, 0.05, 0.5, 1.0]),
    seed=st.integers(0, 999),
)
def test_exact_search_agrees_with_a_plain_loop(
    rows: int, dim: int, k: int, share: float | None, seed: int
) -> None:
    # Coordinates of which sums are exact, so that ties are real.
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-2, 3, (rows, dim)).astype(np.float32) / np.float32(4 * dim)
    query = rng.integers(-2, 3, dim).astype(np.float32) / np.float32(2)
    allowed = None if share is None else rng.random(rows) < share
    found = vectors.top_k(matrix, query, k, allowed)
    scores = {row: float(matrix[row].astype(np.float64) @ query) for row, _ in found}
    assert all(score == pytest.approx(scores[row], abs=2e-6) for row, score in found)
    wanted = naive(matrix, query, k, allowed)
    assert [round(scores[row], 5) for row, _ in found] == pytest.approx(
        [round(float(matrix[row].astype(np.float64) @ query), 5) for row in wanted], abs=2e-5
    )
    assert len({row for row, _ in found}) == len(wanted)


def test_equal_vectors_come_by_row_wherever_they_stand(tmp_path: Path) -> None:
    matrix = np.repeat(unit_rows(1, 384), 5000, axis=0)
    mapped = mapped_file(tmp_path / "m.f32", matrix)
    assert [row for row, _ in vectors.top_k(mapped, matrix[0], 7)] == [0, 1, 2, 3, 4, 5, 6]
    allowed = np.arange(5000) % 1000 == 999
    assert [row for row, _ in vectors.top_k(mapped, matrix[0], 3, allowed)] == [999, 1999, 2999]


def test_only_allowed_rows_come_back_whether_few_or_many() -> None:
    matrix = unit_rows(3000, 64)
    query = np.array(matrix[5])
    for share in (0.01, 0.9):
        allowed = np.random.default_rng(3).random(3000) < share
        allowed[5] = False
        found = vectors.top_k(matrix, query, 20, allowed)
        best = [row for row, _ in vectors.top_k(matrix, query, 3000) if allowed[row]][:20]
        assert [row for row, _ in found] == best


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
def test_damaged_rows_are_ignored_without_a_warning(
    value: float, recwarn: pytest.WarningsRecorder
) -> None:
    matrix = unit_rows(50, 16)
    query = np.array(matrix[9])
    matrix[[3, 9]] = value
    found = vectors.top_k(matrix, query, 50)
    assert len(found) == 48
    assert not {3, 9} & {row for row, _ in found}
    assert all(-1.001 <= score <= 1.001 for _, score in found)
    assert np.isnan(vectors.cosines(matrix, query, [3, 4, 9])).tolist() == [True, False, True]
    assert not recwarn.list


def test_a_mapped_matrix_can_be_searched_again_and_again(tmp_path: Path) -> None:
    matrix = unit_rows(9000, 384)
    mapped = mapped_file(tmp_path / "m.f32", matrix)
    for row in (0, 4500, 8999):
        assert vectors.top_k(mapped, matrix[row], 1) == [(row, 1.0)]
        rows = [row, 17]
        assert vectors.cosines(mapped, matrix[row], rows) == pytest.approx(
            matrix[rows] @ matrix[row], abs=2e-6
        )


def test_scanning_a_large_file_keeps_little_of_it_in_memory(tmp_path: Path) -> None:
    status = Path("/proc/self/statm")
    if not status.exists():
        pytest.skip("the memory of a process is read from /proc")

    def resident() -> int:
        return int(status.read_text().split()[1]) * mmap.PAGESIZE

    block = unit_rows(10_000, 512)
    matrix = mapped_file(tmp_path / "m.f32", *[block] * 5)
    vectors.top_k(matrix[:100], block[0], 1)
    before = resident()
    assert vectors.top_k(matrix, block[7], 1) == [(7, 1.0)]
    assert resident() - before < 20_000_000
