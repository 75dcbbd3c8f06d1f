"""The HNSW graph of a generation: it answers like the matrix, or it is passed over."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file import hnsw, vectors
from openclaw_cli.index.file.base import Base, open_base
from openclaw_cli.index.file.snapshot import Snapshot
from openclaw_cli.index.protocol import Document, Where
from openclaw_cli.paths import MemoryPaths
from tests.index.support import document, paths_in, publish, vector

Matrix = npt.NDArray[np.float32]

COUNT = 300
GRAPH = "vector.idx"

pytestmark = pytest.mark.skipif(
    not hnsw.available(), reason="the extra `hnsw` (hnswlib) is not installed"
)


def random_rows(seed: int, count: int = COUNT) -> Matrix:
    matrix = np.random.default_rng(seed).standard_normal((count, 16)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def documents(seed: int, prefix: str = "r") -> list[Document]:
    """Return documents with vectors; every other one is of user "u"."""
    return [
        document(f"{prefix}{n}", {"en": ["x"]}, vector=vector(*row.tolist()), user="uv"[n % 2])
        for n, row in enumerate(random_rows(seed))
    ]


def built(folder: Path, seed: int = 1, threshold: int = COUNT - 1) -> tuple[MemoryPaths, Base]:
    folder.mkdir(exist_ok=True)
    paths = paths_in(folder)
    return paths, publish(paths, documents(seed), threshold=threshold)


def reopened(paths: MemoryPaths) -> Base:
    base, problem = open_base(paths)
    assert base is not None, problem
    return base


def assert_right(base: Base, where: Where | None = None, model: str = "toy") -> None:
    """Compare the 10 nearest of several queries with a plain product of the matrix."""
    snapshot = Snapshot(base, {})
    mask = snapshot.select(where or Where())
    matrix, ordinals = np.array(base.matrix(model)), base.rows(model)
    for query in [*random_rows(77, 10), *matrix[:5]]:
        found = snapshot.search_vectors(model, query, mask, 10, ())
        scores = {
            ordinal: float(score)
            for ordinal, score in zip(ordinals, matrix @ query, strict=True)
            if mask is None or mask[ordinal]
        }
        best = sorted(scores, key=lambda ordinal: -scores[ordinal])[:10]
        assert list(found.top) == best
        assert [found.cosines[n] for n in best] == pytest.approx(
            [scores[n] for n in best], abs=2e-6
        )


def test_more_vectors_than_the_threshold_make_a_private_graph_that_is_recorded(
    tmp_path: Path,
) -> None:
    before = os.umask(0)
    try:
        paths, base = built(tmp_path)
    finally:
        os.umask(before)
    path = paths.index / GRAPH
    assert path.stat().st_mode & 0o7777 == 0o600
    recorded = base.config.spaces["toy"].hnsw
    assert recorded is not None
    meta = hnsw.HnswMeta.from_dict(recorded)
    assert (meta.length, meta.count, meta.dim) == (path.stat().st_size, COUNT, 16)
    assert "toy" in meta.model
    assert "digest-of-toy" in meta.model


def test_every_space_over_the_threshold_has_its_own_graph(tmp_path: Path) -> None:
    other = [
        document(f"o{n}", {}, vector=vector(*row.tolist(), model="other"))
        for n, row in enumerate(random_rows(9, 200))
    ]
    few = [document("f", {}, vector=vector(1, 2, model="few"))]
    base = publish(paths_in(tmp_path), [*few, *documents(1), *other], threshold=100)
    names = {path.name for path in base.folder.path.glob("vector.*")}
    assert names == {GRAPH, "vector.other.idx"}
    assert base.graph("few") is None
    for model in ("toy", "other"):
        assert base.graph(model) is not None
        assert_right(base, model=model)


def test_no_more_vectors_than_the_threshold_make_no_graph(tmp_path: Path) -> None:
    paths, base = built(tmp_path, threshold=COUNT)
    assert base.config.spaces["toy"].hnsw is None
    assert not (paths.index / GRAPH).exists()
    assert base.graph("toy") is None
    assert_right(base)


def test_without_the_package_no_graph_is_made_and_an_older_one_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, _base = built(tmp_path / "with")
    monkeypatch.setattr(hnsw, "available", lambda: False)
    base = reopened(paths)
    assert base.graph("toy") is None
    assert_right(base)
    paths, base = built(tmp_path / "without")
    assert base.config.spaces["toy"].hnsw is None
    assert not (paths.index / GRAPH).exists()


def test_the_graph_answers_and_gives_what_the_exact_search_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _paths, base = built(tmp_path)
    searched = []
    search = hnsw.HnswIndex.search

    def spy(self: hnsw.HnswIndex, *args: object) -> list[tuple[int, float]]:
        searched.append(args)
        return search(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(hnsw.HnswIndex, "search", spy)
    assert_right(base)
    assert len(searched) == 15


@pytest.mark.parametrize(
    "where", [Where(users=("u",)), Where(users=("nobody",)), Where(users=("u", "v"))]
)
def test_a_filter_gets_the_nearest_of_the_allowed(tmp_path: Path, where: Where) -> None:
    _paths, base = built(tmp_path)
    assert base.graph("toy") is not None
    assert_right(base, where)


def test_newer_and_deleted_documents_count_over_a_graph(tmp_path: Path) -> None:
    _paths, base = built(tmp_path)
    query = np.array(base.matrix("toy")[7])
    twin = document("twin", {}, vector=vector(*query.tolist()))
    added = Snapshot(base, {"twin": twin})
    found = added.search_vectors("toy", query, added.select(Where()), 10, ())
    assert set(found.top[:2]) == {7, COUNT}
    gone = Snapshot(base, {"twin": twin, "r7": None})
    found = gone.search_vectors("toy", query, gone.select(Where()), 10, ())
    assert found.top[0] == COUNT
    assert 7 not in found.cosines


def test_the_next_generation_has_a_graph_of_its_own(tmp_path: Path) -> None:
    paths, first = built(tmp_path)
    base = publish(paths, documents(2, "s")[:50], dropped=range(20), threshold=COUNT)
    assert base.config.spaces["toy"].hnsw != first.config.spaces["toy"].hnsw
    assert base.graph("toy") is not None
    assert_right(base)
    base = publish(paths, [], dropped=range(100), threshold=COUNT)
    assert base.config.spaces["toy"].hnsw is None
    assert not (paths.index / GRAPH).exists()
    assert_right(base)


@pytest.mark.parametrize("damage", ["empty", "cut", "longer", "head", "middle", "gone", "folder"])
def test_a_damaged_graph_is_passed_over_in_silence(
    tmp_path: Path, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    paths, base = built(tmp_path)
    assert base.graph("toy") is not None
    path = paths.index / GRAPH
    sound = path.read_bytes()
    flip = {"head": 24, "middle": len(sound) // 2}.get(damage)
    if flip is not None:
        path.write_bytes(sound[:flip] + bytes([sound[flip] ^ 4]) + sound[flip + 1 :])
    elif damage in ("gone", "folder"):
        path.unlink()
        if damage == "folder":
            path.mkdir()
    else:
        path.write_bytes({"empty": b"", "cut": sound[:-1], "longer": sound + b"\0"}[damage])
    base = reopened(paths)
    assert base.graph("toy") is None
    assert_right(base)
    assert [Path(name).name for name, _reason in base.verify()] == [GRAPH]
    assert capfd.readouterr() == ("", "")


def test_the_graph_of_another_store_is_passed_over(tmp_path: Path) -> None:
    paths, mine = built(tmp_path / "mine")
    others, foreign = built(tmp_path / "other", seed=2)
    path = paths.index / GRAPH
    path.write_bytes((others.index / GRAPH).read_bytes())
    assert reopened(paths).graph("toy") is None
    assert_right(reopened(paths))
    # Even when its description came along.
    space = mine.config.spaces["toy"]._replace(hnsw=foreign.config.spaces["toy"].hnsw)
    config = mine.config._replace(spaces={"toy": space})
    (paths.index / layout.CONFIG).write_bytes(config.encode())
    assert reopened(paths).graph("toy") is None
    assert_right(reopened(paths))


@pytest.mark.parametrize("recorded", [{}, {"length": "1"}, [], "graph", 5, True])
def test_a_description_that_is_not_one_is_passed_over(tmp_path: Path, recorded: object) -> None:
    paths, base = built(tmp_path)
    space = base.config.spaces["toy"]._replace(hnsw=recorded)  # type: ignore[arg-type]
    config = base.config._replace(spaces={"toy": space})
    (paths.index / layout.CONFIG).write_bytes(config.encode())
    assert reopened(paths).graph("toy") is None
    assert_right(reopened(paths))


def test_the_same_documents_make_the_same_graph(tmp_path: Path) -> None:
    one, _base = built(tmp_path / "a")
    other, _base = built(tmp_path / "b")
    assert (one.index / GRAPH).read_bytes() == (other.index / GRAPH).read_bytes()


def test_the_exact_search_agrees_with_the_graph_to_the_last_decimal(tmp_path: Path) -> None:
    _paths, base = built(tmp_path)
    graph = base.graph("toy")
    assert graph is not None
    for query in random_rows(5, 10):
        assert graph.search(query, 10) == vectors.top_k(base.matrix("toy"), query, 10)
