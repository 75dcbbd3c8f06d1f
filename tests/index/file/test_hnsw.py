from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from openclaw_cli.embed.catalog import Catalog
from openclaw_cli.embed.onnx import OnnxEmbedder
from openclaw_cli.errors import DamagedError, StorageError, UnavailableError
from openclaw_cli.index.file import hnsw, vectors

Matrix = npt.NDArray[np.float32]
MODEL = "bge-small-zh-v1.5@15b717c3"

needs_hnswlib = pytest.mark.skipif(
    not hnsw.available(), reason="the extra `hnsw` (hnswlib) is not installed"
)


@pytest.fixture(scope="module")
def real() -> Matrix:
    """1,800 real embeddings of short memories, many of them close to each other."""
    who = ["用户", "用户的妻子", "用户的同事小李", "团队", "客户", "项目经理"]
    what = ["喜欢", "不喜欢", "上周试用了", "打算明年学习", "正在迁移到", "建议大家使用"]
    things = [
        "TypeScript",
        "Java",
        "深色模式",
        "绿茶",
        "PostgreSQL",
        "自行车",
        "钢琴",
        "机器学习",
        "爬山",
        "咖啡",
        "Kubernetes",
        "素食",
        "日语",
        "摄影",
        "投资基金",
        "猫",
        "健身房",
        "电动汽车",
        "在线课程",
        "开源软件",
        "远程办公",
        "游泳",
        "围棋",
        "法国菜",
        "敏捷开发",
    ]
    tails = ["", "因为价格便宜"]
    texts = ["".join(parts) for parts in itertools.product(who, what, things, tails)]
    embedder = OnnxEmbedder(Catalog().get("bge-small-zh-v1.5"), threads=2)
    return embedder.embed(texts).vectors


@pytest.fixture
def small() -> Matrix:
    matrix = np.random.default_rng(1).standard_normal((300, 16)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def recall(found: list[tuple[int, float]], exact: list[tuple[int, float]]) -> float:
    # A row that ties with the last exact one is as good.
    least = exact[-1][1]
    return sum(score >= least for _, score in found) / len(exact)


def test_without_the_package_building_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, small: Matrix, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(UnavailableError) as caught:
        hnsw.build(small, str(tmp_path / "x"), model=MODEL)
    assert "hnsw" in str(caught.value.hint)


def test_the_description_survives_json() -> None:
    meta = hnsw.HnswMeta(1, "ab", "cd", MODEL, 3, 16)
    assert hnsw.HnswMeta.from_dict(meta.as_dict()) == meta
    assert hnsw.HnswMeta.from_dict({**meta.as_dict(), "later": 1}) == meta
    for name in meta.as_dict():
        for wrong in (None, True, [], 1.5):
            with pytest.raises(DamagedError, match=name):
                hnsw.HnswMeta.from_dict({**meta.as_dict(), name: wrong})


@needs_hnswlib
def test_results_agree_with_exact_search_on_real_embeddings(real: Matrix, tmp_path: Path) -> None:
    path = str(tmp_path / "vector.idx")
    meta = hnsw.build(real, path, model=MODEL)
    index = hnsw.open_index(path, meta, real, model=MODEL)
    mostly = np.random.default_rng(2).random(len(real)) < 0.8
    for k, allowed in ((1, None), (10, None), (200, None), (10, mostly)):
        scores = [
            recall(index.search(query, k, allowed), vectors.top_k(real, query, k, allowed))
            for query in real[::45]
        ]
        assert np.mean(scores) >= 0.98


@needs_hnswlib
def test_the_cosines_are_those_of_the_exact_search(real: Matrix, tmp_path: Path) -> None:
    path = str(tmp_path / "vector.idx")
    index = hnsw.open_index(path, hnsw.build(real, path, model=MODEL), real, model=MODEL)
    exact = dict(vectors.top_k(real, real[70], len(real)))
    found = index.search(real[70], 20)
    assert found[0] == (70, 1.0)
    assert all(score == pytest.approx(exact[row], abs=2e-6) for row, score in found)
    assert [score for _, score in found] == sorted((s for _, s in found), reverse=True)


@needs_hnswlib
def test_a_filter_never_shrinks_the_answer(small: Matrix, tmp_path: Path) -> None:
    path = str(tmp_path / "vector.idx")
    index = hnsw.open_index(path, hnsw.build(small, path, model=MODEL), small, model=MODEL)
    for share in (0.0, 0.01, 0.4, 0.6, 0.95):
        allowed = np.random.default_rng(4).random(len(small)) < share
        found = [row for row, _ in index.search(small[0], 25, allowed)]
        assert len(found) == min(25, int(allowed.sum()))
        assert all(allowed[row] for row in found)


@needs_hnswlib
def test_more_neighbours_than_vectors_gives_all_of_them(small: Matrix, tmp_path: Path) -> None:
    path = str(tmp_path / "vector.idx")
    index = hnsw.open_index(path, hnsw.build(small, path, model=MODEL), small, model=MODEL)
    assert len(index.search(small[0], 100_000)) == len(small)
    assert index.search(small[0], 0) == []


@needs_hnswlib
def test_rows_that_are_not_finite_stay_out(small: Matrix, tmp_path: Path) -> None:
    small[3] = np.nan
    small[4] = np.inf
    small[5] = 0
    path = str(tmp_path / "vector.idx")
    meta = hnsw.build(small, path, model=MODEL)
    assert meta.count == 297
    found = hnsw.open_index(path, meta, small, model=MODEL).search(small[0], 50)
    assert len(found) == 50
    assert not {3, 4, 5} & {row for row, _ in found}


@needs_hnswlib
@pytest.mark.parametrize("rows", [0, 1])
def test_an_index_of_no_or_one_vector_works(small: Matrix, tmp_path: Path, rows: int) -> None:
    path = str(tmp_path / "vector.idx")
    matrix = small[:rows]
    meta = hnsw.build(matrix, path, model=MODEL)
    index = hnsw.open_index(path, meta, matrix, model=MODEL)
    assert [row for row, _ in index.search(small[0], 10)] == list(range(rows))


@needs_hnswlib
def test_the_same_matrix_gives_the_same_file(small: Matrix, tmp_path: Path) -> None:
    one = hnsw.build(small, str(tmp_path / "a"), model=MODEL)
    other = hnsw.build(small, str(tmp_path / "b"), model=MODEL)
    assert one == other
    assert (one.space, one.links, one.ef_construction, one.ef_search) == ("cosine", 16, 200, 100)


@needs_hnswlib
def test_an_index_that_does_not_fit_is_refused_before_it_is_loaded(
    small: Matrix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hnswlib

    path = str(tmp_path / "vector.idx")
    meta = hnsw.build(small, path, model=MODEL)
    changed = small.copy()
    changed[7] = changed[8]

    def no_load(*_: object, **__: object) -> None:
        pytest.fail("hnswlib saw a file that does not fit")

    monkeypatch.setattr(hnswlib, "Index", no_load)
    for wrong, matrix, model in (
        (replace(meta, space="l2"), small, MODEL),
        (replace(meta, model="other"), small, MODEL),
        (replace(meta, dim=32), small, MODEL),
        (replace(meta, count=999), small, MODEL),
        (replace(meta, length=meta.length - 1), small, MODEL),
        (replace(meta, sha256="0" * 64), small, MODEL),
        (meta, small, "other"),
        (meta, changed, MODEL),
        (meta, small[:-1], MODEL),
    ):
        with pytest.raises(DamagedError) as caught:
            hnsw.open_index(path, wrong, matrix, model=model)
        assert caught.value.path == path


@needs_hnswlib
def test_flipped_bits_of_the_header_and_torn_files_are_refused(
    small: Matrix, tmp_path: Path
) -> None:
    path = tmp_path / "vector.idx"
    meta = hnsw.build(small, str(path), model=MODEL)
    sound = path.read_bytes()
    for bit in range(0, 8 * 96, 3):
        damaged = bytearray(sound)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(DamagedError):
            hnsw.open_index(str(path), meta, small, model=MODEL)
    for torn in (b"", sound[:50], sound[:-1], sound + b"\0"):
        path.write_bytes(torn)
        with pytest.raises(DamagedError):
            hnsw.open_index(str(path), meta, small, model=MODEL)
    path.unlink()
    with pytest.raises(DamagedError, match="cannot be read"):
        hnsw.open_index(str(path), meta, small, model=MODEL)


@needs_hnswlib
def test_a_full_disk_is_reported_while_building(small: Matrix, tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    for path in ("/dev/full", str(tmp_path / "none" / "vector.idx")):
        with pytest.raises(StorageError) as caught:
            hnsw.build(small, path, model=MODEL)
        assert caught.value.path == path


def test_importing_the_module_loads_neither_numpy_nor_hnswlib() -> None:
    script = (
        "import sys, openclaw_cli.index.file.hnsw;"
        "print([name for name in ('numpy', 'hnswlib') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
