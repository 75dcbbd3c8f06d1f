"""What an index back-end offers, and what it is told about a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from openclaw_cli.index.fusion import DenseList

if TYPE_CHECKING:
    import numpy

    from openclaw_cli.store.records import Record

#: Which ordinals a search may return (1) and which not (0); None allows all.
Mask = bytearray | None


class Vector(NamedTuple):
    """One embedding: model name and digest, and unit-length float32 values, little endian."""

    model: str
    digest: str
    data: bytes


class Document(NamedTuple):
    """What the index knows of a record: fields to filter and rank by, terms, and a vector.

    ``created``, ``updated`` and ``review`` are milliseconds since 1970 UTC, ``stability`` is in
    days, ``terms`` maps bucket -> term -> frequency. ``pending``: a model covers the text and no
    vector has been made.
    """

    id: str
    scope: str
    category: str
    user: str | None
    key: str | None
    language: str
    tags: tuple[str, ...]
    content_hash: str
    created: int
    updated: int
    stability: float
    review: int
    pending: bool
    terms: Mapping[str, Mapping[str, int]]
    vector: Vector | None = None


class Where(NamedTuple):
    """A filter; an empty member allows everything. ``since``/``until`` bound ``created`` in ms."""

    categories: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    pending: bool = False

    def allows(self, document: Document | Record) -> bool:
        """Tell whether a document passes, or a record by what it says itself."""
        return (
            (not self.categories or document.category in self.categories)
            and (not self.scopes or document.scope in self.scopes)
            and (not self.users or document.user in self.users)
            and (not self.languages or document.language in self.languages)
            and all(tag in document.tags for tag in self.tags)
            and (self.since is None or document.created >= self.since)
            and (self.until is None or document.created < self.until)
            and (not self.pending or document.pending)
        )


class SpaceInfo(NamedTuple):
    """One embedding space of an index: its model's name and digest, dimensions, vector count."""

    model: str
    digest: str
    dimensions: int
    vectors: int


class Index(Protocol):
    """A searchable state of one memory store: a checkpointed base and what came since."""

    @property
    def buckets(self) -> Sequence[str]:
        """The language buckets that hold documents."""

    @property
    def spaces(self) -> Mapping[str, SpaceInfo]:
        """The embedding spaces that hold vectors, by model name."""

    def select(self, where: Where) -> Mask:
        """Return which ordinals pass the filter and are live; None when all do."""

    def search_lexical(
        self, terms: Mapping[str, Sequence[str]], mask: Mask, *, scaled: bool = True
    ) -> Mapping[int, float]:
        """Return the BM25 of every allowed document that holds one of the terms.

        Unless ``scaled``, those of several buckets are not comparable.
        """

    def search_vectors(
        self, model: str, query: numpy.ndarray, mask: Mask, count: int, also: Sequence[int]
    ) -> DenseList:
        """Return the ``count`` nearest allowed documents, and the cosines of ``also`` too."""

    def document(self, ordinal: int) -> Document:
        """Return what is known of one ordinal (terms and vector left out)."""
