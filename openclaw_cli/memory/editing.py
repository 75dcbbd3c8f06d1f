"""``memory edit``, ``undo`` and ``history``: a record says something else, and its past is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openclaw_cli.clock import format_time, from_millis
from openclaw_cli.errors import NotFoundError, UsageError
from openclaw_cli.memory.adding import Prepared, analysed, embed
from openclaw_cli.memory.categories import category_of, scope_for
from openclaw_cli.memory.documents import finished, payload_of, truncation_warning
from openclaw_cli.memory.drafts import check_label
from openclaw_cli.memory.fsrs import restated
from openclaw_cli.memory.history import entries, restored, with_past
from openclaw_cli.memory.indexing.checkpoint import checkpoint, writing
from openclaw_cli.memory.levels import L0_TOKENS, joined, speaks, summary_of
from openclaw_cli.memory.lookup import require
from openclaw_cli.memory.requests import EditRequest
from openclaw_cli.memory.store import Following, Store
from openclaw_cli.result import Result, Warning
from openclaw_cli.store.records import Record, completed, record_of
from openclaw_cli.store.repository import Change
from openclaw_cli.text.normalize import check_storable

EDITED = "edited"
CLEARABLE = ("l1", "l2", "key", "tags")

#: Makes the new document of a record, which has all fields.
_Revision = Callable[[Record], dict[str, Any]]


def edit(store: Store, request: EditRequest) -> Result:
    """Change levels, category, key or tags of a record; what is replaced joins its history."""
    _check(request)
    moment = format_time(store.env.clock.now())

    def revision(record: Record) -> dict[str, Any]:
        return edited(record, request, moment)

    document, warnings = _revise(store, request.id, revision, with_embedding=request.embed)
    return Result("memory.edit", {"id": document["id"], "record": document}, tuple(warnings))


def undo(store: Store, given: str, number: int | None, *, with_embedding: bool) -> Result:
    """Let an earlier state of a record stand again, as a new state."""
    moment = format_time(store.env.clock.now())

    def revision(record: Record) -> dict[str, Any]:
        return restored(record, number, moment)

    document, warnings = _revise(store, given, revision, with_embedding=with_embedding)
    return Result("memory.undo", {"id": document["id"], "record": document}, tuple(warnings))


def history(store: Store, given: str) -> Result:
    """Return what a record was before, oldest first, and the record as it is."""
    store.require()
    warnings: list[Warning] = []
    record = require(store.repository.view(), given, warnings)
    data = {"id": record.id, "entries": entries(record), "record": completed(record)}
    return Result("memory.history", data, tuple(warnings))


def _check(request: EditRequest) -> None:
    for level in (request.l0, request.l1, request.l2):
        if level is not None:
            check_storable(level)
    if request.key is not None:
        check_label("key", request.key)
    for tag in request.tags or ():
        check_label("tag", tag)
    for name in request.clear:
        if name not in CLEARABLE:
            raise UsageError(f"{name!r} cannot be cleared", hint="choose " + ", ".join(CLEARABLE))
        if getattr(request, name) is not None:
            raise UsageError(
                f"{name} is to be set and to be cleared",
                hint=f"leave out --clear {name}, or the option that sets it",
            )


def edited(record: Record, request: EditRequest, moment: str) -> dict[str, Any]:
    """Return the document of ``record`` (which has all fields) after an edit at ``moment``.

    A new L0 joins an L2 that said the same as the old one, as in a merge; any other L2 is the
    original that L0 sums up, and stays. Raises `UsageError` when nothing would change.
    """
    before = record.document
    category = category_of(record.category if request.category is None else request.category)
    scope_for(category, record.scope)
    document = {
        **before,
        "content": _content(record, request, moment),
        "key": None if "key" in request.clear else request.key or record.key,
        "tags": _tags(record, request),
    }
    if request.category is not None:
        document |= {"category": category.name, "mergeStrategy": category.strategy}
    if document == before:
        raise UsageError(
            f"{record.id} says that already: nothing to change",
            hint="openclaw memory edit --help lists what can be changed",
        )
    return with_past(before, {**document, "updatedAt": moment}, reason=EDITED)


def _content(record: Record, request: EditRequest, moment: str) -> dict[str, Any]:
    content: dict[str, Any] = dict(record.document["content"])
    for level in ("l1", "l2"):
        value = getattr(request, level)
        if value is not None or level in request.clear:
            content[level] = value or ""
    if request.l0 is None:
        return content
    said = request.l0.strip()
    content["l0"] = summary_of(said)
    is_given = request.l2 is not None or "l2" in request.clear
    if said != record.l0 and not is_given and speaks(record.l0, record.l2):
        content["l2"] = joined(record.l2 or record.l0, said, moment)
    elif content["l0"] != said:
        raise UsageError(
            f"L0 is a summary of about {L0_TOKENS} tokens, and this text is longer",
            hint="give a short --l0, and the whole text with --l2",
        )
    return content


def _tags(record: Record, request: EditRequest) -> list[str]:
    if "tags" in request.clear:
        return []
    return list(record.tags if request.tags is None else dict.fromkeys(request.tags))


def _revise(
    store: Store, given: str, revision: _Revision, *, with_embedding: bool
) -> tuple[dict[str, Any], list[Warning]]:
    """Replace a record by its revision, durably; the new text is embedded before the lock."""
    store.require()
    opened = store.open(whole=False)
    record = require(opened.view, given)
    item = _analysed(store, record, revision)
    warnings = list(opened.warnings)
    if not with_embedding:
        pass
    elif item.document["language"] and item.analysis.content_hash == record.content_hash:
        item = item._replace(vector=opened.snapshot.vector_of(record.id))
    else:
        (item,), problems = embed(store, [item])
        warnings += [*store.model_warnings(), *problems]
        if item.truncated:
            warnings.append(truncation_warning(1))
    with writing(store) as writer:
        following = Following(store, opened)
        view = following.catch_up(writer.log)
        current = view.record(record.scope, record.id)
        if current is None:
            raise NotFoundError(
                f"record {record.id} was deleted meanwhile",
                hint="another process has deleted it; look with memory list",
            )
        latest = _analysed(store, current, revision)
        _refuse_taken_slot(following, current, latest.document)
        vector = item.vector if latest.analysis.text == item.analysis.text else None
        document = finished(latest.document, latest.analysis, vector)
        change = Change(current.scope, current.id, document, payload_of(latest.analysis, vector))
        writer.commit([change])
    return document, [*warnings, *writer.warnings, *checkpoint(store, writer.log)]


def _analysed(store: Store, record: Record, revision: _Revision) -> Prepared:
    """Return the revision of ``record``; its language is open when it says something else."""
    whole = record_of({**record.document, **completed(record)}, record.scope)
    document = revision(whole)
    after = record_of(document, record.scope)
    if (after.l0, after.l2) != (record.l0, record.l2):
        state = document.get("fsrs")
        stability = after.stability or 1.0
        document = {**document, "language": None}
        if isinstance(state, dict):
            document["fsrs"] = restated(state, stability, from_millis(after.updated))
    return analysed(store, document, named=True)


def _refuse_taken_slot(following: Following, record: Record, document: dict[str, Any]) -> None:
    """Raise `UsageError` when the slot that a revision moves to is another record's."""
    key, category, user = document["key"], document["category"], document.get("userId")
    if key is None or (key, category, user) == (record.key, record.category, record.user):
        return
    for held in following.snapshot.in_slot(record.scope, user, category, key):
        if held.id != record.id:
            raise UsageError(
                f"the slot {key!r} of {category} is filled by {held.id}",
                hint=f"edit that record, or choose another --key; openclaw memory get {held.id}",
            )
