"""Adding statements: exact repeats are skipped, slots merged, everything else is a new record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from openclaw_cli.errors import UnavailableError, UsageError
from openclaw_cli.index.file.metadata import slot_of
from openclaw_cli.index.protocol import Document, Vector
from openclaw_cli.memory.analysis import Analysis, analyse, hash_of
from openclaw_cli.memory.documents import finished, payload_of, short_hash, truncation_warning
from openclaw_cli.memory.drafts import Statement, record_document
from openclaw_cli.memory.indexing.checkpoint import checkpoint, writing
from openclaw_cli.memory.levels import indexed_text
from openclaw_cli.memory.merging import enriched, holds, merged
from openclaw_cli.memory.store import Following, Opened, Store
from openclaw_cli.paths import SCOPES
from openclaw_cli.result import Warning
from openclaw_cli.store.records import Record, record_of
from openclaw_cli.store.recovery import View
from openclaw_cli.store.repository import Change


class Prepared(NamedTuple):
    """A record document, analysed and embedded before any lock is taken."""

    document: dict[str, Any]
    analysis: Analysis
    named: bool
    vector: Vector | None = None
    truncated: bool = False


_TwinKey = tuple[Any, Any, Any, Any]


class Decision(NamedTuple):
    """What becomes of one statement: ``action`` is added, merged or skipped."""

    action: str
    record_id: str
    document: dict[str, Any]
    change: Change | None = None
    duplicate_of: str | None = None


def prepare(store: Store, statement: Statement, moment: datetime) -> Prepared:
    """Check and analyse ``statement``; raises `UsageError` when it cannot be stored."""
    statement.checked()
    record_id = statement.id or store.env.ids.new("mem")
    document = record_document(
        statement, agent=store.agent, record_id=record_id, moment=moment, config=store.env.config
    )
    return analysed(store, document, named=statement.id is not None)


def analysed(store: Store, document: dict[str, Any], *, named: bool) -> Prepared:
    """Return a record document ready to be decided about; ``named``: its id was given."""
    content = document["content"]
    text = indexed_text(content["l0"], content["l2"])
    return Prepared(document, analyse(text, store.catalog, document.get("language")), named)


def embed(store: Store, prepared: Sequence[Prepared]) -> tuple[list[Prepared], list[Warning]]:
    """Give every statement that a model reads its vector.

    When a model cannot be used the statements stay without one, pending, and a warning says why:
    nothing that was said is refused for that.
    """
    done = list(prepared)
    warnings: list[Warning] = []
    by_model: dict[str, list[int]] = {}
    for position, item in enumerate(done):
        if item.analysis.model is not None and item.vector is None:
            by_model.setdefault(item.analysis.model.name, []).append(position)
    for positions in by_model.values():
        model = done[positions[0]].analysis.model
        assert model is not None
        try:
            vectors, cut = store.embedding.vectors(
                model, [done[position].analysis.text for position in positions]
            )
        except UnavailableError as error:
            message = f"stored without a vector: {error.message}"
            warnings.append(Warning("embedding-pending", message, error.path))
            continue
        for position, vector, truncated in zip(positions, vectors, cut, strict=True):
            done[position] = done[position]._replace(vector=vector, truncated=truncated)
    return done, warnings


class Chooser:
    """Decides about statements against a state of the store, and remembers its own decisions.

    The state must be read under the writer lock when the decisions are to be committed.
    """

    def __init__(self, store: Store, view: View, state: Opened | Following) -> None:
        self._store = store
        self._view = view
        self._state = state
        self._made: dict[str, dict[str, Any]] = {}
        self._made_hashes: dict[_TwinKey, dict[str, Any]] = {}
        self._made_slots: dict[str, Record] = {}

    def note(self, decision: Decision) -> None:
        """Remember a decision that is to be committed, so that later ones of a batch see it."""
        document = decision.document
        self._made[decision.record_id] = document
        self._made_hashes[_twin_key(document)] = document
        if document.get("key") is not None:
            record = record_of(document)
            slot = slot_of(record.scope, record.user, record.category, str(record.key))
            self._made_slots[slot] = record

    def decide(self, item: Prepared, *, allow_duplicate: bool = False) -> Decision:
        """Return what becomes of ``item``."""
        taken = self.existing(item.document["id"]) if item.named else None
        if taken is not None:
            return self._same_id(item, taken)
        twin = None if allow_duplicate else self.twin(item)
        if twin is not None:
            return self._repeat(item, twin)
        current = self._slot(item)
        if current is not None:
            if holds(current, record_of(item.document)):
                return self._repeat(item, current)
            document = merged(current, item.document)
            if document is not None:
                return self._merge(item, current, document)
        return self.addition(item)

    def _repeat(self, item: Prepared, known: Record) -> Decision:
        document = enriched(known, item.document)
        if document is not None:
            return self._merge(item, known, document)
        return Decision("skipped", known.id, known.document, duplicate_of=known.id)

    def addition(self, item: Prepared) -> Decision:
        """Return the decision to add ``item`` as a new record."""
        document = finished(item.document, item.analysis, item.vector)
        change = Change(
            document["scope"], document["id"], document, payload_of(item.analysis, item.vector)
        )
        return Decision("added", document["id"], document, change)

    def existing(self, record_id: str) -> Record | None:
        """Return the record of an id, whatever its scope; a damaged one is a `UsageError`."""
        if record_id in self._made:
            return record_of(self._made[record_id])
        for scope in SCOPES:
            if not self._view.may_hold(scope, record_id):
                continue
            try:
                found = self._view.record(scope, record_id)
            except ValueError as error:
                path = self._store.paths.record(scope, record_id)
                raise UsageError(
                    f"id {record_id} is taken by a damaged file: {error}",
                    path=str(path),
                    hint="openclaw doctor tells what to do with it, or choose another --id",
                ) from error
            if found is not None:
                return found
        return None

    def _same_id(self, item: Prepared, taken: Record) -> Decision:
        if _hash_of_record(taken) != item.analysis.content_hash:
            raise UsageError(
                f"there is a record {taken.id} with another text",
                hint="choose another --id, or leave it out",
                path=str(self._store.paths.record(taken.scope, taken.id)),
            )
        return self._repeat(item, taken)

    def twin(self, item: Prepared) -> Record | None:
        """Return a record that says the same in the same scope and category for the same user."""
        wanted = item.document
        content_hash = item.analysis.content_hash
        made = self._made_hashes.get(_twin_key({**wanted, "contentHash": content_hash}))
        if made is not None and wanted["key"] in (None, made.get("key")):
            return record_of(made)
        for document in self._state.snapshot.with_hash(short_hash(content_hash)):
            same = (document.scope, document.category, document.user) == (
                wanted["scope"], wanted["category"], wanted["userId"]
            )  # fmt: skip
            if not same or (wanted["key"] is not None and wanted["key"] != document.key):
                continue
            record = self._read(document)
            # The index may be older than an edit by hand: the record's own text decides.
            if record is not None and _hash_of_record(record) == content_hash:
                return record
        return None

    def _slot(self, item: Prepared) -> Record | None:
        wanted = item.document
        key = wanted["key"]
        if key is None:
            return None
        made = self._made_slots.get(
            slot_of(wanted["scope"], wanted["userId"], wanted["category"], key)
        )
        if made is not None:
            return made
        snapshot = self._state.snapshot
        held = snapshot.in_slot(wanted["scope"], wanted["userId"], wanted["category"], key)
        found = [record for document in held if (record := self._read(document)) is not None]
        return found[-1] if found else None

    def _read(self, document: Document) -> Record | None:
        try:
            return self._view.record(document.scope, document.id)
        except ValueError:
            return None

    def _merge(self, item: Prepared, current: Record, document: dict[str, Any]) -> Decision:
        record = record_of(document)
        text = indexed_text(record.l0, record.l2)
        if text == item.analysis.text:
            analysis, vector = item.analysis, item.vector
        else:
            joint = item._replace(analysis=analyse(text, self._store.catalog), vector=None)
            embedded = embed(self._store, [joint])[0][0] if item.vector is not None else joint
            analysis, vector = embedded.analysis, embedded.vector
        document = finished({**document, "language": None}, analysis, vector)
        change = Change(current.scope, current.id, document, payload_of(analysis, vector))
        return Decision("merged", current.id, document, change)


def _hash_of_record(record: Record) -> str:
    return hash_of(indexed_text(record.l0, record.l2))


def _twin_key(document: dict[str, Any]) -> _TwinKey:
    get = document.get
    return get("contentHash"), get("scope"), get("category"), get("userId")


def add(
    store: Store, statement: Statement, *, with_embedding: bool, allow_duplicate: bool
) -> tuple[Decision, list[Warning], bool]:
    """Remember one statement; return what became of it, warnings, and whether L0 was cut.

    The text is embedded before the writer lock is taken, and not at all when a first look without
    the lock shows an exact repeat.
    """
    moment = store.env.clock.now()
    item = prepare(store, statement, moment)
    warnings: list[Warning] = []
    opened: Opened | None = None
    if store.paths.exists():
        opened = store.open(whole=False)
        first = Chooser(store, opened.view, opened)
        decision = first.decide(item, allow_duplicate=allow_duplicate)
        warnings += opened.warnings
        if opened.snapshot.base is None:
            warnings += store.count_warning(opened)  # repeats and slots may go unnoticed
        if decision.action == "skipped":
            return decision, warnings, False
    if with_embedding:
        embedded, problems = embed(store, [item])
        warnings += [*store.model_warnings(), *problems]
        item = embedded[0]
        if item.truncated:
            warnings.append(truncation_warning(1))
    with writing(store) as writer:
        following = Following(store, opened)
        view = following.catch_up(writer.log)
        chooser = Chooser(store, view, following)
        decision = chooser.decide(item, allow_duplicate=allow_duplicate)
        if decision.change is not None:
            writer.commit([decision.change])
    warnings += [*writer.warnings, *checkpoint(store, writer.log)]
    return decision, warnings, _was_cut(decision.document)


def _was_cut(document: dict[str, Any]) -> bool:
    record = record_of(document)
    whole = record.l2.strip()
    return len(record.l0) < len(whole) and whole.startswith(record.l0)
