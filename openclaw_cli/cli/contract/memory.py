"""The ``data`` of the memory commands."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from openclaw_cli.cli.contract.common import (
    Count,
    Failed,
    Name,
    Picture,
    Place,
    Scope,
    Sha256,
    Share,
    Time,
)

Action = Literal["added", "merged", "skipped"]
Mode = Literal["hybrid", "lexical", "dense"]


class Content(TypedDict):
    """The texts of a memory: summary, overview, full original."""

    l0: Name
    l1: str
    l2: str


class Fields(TypedDict):
    """What is known of a memory besides its texts; by hand further fields may have been added."""

    version: str
    id: Name
    scope: Scope
    category: str
    userId: str | None
    key: str | None
    language: str | None
    createdAt: str
    updatedAt: str
    tags: list[str]
    history: list[dict[str, Any]]
    agentId: NotRequired[str]
    mergeStrategy: NotRequired[str]
    contentHash: NotRequired[str]
    embeddingPending: NotRequired[bool]
    fsrs: NotRequired[dict[str, Any]]


class Record(Fields):
    """A memory with all its texts."""

    content: Content


class ShownContent(TypedDict, total=False):
    """The texts that ``--level`` asks for; all of them by default."""

    l0: str
    l1: str
    l2: str


class ShownRecord(Fields):
    """A memory with the texts that were asked for."""

    content: ShownContent


class Added(TypedDict):
    """What became of a statement."""

    id: Name
    action: Action
    duplicateOf: NotRequired[Name]
    record: Record
    l0Cut: bool


class Records(TypedDict):
    """Memories by id; those that were not found are listed as failed."""

    items: list[ShownRecord]
    failed: NotRequired[list[Failed]]


class Item(TypedDict):
    """One memory of a list."""

    id: Name
    category: str
    scope: Scope
    userId: str | None
    l0: str
    language: str
    createdAt: Time
    updatedAt: Time
    tags: list[str]
    retrievability: Share


class Listed(TypedDict):
    """The first memories of a filter, how many it has, and the limit (null: none)."""

    items: list[Item]
    total: Count
    limit: Count | None


class Space(TypedDict):
    """A model with its vectors: whether it was asked, and why not."""

    model: Name
    used: bool
    reason: str


class Words(TypedDict):
    """Where a hit stood among those found by words."""

    rank: Place | None
    score: float


class Meaning(TypedDict):
    """Where a hit stood among those found by meaning."""

    model: Name
    rank: Place | None
    cosine: float


class Explained(TypedDict):
    """How a score came about."""

    lexical: Words | None
    dense: Meaning | None
    fused: float
    retrievability: Share
    final: float


class Hit(TypedDict):
    """One memory that was found, best first."""

    rank: Place
    id: Name
    score: float
    l0: str
    category: str
    scope: Scope
    userId: str | None
    language: str
    createdAt: Time
    updatedAt: Time
    l1: NotRequired[str]
    l2: NotRequired[str]
    explain: NotRequired[Explained]


class Found(TypedDict):
    """What a search has found, and how it looked."""

    query: str
    mode: Mode
    languages: list[str]
    spaces: list[Space]
    results: list[Hit]
    elapsedMs: float


class Damage(TypedDict):
    """A file that cannot be understood."""

    path: str
    reason: str


class Indexed(TypedDict):
    """What an index run has done."""

    records: Count
    added: Count
    updated: Count
    removed: Count
    embedded: Count
    reused: Count
    pending: Count
    damaged: list[Damage]
    failed: list[Failed]
    generation: Count
    seconds: float


class Vectors(TypedDict):
    """How many vectors a model has made, and how many are waiting for it."""

    name: Name
    dimensions: Place
    vectors: Count
    pending: Count


class Occupied(TypedDict):
    """Bytes on disk."""

    records: Count
    index: Count
    wal: Count
    vectors: Count


class Bar(TypedDict):
    """How many memories are of a category, a month as 2026-03, or a class as 0.8-0.9."""

    key: Name
    records: Count


class Charts(TypedDict):
    """What ``--plot`` draws: by category, by month of creation, by retrievability."""

    category: list[Bar]
    month: list[Bar]
    retrievability: list[Bar]


class Status(TypedDict):
    """What is stored, what is indexed, what is pending."""

    agent: Name
    records: Count
    byScope: dict[str, Count]
    byCategory: dict[str, Count]
    byLanguage: dict[str, Count]
    walEntries: Count
    generation: Count | None
    indexedSeq: Count
    stale: list[str]
    models: list[Vectors]
    bytes: Occupied
    charts: NotRequired[Charts]
    plot: NotRequired[Picture]


class Changed(TypedDict):
    """A memory after its change."""

    id: Name
    record: Record


class Entry(TypedDict):
    """What a memory said before, counted from 1; hand-written ones may hold less."""

    n: Place
    content: NotRequired[Any]
    updatedAt: NotRequired[str | None]
    replacedAt: NotRequired[str | None]
    reason: NotRequired[str | None]
    by: NotRequired[str | None]


class History(TypedDict):
    """What a memory was, oldest first, and what it is."""

    id: Name
    entries: list[Entry]
    record: Record


class Doomed(TypedDict):
    """One memory that goes; of a damaged one only its id and scope are known."""

    id: Name
    scope: Scope
    category: str | None
    userId: str | None
    l0: str | None


class Deleted(TypedDict):
    """Which memories went, or would go."""

    deleted: list[Name]
    missing: list[str]
    dryRun: bool
    items: list[Doomed]
    failed: list[Failed]


class Exported(TypedDict):
    """What was written where."""

    path: str
    records: Count
    bytes: Count
    sha256: Sha256
    format: Literal["json", "jsonl"]
    scope: Literal["user", "agent", "all"]
    failed: list[Failed]


class ExportedRecord(TypedDict):
    """A memory in an export: as its file holds it, with all that was written there by hand."""

    id: Name
    content: Any


class Export(TypedDict):
    """The export itself; as JSON Lines its first line is this without ``records``."""

    version: str
    agent: Name
    scope: Literal["user", "agent", "all"]
    exportedAt: Time | None
    records: list[ExportedRecord]


class Imported(TypedDict):
    """What became of the lines that were read."""

    read: Count
    added: Count
    skipped: Count
    overwritten: Count
    merged: Count
    failed: list[Failed]
    total: Count
    dryRun: bool


class Upgrade(TypedDict):
    """One change of a migration, of a record or of a file."""

    change: str
    id: NotRequired[str]
    path: NotRequired[str]


class Migrated(TypedDict):
    """What a migration has changed; a dry run lists each change."""

    changed: Count
    unchanged: Count
    failed: list[Failed]
    backup: str | None
    dryRun: bool
    changes: NotRequired[list[Upgrade]]
