"""BM25 as Lucene computes it since version 8 (Robertson and Zaragoza, 2009, without the constant
factor k1 + 1), with an idf that is never negative and right from the first document on."""

from __future__ import annotations

from math import log

K1 = 1.5
B = 0.75


def idf(documents: int, frequency: int) -> float:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)) for N documents of which df hold the term."""
    return log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def norms(average_length: float) -> tuple[float, float]:
    """Return (c0, c1) such that a term weighs idf * tf / (tf + c0 + c1 * document_length)."""
    return K1 * (1.0 - B), K1 * B / average_length if average_length > 0 else 0.0
