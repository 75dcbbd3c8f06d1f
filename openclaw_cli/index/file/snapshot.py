"""What a search sees: a generation, and over it the documents that came since."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from openclaw_cli.index import bm25
from openclaw_cli.index.file.base import Base
from openclaw_cli.index.file.generation import Space
from openclaw_cli.index.file.metadata import PLAIN, MetadataFile, slot_of
from openclaw_cli.index.fusion import DenseList
from openclaw_cli.index.protocol import Document, Mask, SpaceInfo, Vector, Where

if TYPE_CHECKING:
    import numpy


class Snapshot:
    """An `Index` over files: ordinals 0..n-1 are the base's, those from n on came since.

    ``changes`` maps a record id to its newest document, or to None when it was deleted.
    """

    def __init__(self, base: Base | None, changes: Mapping[str, Document | None]) -> None:
        self.base = base
        self._size = 0 if base is None else base.count
        self._newer: dict[str, Document] = {}
        self._ordinals: dict[str, int] | None = None
        self._was_asked = False
        self._shelves: dict[str, dict[str, Document]] | None = None
        self.overlay: list[Document] = []
        self.gone: set[int] = set()
        self.advance(changes)

    def advance(self, changes: Mapping[str, Document | None]) -> None:
        """Take in further changes; they win over all that is known of their ids."""
        if not changes:
            return
        if self.base is not None:
            self.gone.update(self._base_ordinals(self.base, changes))
        for record_id, document in changes.items():
            self._forget(record_id)
            if document is not None:
                self._newer[record_id] = document
                self._shelve(document)
        self.overlay = list(self._newer.values())

    def _forget(self, record_id: str) -> None:
        older = self._newer.pop(record_id, None)
        if older is not None and self._shelves is not None:
            for name in _shelf_names(older):
                self._shelves[name].pop(record_id, None)

    def _base_ordinals(self, base: Base, ids: Collection[str]) -> list[int]:
        """Return where the base has these records: searched for once, by a map from then on."""
        if not self._was_asked:
            self._was_asked = True
            return base.metadata.ordinals(ids)
        if self._ordinals is None:
            names = base.metadata.plain("id")
            self._ordinals = {name: ordinal for ordinal, name in enumerate(names)}
        return [self._ordinals[name] for name in ids if name in self._ordinals]

    def _shelve(self, document: Document) -> None:
        if self._shelves is not None:
            for name in _shelf_names(document):
                self._shelves.setdefault(name, {})[document.id] = document

    def _shelf(self, name: str) -> list[Document]:
        if self._shelves is None:
            self._shelves = {}
            for document in self.overlay:
                self._shelve(document)
        return list(self._shelves.get(name, {}).values())

    @property
    def count(self) -> int:
        """How many ordinals there are, dead ones included."""
        return self._size + len(self.overlay)

    @property
    def live(self) -> int:
        """How many documents there are."""
        return self.count - len(self.gone)

    @property
    def buckets(self) -> list[str]:
        """The language buckets that hold documents."""
        names = dict.fromkeys(self.base.metadata.buckets if self.base else ())
        for document in self.overlay:
            names.update(dict.fromkeys(document.terms))
        return list(names)

    @property
    def spaces(self) -> dict[str, SpaceInfo]:
        """The embedding spaces that hold vectors, by model name."""
        found = {name: space.info for name, space in self._base_spaces().items()}
        for document in self.overlay:
            vector = document.vector
            if vector is not None and vector.model not in found:
                found[vector.model] = SpaceInfo(
                    vector.model, vector.digest, len(vector.data) // 4, 0
                )
        return found

    def _base_spaces(self) -> Mapping[str, Space]:
        return {} if self.base is None else self.base.config.spaces

    # -- filters ---------------------------------------------------------------------------------

    def select(self, where: Where) -> Mask:
        """Return which ordinals pass the filter and are live; None when all do."""
        if where == Where() and not self.gone:
            return None
        mask = bytearray(b"\1") * self._size
        for ordinal in self.gone:
            mask[ordinal] = 0
        if self.base is not None and where != Where():
            _filter_base(mask, self.base.metadata, where)
        mask.extend(where.allows(document) for document in self.overlay)
        return mask

    # -- lexical ---------------------------------------------------------------------------------

    def search_lexical(
        self, terms: Mapping[str, Sequence[str]], mask: Mask, *, scaled: bool = True
    ) -> dict[int, float]:
        """Return the scores of every allowed live document that holds one of the terms.

        Each bucket has statistics of its own: where terms are found in several of them, ``scaled``
        brings their scores to one scale, by which documents are ranked.
        """
        held = [self._held(bucket, wanted) for bucket, wanted in terms.items()]
        held = [bucket for bucket in held if bucket.postings]
        several = scaled and len(held) > 1
        scores: dict[int, float] = {}
        for bucket in held:
            bucket.score(scores, bm25.scale(self.live, bucket.documents) if several else 1.0)
        for ordinal in self.gone:
            scores.pop(ordinal, None)
        if mask is not None:
            scores = {ordinal: score for ordinal, score in scores.items() if mask[ordinal]}
        return scores

    def _held(self, bucket: str, wanted: Iterable[str]) -> _Held:
        """Return where the terms of one bucket are found, each term once."""
        lengths, documents, tokens = self._bucket_stats(bucket)
        held = _Held(documents, tokens, lengths, {}, [])
        if documents == 0:
            return held
        newer = [
            (self._size + n, document.terms[bucket])
            for n, document in enumerate(self.overlay)
            if bucket in document.terms
        ]
        held.newer_lengths.update((ordinal, sum(terms.values())) for ordinal, terms in newer)
        for term in dict.fromkeys(wanted):
            ordinals, frequencies = self._postings(bucket, term)
            fresh = [(ordinal, terms[term]) for ordinal, terms in newer if term in terms]
            holding = len(ordinals) + len(fresh)
            if self.gone:
                holding -= len(self.gone.intersection(ordinals))
            if holding > 0:
                idf = bm25.idf(documents, holding)
                held.postings.append(_Postings(idf, ordinals, frequencies, fresh))
        return held

    def _postings(self, bucket: str, term: str) -> tuple[list[int], list[int]]:
        found = None if self.base is None else self.base.postings.find(bucket, term)
        return found or ([], [])

    def _bucket_stats(self, bucket: str) -> tuple[list[int], int, int]:
        """Return (document lengths of the base, live documents, live tokens) of a bucket."""
        lengths: list[int] = []
        documents = tokens = 0
        if self.base is not None and bucket in self.base.postings.buckets:
            lengths = self.base.metadata.lengths(bucket)
            documents, tokens = self.base.postings.buckets[bucket]
            dead = [lengths[ordinal] for ordinal in self.gone if lengths[ordinal]]
            documents -= len(dead)
            tokens -= sum(dead)
        for document in self.overlay:
            held = document.terms.get(bucket)
            if held:
                documents += 1
                tokens += sum(held.values())
        return lengths, documents, tokens

    # -- dense -----------------------------------------------------------------------------------

    def search_vectors(
        self, model: str, query: numpy.ndarray, mask: Mask, count: int, also: Sequence[int]
    ) -> DenseList:
        """Return the ``count`` nearest allowed documents, and the cosines of ``also`` too."""
        from openclaw_cli.index.file import dense

        return dense.search(self, model, query, mask, count, also)

    # -- single documents ------------------------------------------------------------------------

    def value(self, name: str, ordinal: int) -> Any:
        """Return one field of one ordinal; only that column is loaded."""
        if ordinal >= self._size:
            return getattr(self.overlay[ordinal - self._size], name)
        assert self.base is not None
        columns = self.base.metadata
        column = columns.plain(name) if name in PLAIN else columns.coded(name)
        return column[ordinal]

    def document(self, ordinal: int) -> Document:
        """Return what is known of one ordinal (terms and vector left out for the base's)."""
        if ordinal >= self._size:
            return self.overlay[ordinal - self._size]
        assert self.base is not None
        columns = self.base.metadata
        return Document(
            id=columns.plain("id")[ordinal],
            scope=columns.coded("scope")[ordinal],
            category=columns.coded("category")[ordinal],
            user=columns.coded("user")[ordinal],
            key=columns.coded("key")[ordinal],
            language=columns.coded("language")[ordinal],
            tags=tuple(columns.coded("tags")[ordinal]),
            content_hash=columns.plain("hash")[ordinal],
            created=columns.plain("created")[ordinal],
            updated=columns.plain("updated")[ordinal],
            stability=columns.plain("stability")[ordinal],
            review=columns.plain("review")[ordinal],
            pending=bool(columns.plain("pending")[ordinal]),
            terms={},
        )

    def vector(self, ordinal: int) -> Vector | None:
        """Return the vector of one ordinal; loads the matrix of its space."""
        if ordinal >= self._size:
            return self.overlay[ordinal - self._size].vector
        assert self.base is not None
        model = self.base.metadata.coded("space")[ordinal]
        if model is None:
            return None
        row = bisect_left(self.base.rows(model), ordinal)
        digest = self.base.config.spaces[model].info.digest
        return Vector(model, digest, self.base.matrix(model)[row].tobytes())

    def vector_of(self, record_id: str) -> Vector | None:
        """Return the vector of a live record, None when it has none."""
        ordinal = self._ordinal_of(record_id)
        return None if ordinal is None else self.vector(ordinal)

    def is_pending(self, record_id: str) -> bool:
        """Tell whether a live record waits for its vector."""
        ordinal = self._ordinal_of(record_id)
        return ordinal is not None and bool(self.value("pending", ordinal))

    def _ordinal_of(self, record_id: str) -> int | None:
        """Return where one live record stands, without a look at every other one."""
        if record_id in self._newer:
            return self._size + list(self._newer).index(record_id)
        known = () if self.base is None else self.base.metadata.ordinals([record_id])
        return next((ordinal for ordinal in known if ordinal not in self.gone), None)

    def column(self, name: str) -> list[Any]:
        """Return a plain column (created, updated, stability, review…) over all ordinals."""
        older = [] if self.base is None else self.base.metadata.plain(name)
        return older + [getattr(document, name) for document in self.overlay]

    def with_hash(self, content_hash: str) -> list[Document]:
        """Return the live documents of one content hash."""
        return self._lookup("hash", content_hash)

    def in_slot(self, scope: str, user: str | None, category: str, key: str) -> list[Document]:
        """Return the live documents of one slot, newest last."""
        found = self._lookup("slot", slot_of(scope, user, category, key))
        return sorted(found, key=lambda document: document.updated)

    def _lookup(self, kind: str, text: str) -> list[Document]:
        older = [] if self.base is None else self.base.lookup(kind, text)
        found = [self.document(ordinal) for ordinal in older if ordinal not in self.gone]
        return found + self._shelf(f"{kind} {text}")

    def tally(self, column: str) -> Counter[str | None]:
        """Count the live documents by a coded column: scope, category, language, space…"""
        counts: Counter[str | None] = Counter()
        if self.base is not None:
            coded = self.base.metadata.coded(column)
            codes = Counter(coded.codes)
            codes.subtract(coded.codes[ordinal] for ordinal in self.gone)
            counts.update({coded.values[code]: n for code, n in codes.items()})
        for document in self.overlay:
            if column == "space":
                counts[document.vector.model if document.vector else None] += 1
            else:
                counts[getattr(document, column)] += 1
        return counts


class _Postings(NamedTuple):
    """Where one term is found: in the base, and in documents that came since."""

    idf: float
    ordinals: list[int]
    frequencies: list[int]
    fresh: list[tuple[int, int]]


class _Held(NamedTuple):
    """What one bucket holds of a query, with the statistics and document lengths of the bucket."""

    documents: int
    tokens: int
    lengths: list[int]
    newer_lengths: dict[int, int]
    postings: list[_Postings]

    def score(self, scores: dict[int, float], factor: float) -> None:
        """Add the BM25 of each document times ``factor`` to its score."""
        lengths, newer_lengths, get = self.lengths, self.newer_lengths, scores.get
        c0, c1 = bm25.norms(self.tokens / self.documents)
        for idf, ordinals, frequencies, fresh in self.postings:
            weight = factor * idf
            for ordinal, frequency in zip(ordinals, frequencies, strict=True):
                part = weight * frequency / (frequency + c0 + c1 * lengths[ordinal])
                scores[ordinal] = get(ordinal, 0.0) + part
            for ordinal, frequency in fresh:
                part = weight * frequency / (frequency + c0 + c1 * newer_lengths[ordinal])
                scores[ordinal] = get(ordinal, 0.0) + part


def _shelf_names(document: Document) -> list[str]:
    names = [f"hash {document.content_hash}"]
    if document.key is not None:
        slot = slot_of(document.scope, document.user, document.category, document.key)
        names.append(f"slot {slot}")
    return names


def _filter_base(mask: bytearray, columns: MetadataFile, where: Where) -> None:
    for name, wanted in (
        ("category", where.categories),
        ("scope", where.scopes),
        ("user", where.users),
        ("language", where.languages),
    ):
        if wanted:
            coded = columns.coded(name)
            _keep_codes(mask, coded.codes, coded.matching(wanted))
    if where.tags:
        tags = columns.coded("tags")
        fitting = {c for c, held in enumerate(tags.values) if set(where.tags) <= set(held)}
        _keep_codes(mask, tags.codes, fitting)
    if where.since is not None or where.until is not None:
        low = where.since if where.since is not None else -(1 << 62)
        high = where.until if where.until is not None else 1 << 62
        for ordinal, created in enumerate(columns.plain("created")):
            if not low <= created < high:
                mask[ordinal] = 0
    if where.pending:
        for ordinal, pending in enumerate(columns.plain("pending")):
            if not pending:
                mask[ordinal] = 0


def _keep_codes(mask: bytearray, codes: Sequence[int], allowed: set[int]) -> None:
    for ordinal, code in enumerate(codes):
        if code not in allowed:
            mask[ordinal] = 0
