"""Fusion: scores are sensible from the first record on, and never negative."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.index import fusion
from openclaw_cli.index.fusion import DenseList, Weights

cosine = st.floats(-1, 1)
scores = st.dictionaries(st.integers(0, 30), st.floats(0.001, 50), max_size=20)


def dense(cosines, floor):
    order = sorted(cosines, key=lambda n: (-cosines[n], n))
    return DenseList("toy", cosines, tuple(order), floor)


@given(
    lexical=scores, cosines=st.dictionaries(st.integers(0, 30), cosine, max_size=20), floor=cosine
)
def test_fused_scores_are_finite_and_never_negative(lexical, cosines, floor):
    space = dense(cosines, min([floor, *cosines.values()]))
    chosen = fusion.candidates(lexical, [space], 200)
    assert set(chosen) == set(lexical) | set(cosines)
    for fused in (
        fusion.relative(chosen, lexical, [space], Weights(0.4, 0.6)),
        fusion.rrf(chosen, lexical, [space], Weights(0.3, 0.7), 50),
    ):
        assert set(fused) == set(chosen)
        assert all(math.isfinite(score) and score >= 0 for score in fused.values())


def test_relative_scores_follow_the_formula():
    space = dense({1: 0.9, 2: 0.5, 3: 0.7}, 0.5)
    fused = fusion.relative([1, 2, 3, 4], {2: 8.0, 4: 2.0}, [space], Weights(0.4, 0.6))
    assert [fused[n] for n in (1, 2, 3)] == pytest.approx([0.6, 0.4, 0.3])


def test_a_model_abstains_from_a_document_that_it_has_not_read():
    space = dense({1: 0.9, 2: 0.5}, 0.5)
    fused = fusion.relative([1, 2, 3], {2: 4.0, 3: 8.0}, [space], Weights(0.4, 0.6))
    assert fused == pytest.approx({1: 0.6, 2: 0.2, 3: 1.0})


def test_reciprocal_ranks_follow_the_formula():
    space = dense({1: 0.9, 2: 0.5}, 0.0)
    fused = fusion.rrf([1, 2, 3], {2: 8.0, 3: 2.0}, [space], Weights(0.3, 0.7, 60), 50)
    assert fused[1] == pytest.approx(0.7 / 61)
    assert fused[2] == pytest.approx(0.3 / 61 + 0.7 / 62)
    assert fused[3] == pytest.approx(0.3 / 62)


def test_a_single_document_gets_the_whole_dense_weight():
    space = dense({0: 0.31}, 0.31)
    assert fusion.relative([0], {}, [space], Weights(0.4, 0.6)) == pytest.approx({0: 0.6})


def test_each_space_is_measured_by_its_own_best():
    spaces = [dense({1: 0.9, 2: 0.6}, 0.5), dense({3: 0.4, 4: 0.3}, 0.2)]
    fused = fusion.relative([1, 2, 3, 4], {}, spaces, Weights(0.4, 0.6))
    assert fused[1] == fused[3] == pytest.approx(0.6)
    assert fused[2] == pytest.approx(0.15)
    assert fused[4] == pytest.approx(0.3)
