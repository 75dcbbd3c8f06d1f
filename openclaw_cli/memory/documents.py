"""A record as the index sees it, computed once and carried along in the write-ahead log."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from openclaw_cli.index.protocol import Document, Vector
from openclaw_cli.memory.categories import CATEGORIES
from openclaw_cli.memory.levels import indexed_text
from openclaw_cli.result import Warning, counted
from openclaw_cli.store.records import Record
from openclaw_cli.text.version import ANALYZER_VERSION

if TYPE_CHECKING:
    from openclaw_cli.embed.catalog import Catalog
    from openclaw_cli.embed.manifest import ModelInfo
    from openclaw_cli.memory.analysis import Analysis

_KEPT_DIGITS = 24


def short_hash(content_hash: str) -> str:
    """Return the 96 bits of a content hash that the index keeps."""
    return content_hash.removeprefix("sha256:")[:_KEPT_DIGITS]


def document_of(record: Record, analysis: Analysis, vector: Vector | None) -> Document:
    """Return the document of ``record``."""
    return _document(
        record,
        analysis.language,
        analysis.content_hash,
        analysis.terms,
        vector,
        pending=analysis.model is not None and vector is None,
    )


def finished(document: dict[str, Any], analysis: Analysis, vector: Vector | None) -> dict[str, Any]:
    """Return the record document with what the analysis told."""
    return {
        **document,
        "language": document.get("language") or analysis.language,
        "contentHash": analysis.content_hash,
        "embeddingPending": analysis.model is not None and vector is None,
    }


def truncation_warning(count: int) -> Warning:
    """Return the warning that some texts were longer than their model reads."""
    return Warning(
        "truncated",
        f"{counted(count, 'text')} longer than the model reads (512 tokens): the vector stands for"
        " the beginning, every word is found by lexical search",
    )


def payload_of(analysis: Analysis, vector: Vector | None) -> dict[str, Any]:
    """Return what the log carries beside a record, so that a reader need not analyse it."""
    carried = None
    if vector is not None:
        carried = {
            "model": vector.model,
            "digest": vector.digest,
            "data": b64encode(vector.data).decode("ascii"),
        }
    return {
        "analyzer": ANALYZER_VERSION,
        "language": analysis.language,
        "hash": analysis.content_hash,
        "terms": analysis.terms,
        "model": analysis.model.name if analysis.model else None,
        "vector": carried,
    }


def carried_vector(payload: dict[str, Any] | None) -> Vector | None:
    """Return the vector that a log entry carries, None when there is none or it is not sound."""
    carried = (payload or {}).get("vector")
    if not isinstance(carried, dict):
        return None
    try:
        data = b64decode(carried["data"])
        return Vector(str(carried["model"]), str(carried["digest"]), data)
    except (KeyError, TypeError, ValueError):
        return None


def _is_sound(payload: dict[str, Any]) -> bool:
    """Tell whether a payload holds what it should: a checksum does not tell who wrote it."""
    texts = (payload.get("language"), payload.get("hash"), payload.get("model") or "")
    terms = payload.get("terms")
    if not all(isinstance(text, str) for text in texts) or not isinstance(terms, dict):
        return False
    return all(map(_are_counts, terms.values()))


def _are_counts(held: object) -> bool:
    if not isinstance(held, dict):
        return False
    counts = held.values()
    return set(map(type, counts)) <= {int} and min(counts, default=1) > 0


def carried_document(record: Record, payload: dict[str, Any] | None) -> Document | None:
    """Return the document that a log entry carries, or None when it must be analysed anew."""
    if payload is None or payload.get("analyzer") != ANALYZER_VERSION or not _is_sound(payload):
        return None
    vector = carried_vector(payload)
    return _document(
        record,
        payload["language"],
        payload["hash"],
        payload["terms"],
        vector,
        pending=bool(payload.get("model")) and vector is None,
    )


def document_of_entry(record: Record, payload: dict[str, Any] | None, catalog: Catalog) -> Document:
    """Return the document of a log entry, from its payload unless that is outdated."""
    carried = carried_document(record, payload)
    if carried is not None:
        return carried
    from openclaw_cli.memory.analysis import analyse_record

    return document_of(record, analyse_record(record, catalog), carried_vector(payload))


def model_of_entry(
    record: Record, payload: dict[str, Any] | None, catalog: Catalog
) -> tuple[ModelInfo | None, str]:
    """Return the model that reads the record of a log entry, and its indexed text."""
    text = indexed_text(record.l0, record.l2)
    name = (payload or {}).get("model")
    known = next((model for model in catalog.models if model.name == name), None)
    if known is not None or (payload or {}).get("analyzer") == ANALYZER_VERSION:
        return known, text
    from openclaw_cli.memory.analysis import analyse_record

    return analyse_record(record, catalog).model, text


def _document(
    record: Record,
    language: str,
    content_hash: str,
    terms: dict[str, dict[str, int]],
    vector: Vector | None,
    *,
    pending: bool,
) -> Document:
    category = CATEGORIES.get(record.category)
    default = category.stability if category else 14.0
    return Document(
        id=record.id,
        scope=record.scope,
        category=record.category,
        user=record.user,
        key=record.key,
        language=language,
        tags=record.tags,
        content_hash=short_hash(content_hash),
        created=record.created,
        updated=record.updated,
        stability=record.stability or default,
        review=record.last_review,
        pending=pending,
        terms=terms,
        vector=vector,
    )
