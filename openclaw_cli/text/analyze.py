"""The terms of a text and of a query, by language bucket: what the lexical index is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from functools import cache
from itertools import chain
from operator import add

from openclaw_cli.text.compounds import Kind, Token, chunk_tokens, plain_word
from openclaw_cli.text.languages import LATIN_LANGUAGES, kana_is_real, profile_prepared
from openclaw_cli.text.normalize import prepare
from openclaw_cli.text.phones import phone_terms
from openclaw_cli.text.scripts import kana_run, run_without_spaces, spaceless_cluster
from openclaw_cli.text.stems import apostrophe_words, stemmer, without_accents
from openclaw_cli.text.stopwords import STOP_WORDS

BUCKETS: tuple[str, ...] = (
    "zh", "ja", "ko", "en", "es", "pt", "fr", "de", "it", "ru", "ar", "und",
)  # fmt: skip
"""Every bucket a term can be in, each with its own statistics."""

KIND_BUCKETS = {Kind.CYRILLIC: "ru", Kind.ARABIC: "ar", Kind.OTHER: "und"}
LATIN_KINDS = (Kind.LATIN, Kind.LATIN_APOSTROPHE, Kind.LATIN_EXACT)
# Languages whose Latin words are taken for words of that language; in a text of any language
# with another script they are taken for English.
LATIN_BUCKETS = (*LATIN_LANGUAGES, "und")
_OTHER_LATIN = ("und", "vi")

_RUN_BUCKETS = ("", "zh", "ja", "ko", "und")

_NONE: frozenset[str] = frozenset()
_CACHED_CHUNKS = 50_000
_CACHED_LENGTH = 48

Groups = tuple[tuple[str, tuple[str, ...]], ...]


class _ChunkTerms(dict[str, Groups]):
    """Chunk of text to its terms by bucket, computed once: chunks of natural text repeat.

    Bounded in number and length, so that a process which reads any amount of text stays small.
    """

    def __init__(self, latin: str, main: str) -> None:
        super().__init__()
        self._latin = latin
        self._main = main

    def __missing__(self, chunk: str) -> Groups:
        word = plain_word(chunk)
        if word is not None:
            groups: Groups = ((self._latin, stemmer(self._latin)(word)),)
            return self._kept(chunk, groups)
        buckets: dict[str, list[str]] = {}
        for kind, text in chunk_tokens(chunk):
            if kind in LATIN_KINDS:
                buckets.setdefault(self._latin, []).extend(latin_terms(kind, text, self._latin))
            elif kind is Kind.NEUTRAL:
                buckets.setdefault(self._main, []).append(text)
            else:
                bucket = KIND_BUCKETS[kind]
                buckets.setdefault(bucket, []).extend(stemmer(bucket)(text))
        groups = tuple([(bucket, tuple(terms)) for bucket, terms in buckets.items()])
        return self._kept(chunk, groups)

    def _kept(self, chunk: str, groups: Groups) -> Groups:
        if len(chunk) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_CHUNKS:
                self.clear()
            self[chunk] = groups
        return groups


@cache
def _chunk_terms(latin: str, main: str) -> _ChunkTerms:
    return _ChunkTerms(latin, main)


def document_terms(text: str, language: str | None = None) -> dict[str, dict[str, int]]:
    """Return bucket -> term -> number of occurrences; buckets without terms are left out.

    ``language`` is that of ``languages.profile`` and is detected when not given; it chooses the
    bucket of Latin words, and of what has no script (numbers, emoji).
    """
    text = prepare(text)
    return prepared_terms(text, language or profile_prepared(text).language)


def latin_bucket(language: str) -> str:
    """Return the bucket of the Latin words of a text in that language."""
    main = language if language in BUCKETS else "und"
    return main if main in LATIN_LANGUAGES or language in _OTHER_LATIN else "en"


def han_is_japanese(text: str, language: str) -> bool:
    """Tell whether the Han characters of a prepared text are Japanese words."""
    return language == "ja" or (language != "zh" and kana_is_real(text))


def prepared_terms(text: str, language: str) -> dict[str, dict[str, int]]:
    """Return the terms of a text that ``normalize.prepare`` has been through already."""
    main = language if language in BUCKETS else "und"
    latin = latin_bucket(language)
    buckets: dict[str, list[str]] = {}
    if text.isascii():
        chunks = text.split()
    else:
        chunks = take_runs(text, han_is_japanese(text, language), buckets)
    for bucket, terms in chain.from_iterable(map(_chunk_terms(latin, main).__getitem__, chunks)):
        if bucket in buckets:
            buckets[bucket] += terms
        else:
            buckets[bucket] = [*terms]
    phones = phone_terms(text)
    if phones:
        buckets.setdefault(main, []).extend(phones)
    return {bucket: _counted(terms) for bucket, terms in buckets.items()}


def _counted(terms: list[str]) -> dict[str, int]:
    """Return how often each term is there; most short texts say nothing twice."""
    once = dict.fromkeys(terms, 1)
    return once if len(once) == len(terms) else Counter(terms)


def query_terms(text: str, buckets: Collection[str]) -> dict[str, list[str]]:
    """Return the terms to look up in each of the given buckets, each once, as they appear.

    Every bucket is asked in its own way (a Latin word with the stems of each language), so that
    no guess about the query hides a record. Stop words are left out unless nothing else is there.
    Buckets that the query has nothing for are left out.
    """
    text = prepare(text)
    language = profile_prepared(text).language
    runs: dict[str, list[str]] = {}
    chunks = take_runs(text, True, runs)
    runs["zh"] = runs.get("ja", [])
    if kana_run().search(text):  # only then are Chinese runs other ones than Japanese
        plain: dict[str, list[str]] = {}
        take_runs(text, False, plain)
        runs["zh"] = plain.get("zh", [])
    tokens = [token for chunk in dict.fromkeys(chunks) for token in chunk_tokens(chunk)]
    tokens += [(Kind.NEUTRAL, term) for term in phone_terms(text)]
    tokens = list(dict.fromkeys(tokens))
    content = any(runs.values()) or any(kind not in LATIN_KINDS for kind, _ in tokens)
    found = {}
    for bucket in BUCKETS:
        if bucket in buckets:
            words = _query_words(tokens, bucket, language, content)
            terms = [*runs.get(bucket, ()), *words]
            if terms:
                found[bucket] = list(dict.fromkeys(terms))
    return found


def _query_words(tokens: list[Token], bucket: str, language: str, content: bool) -> list[str]:
    """Return the terms of the tokens that this bucket can hold, stop words last and if needed."""
    stop_words = STOP_WORDS.get(bucket, _NONE) | STOP_WORDS.get(language, _NONE)
    # Typed without accents; té is tea all the same, whatever te is.
    bare = bare_stop_words(bucket) | bare_stop_words(language)
    is_latin = bucket in LATIN_BUCKETS
    stem = stemmer(bucket)
    terms: list[str] = []
    stopped: list[str] = []
    for kind, text in tokens:
        if kind is Kind.NEUTRAL:
            terms.append(text)
        elif kind not in LATIN_KINDS:
            if KIND_BUCKETS[kind] == bucket:
                terms += stem(text)
        elif is_latin:
            for word in _latin_words(kind, text, bucket):
                found = (without_accents(word),) if kind is Kind.LATIN_EXACT else stem(word)
                is_stop = word in stop_words or word in bare
                (stopped if is_stop else terms).extend(found)
    return terms if terms or content else stopped


@cache
def bare_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language as they are typed without accents."""
    return frozenset([without_accents(word) for word in STOP_WORDS.get(language, _NONE)])


def _latin_words(kind: Kind, text: str, bucket: str) -> list[str]:
    return apostrophe_words(text, bucket) if kind is Kind.LATIN_APOSTROPHE else [text]


def latin_terms(kind: Kind, text: str, bucket: str) -> list[str]:
    """Return the terms of a Latin token in that bucket."""
    if kind is Kind.LATIN_EXACT:
        return [without_accents(text)]
    stem = stemmer(bucket)
    return [term for word in _latin_words(kind, text, bucket) for term in stem(word)]


def take_runs(text: str, japanese: bool, buckets: dict[str, list[str]]) -> list[str]:
    """Add the terms of the runs without spaces to the buckets; return the chunks of the rest."""
    chunks: list[str] = []
    end = 0
    pattern = run_without_spaces(japanese)
    for match in pattern.finditer(text):
        start, upto = match.span()
        if end < start:
            chunks += text[end:start].split()
        end = upto
        bucket = _RUN_BUCKETS[match.lastindex or 0]
        units = match[0] if bucket != "und" else spaceless_cluster().findall(match[0])
        terms = buckets.setdefault(bucket, [])
        terms += units
        terms += map(add, units, units[1:])
    if end < len(text):
        chunks += text[end:].split()
    return chunks
