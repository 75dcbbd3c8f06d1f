"""What the text of a record is made of: its hash, its language, its terms."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from openclaw_cli.memory.levels import indexed_text
from openclaw_cli.store.records import VERSION, Record
from openclaw_cli.text.analyze import prepared_terms
from openclaw_cli.text.languages import han_share, profile_prepared
from openclaw_cli.text.normalize import normalized_text, prepare

if TYPE_CHECKING:
    from openclaw_cli.embed.catalog import Catalog
    from openclaw_cli.embed.manifest import ModelInfo

_OURS = re.compile(r"sha256:[0-9a-f]{64}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=$|-)")


def hash_of(text: str) -> str:
    """Return the content hash of a text: equal for texts that differ in width or spacing only."""
    return "sha256:" + sha256(normalized_text(text).encode("utf-8", "replace")).hexdigest()


def tells_an_edit(record: Record, content_hash: str) -> bool:
    """Tell whether the text of a record is another one than the hash that this program gave it.

    A hash of another form, or in a record of an older format, is somebody else's and tells nothing.
    """
    ours = record.content_hash
    return (
        ours is not None
        and ours != content_hash
        and _OURS.fullmatch(ours) is not None
        and record.document.get("version") == VERSION
    )


class Analysis(NamedTuple):
    """What a text is made of: its hash, language, terms, and the model that reads it, if any."""

    text: str
    content_hash: str
    language: str
    terms: dict[str, dict[str, int]]
    model: ModelInfo | None


def analyse(text: str, catalog: Catalog, language: str | None = None) -> Analysis:
    """Analyse the indexed text of a record; ``language`` is what the record itself says."""
    prepared = prepare(text)
    named = _LANGUAGE.match((language or "").lower())
    if named:
        # Telling languages apart takes a fifth of the time. The share of Han letters tells which
        # other texts the Chinese model reads.
        chosen, sure = named[0], True
        share = 1.0 if chosen == "zh" else han_share(prepared)
    else:
        chosen, share, _latin_share, sure = profile_prepared(prepared)
    return Analysis(
        text=text,
        content_hash=hash_of(text),
        language=chosen,
        terms=prepared_terms(prepared, chosen),
        model=catalog.record_space(chosen, share, sure),
    )


def language_of(record: Record) -> str:
    """Return the language of a record as the index has it: the one it names, else its text's."""
    named = _LANGUAGE.match((record.language or "").lower())
    if named:
        return named[0]
    return profile_prepared(prepare(indexed_text(record.l0, record.l2)))[0]


def analyse_record(record: Record, catalog: Catalog) -> Analysis:
    """Analyse what is indexed of ``record``."""
    return analyse(indexed_text(record.l0, record.l2), catalog, record.language)
