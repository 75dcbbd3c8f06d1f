"""Does a text hold all that a query asks for? The same terms as in an index, without an index.

What a query asks for is a list of wants, one for each smallest part of its words; every word is
asked for in the way of the language that the text is in, stop words are not asked for. A text is
looked at word by word, each different word once, so that a long history is read quickly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from openclaw_cli.text.analyze import (
    KIND_BUCKETS,
    LATIN_BUCKETS,
    LATIN_KINDS,
    bare_stop_words,
    han_is_japanese,
    latin_bucket,
    latin_terms,
    prepared_terms,
    take_runs,
)
from openclaw_cli.text.compounds import Kind, Token, chunk_tokens
from openclaw_cli.text.languages import profile_prepared
from openclaw_cli.text.normalize import fold, prepare
from openclaw_cli.text.phones import SHORTEST, phone_terms
from openclaw_cli.text.stems import apostrophe_words, stemmer, without_accents
from openclaw_cli.text.stopwords import STOP_WORDS

_CACHED_CHUNKS = 100_000
_CACHED_LENGTH = 64


class Want(NamedTuple):
    """One part of a query: any of the tokens will do; ``dropped`` lists where it is a stop word."""

    tokens: tuple[Token, ...]
    dropped: frozenset[str]


def words_of(token: Token, bucket: str) -> list[str]:
    """Return the words, before stemming, that a Latin token stands for in that bucket."""
    kind, text = token
    if kind is not Kind.LATIN_APOSTROPHE:
        return [text]
    # The letters before or after an apostrophe that are no word of their own say nothing.
    longest = max(map(len, text.split("'")))
    return [word for word in apostrophe_words(text, bucket) if len(word) >= longest]


def wanted_terms(token: Token, bucket: str) -> set[str]:
    """Return the terms by which a token of a query is found among those of that Latin bucket."""
    kind, text = token
    if kind is Kind.LATIN_EXACT:
        return {without_accents(text)}
    stem = stemmer(bucket)
    return {term for word in words_of(token, bucket) for term in stem(word)}


class Query:
    """What a text is searched for; ``is_empty`` where there is nothing to look for."""

    def __init__(self, text: str) -> None:
        self.text = text
        prepared = prepare(text)
        self.phrase = " ".join(fold(prepared).split())
        self.language = profile_prepared(prepared).language
        joined: dict[str, list[str]] = {}
        split: dict[str, list[str]] = {}
        chunks = take_runs(prepared, True, joined)
        take_runs(prepared, False, split)
        #: Terms of the runs without spaces: Han and kana as one run, and each for itself.
        self.joined_runs = _flat(joined)
        self.split_runs = _flat(split)
        #: Whether a term is more than its characters, so that looking for these is not enough.
        self.has_clusters = "und" in joined
        self.phones = phone_terms(prepared)
        self.wants = self._wants(list(dict.fromkeys(chunks)))

    @property
    def is_empty(self) -> bool:
        """Tell whether the query holds no word, number or sign."""
        return not (self.joined_runs or self.wants)

    def _wants(self, chunks: list[str]) -> list[Want]:
        wants: list[Want] = []
        for chunk in chunks:
            tokens = list(dict.fromkeys(chunk_tokens(chunk)))
            exact = [token for token in tokens if token[1].endswith(("+", "#"))]
            wants += [self._want((token,)) for token in exact]
            rest = [token for token in tokens if not any(token[1] in e[1] for e in exact)]
            wants += [
                self._want(_covering(token, rest, self.phones))
                for token in rest
                if not any(other[1] != token[1] and other[1] in token[1] for other in rest)
            ]
        return list(dict.fromkeys(wants))

    def _want(self, tokens: tuple[Token, ...]) -> Want:
        return Want(tokens, frozenset(b for b in LATIN_BUCKETS if self._is_stop(tokens[0], b)))

    def _is_stop(self, token: Token, bucket: str) -> bool:
        if token[0] not in (Kind.LATIN, Kind.LATIN_APOSTROPHE):
            return False
        languages = (bucket, self.language)
        stop = [STOP_WORDS.get(name, frozenset()) | bare_stop_words(name) for name in languages]
        return all(any(word in words for words in stop) for word in words_of(token, bucket))

    @cached_property
    def required(self) -> dict[str, int]:
        """The wants of a text by its Latin bucket, a bit each."""
        latin = [want.tokens[0][0] in LATIN_KINDS for want in self.wants]
        content = bool(self.joined_runs) or not all(latin)
        found = {}
        for bucket in LATIN_BUCKETS:
            kept = sum(1 << n for n, w in enumerate(self.wants) if bucket not in w.dropped)
            found[bucket] = kept if kept or content else (1 << len(self.wants)) - 1
        return found

    @cached_property
    def _table(self) -> dict[tuple[str, str], int]:
        """Bucket and term -> the wants that it fulfils."""
        table: dict[tuple[str, str], int] = {}
        for number, want in enumerate(self.wants):
            for token in want.tokens:
                for place in _places(token):
                    table[place] = table.get(place, 0) | 1 << number
        return table

    def fulfilled(self, terms: dict[str, dict[str, int]], bucket: str) -> bool:
        """Tell whether the terms of a text, by bucket, are all that is asked for.

        ``bucket`` is the one of its Latin words.
        """
        mask = 0
        for name, held in terms.items():
            for term in held:
                mask |= self._table.get((name, term), 0) | self._table.get(("", term), 0)
        needed = self.required[bucket]
        return mask & needed == needed and any(
            all(term in terms.get(name, ()) for name, term in runs)
            for runs in (self.joined_runs, self.split_runs)
        )

    @cached_property
    def _may_be_phone(self) -> bool:
        """Whether a number that is asked for could be a telephone number written in groups."""
        tokens = (token for want in self.wants for token in want.tokens)
        return any(kind is Kind.NEUTRAL and len(text) >= SHORTEST for kind, text in tokens)

    @cached_property
    def _chunks(self) -> _ChunkMasks:
        return _ChunkMasks(self._table, len(self.wants))

    def pass_over(self, is_idle: Callable[[str], bool]) -> None:
        """Do not cut up chunks of which ``is_idle`` says that nothing of the query is in them."""
        self._chunks.is_idle = is_idle

    def matches(self, text: str) -> bool:
        """Tell whether a text that ``prepare`` has been through holds all that is asked for."""
        if self.has_clusters:
            language = profile_prepared(text).language
            return self.fulfilled(prepared_terms(text, language), latin_bucket(language))
        if not self._runs_in(text):
            return False
        buckets = self._fitting(text)
        if not buckets:
            return False
        if len(buckets) == len(LATIN_BUCKETS):
            return True
        return latin_bucket(profile_prepared(text).language) in buckets

    def _runs_in(self, text: str) -> bool:
        """Tell whether the runs without spaces are there, in either way of cutting them."""
        if all(term in text for _bucket, term in self.joined_runs):
            return True
        if not all(term in text for _bucket, term in self.split_runs):
            return False
        return not han_is_japanese(text, profile_prepared(text).language)

    def _fitting(self, text: str) -> list[str]:
        """Return the buckets of Latin words that the text could be in and match."""
        if not self.wants:
            return list(LATIN_BUCKETS)
        masks = self._chunks
        found = 0
        for mask in map(masks.__getitem__, text.split()):
            found |= mask
        if self._may_be_phone:
            for term in phone_terms(text):
                found |= masks.everywhere(self._table.get(("", term), 0))
        width = len(self.wants)
        return [
            bucket
            for place, bucket in enumerate(LATIN_BUCKETS)
            if ~(found >> place * width) & self.required[bucket] == 0
        ]


def _flat(runs: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(bucket, term) for bucket, terms in runs.items() for term in dict.fromkeys(terms)]


def _covering(token: Token, tokens: list[Token], phones: list[str]) -> tuple[Token, ...]:
    """Return a part of a compound, and every longer form of it that says the same and more."""
    longer = [other for other in tokens if other != token and token[1] in other[1]]
    if token[0] is Kind.NEUTRAL and any(token[1] in number for number in phones):
        longer += [(Kind.NEUTRAL, number) for number in phones]
    return (token, *longer)


def _places(token: Token) -> list[tuple[str, str]]:
    """Return the buckets and terms by which a token is found; bucket "" stands for any."""
    kind, text = token
    if kind is Kind.NEUTRAL:
        return [("", text)]
    if kind not in LATIN_KINDS:
        bucket = KIND_BUCKETS[kind]
        return [(bucket, term) for term in stemmer(bucket)(text)]
    return [(name, term) for name in LATIN_BUCKETS for term in wanted_terms(token, name)]


class _ChunkMasks(dict[str, int]):
    """What stands between white space -> the wants that it fulfils, a field of bits a bucket.

    Runs without spaces are looked for elsewhere; what is before and after them has its own mask.
    """

    def __init__(self, table: dict[tuple[str, str], int], width: int) -> None:
        super().__init__()
        self._table = table
        self._width = width
        self.is_idle: Callable[[str], bool] = lambda _chunk: False

    def __missing__(self, chunk: str) -> int:
        mask = 0 if self.is_idle(chunk) else self._mask(chunk)
        if len(chunk) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_CHUNKS:
                self.clear()
            self[chunk] = mask
        return mask

    def _mask(self, chunk: str) -> int:
        mask = 0
        parts = [chunk] if chunk.isascii() else take_runs(chunk, True, {})
        if parts != [chunk]:
            for part in parts:
                mask |= self[part]
            return mask
        for kind, text in chunk_tokens(chunk):
            if kind is Kind.NEUTRAL:
                mask |= self.everywhere(self._table.get(("", text), 0))
            elif kind in LATIN_KINDS:
                mask |= self._latin(kind, text)
            else:
                bucket = KIND_BUCKETS[kind]
                for term in stemmer(bucket)(text):
                    mask |= self.everywhere(self._table.get((bucket, term), 0))
        return mask

    def _latin(self, kind: Kind, text: str) -> int:
        mask = 0
        for place, bucket in enumerate(LATIN_BUCKETS):
            for term in latin_terms(kind, text, bucket):
                found = self._table.get((bucket, term), 0)
                mask |= found << place * self._width
        return mask

    def everywhere(self, mask: int) -> int:
        """Return the wants of a term that means the same in every language, in each field."""
        found = 0
        for place in range(len(LATIN_BUCKETS) if mask else 0):
            found |= mask << place * self._width
        return found
