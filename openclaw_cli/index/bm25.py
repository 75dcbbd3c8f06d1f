"""BM25 as Lucene computes it since version 8 (Robertson and Zaragoza, 2009, without the constant
factor k1 + 1), with an idf that is never negative and right from the first document on."""

from __future__ import annotations

from math import log

K1 = 1.5
B = 0.75


def idf(documents: int, frequency: int) -> float:
    """Return ln(1 + (N - df + 0.5) / (df + 0.5)) for N documents of which df hold the term."""
    return log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def scale(total: int, documents: int) -> float:
    """Return what brings the scores of a bucket of ``documents`` to those of ``total`` documents.

    BM25 knows the documents of one bucket: in a bucket of two every term is common, and a whole
    sentence there would count less than one number in a bucket of a thousand. The factor is the
    idf of a term that occurs once, in all documents against in the bucket; 1 for a store of one
    bucket.
    """
    return idf(max(total, documents), 1) / idf(documents, 1)


def norms(average_length: float) -> tuple[float, float]:
    """Return (c0, c1) such that a term weighs idf * tf / (tf + c0 + c1 * document_length)."""
    return K1 * (1.0 - B), K1 * B / average_length if average_length > 0 else 0.0
