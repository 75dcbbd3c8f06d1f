"""Two ranked lists become one: relative-score fusion and reciprocal rank fusion (RRF).

RRF: Cormack, Clarke and Büttcher, 2009. Relative-score fusion scales each list by its own best
score; the dense one is measured from the floor, the mean cosine between query and store.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

_EPSILON = 1e-9


class DenseList(NamedTuple):
    """The answer of one embedding space.

    ``cosines`` holds every scored ordinal, ``top`` the best of them in order, ``floor`` the cosine
    of the query with the mean vector of the space.
    """

    model: str
    cosines: Mapping[int, float]
    top: tuple[int, ...]
    floor: float


class Weights(NamedTuple):
    """What each list counts, and RRF's constant k."""

    lexical: float
    dense: float
    k: float = 60.0


def top(scores: Mapping[int, float], count: int) -> list[int]:
    """Return the ``count`` best ordinals, best first, equal scores by ordinal."""
    chosen: Iterable[int] = scores
    if 0 < count < len(scores):
        from heapq import nlargest

        # Without a key, which would be called for each of 100,000 documents.
        least = nlargest(count, scores.values())[-1]
        chosen = [ordinal for ordinal, score in scores.items() if score >= least]
    return sorted(chosen, key=lambda ordinal: (-scores[ordinal], ordinal))[:count]


def candidates(lexical: Mapping[int, float], dense: list[DenseList], count: int) -> list[int]:
    """Return the union of the ``count`` best of every list."""
    chosen = dict.fromkeys(top(lexical, count))
    for space in dense:
        chosen.update(dict.fromkeys(space.top[:count]))
    return list(chosen)


def relative(
    chosen: list[int], lexical: Mapping[int, float], dense: list[DenseList], weights: Weights
) -> dict[int, float]:
    """Return ``w_lex * bm25/best + w_vec * max(0, (cos - floor)/(best - floor))`` per candidate.

    A document without a vector in the spaces asked (another language, or not embedded yet) is not
    voted down by models that never read it: they abstain, and its lexical score counts whole.
    """
    best = max(lexical.values(), default=0.0)
    words = {n: lexical.get(n, 0.0) / best if best > 0 else 0.0 for n in chosen}
    meaning: dict[int, float] = {}
    for space in dense:
        peak = max(space.cosines.values(), default=0.0)
        span = peak - space.floor
        for ordinal, cosine in space.cosines.items():
            meaning[ordinal] = _relative_cosine(cosine, peak, span)
    return {
        n: weights.lexical * words[n] + weights.dense * meaning.get(n, words[n]) for n in chosen
    }


def _relative_cosine(cosine: float, peak: float, span: float) -> float:
    # With one document, or equal vectors, nothing stands out of the mean: the best counts whole.
    if span <= _EPSILON:
        return 1.0 if cosine >= peak - _EPSILON else 0.0
    return max(0.0, 1.0 - (peak - cosine) / span)


def rrf(
    chosen: list[int],
    lexical: Mapping[int, float],
    dense: list[DenseList],
    weights: Weights,
    count: int,
) -> dict[int, float]:
    """Return the sum of ``weight / (k + rank)`` over the lists; absent from a list adds 0."""
    fused = dict.fromkeys(chosen, 0.0)
    ranked = [(weights.lexical, top(lexical, count))]
    ranked += [(weights.dense, list(space.top[:count])) for space in dense]
    for weight, order in ranked:
        for rank, ordinal in enumerate(order, 1):
            if ordinal in fused:
                fused[ordinal] += weight / (weights.k + rank)
    return fused
