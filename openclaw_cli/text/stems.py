"""From a folded word to the term of a bucket: Snowball stems, accents and elisions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache

_ALGORITHMS = {
    "en": "english",
    "es": "spanish",
    "pt": "portuguese",
    "fr": "french",
    "de": "german",
    "it": "italian",
    "ru": "russian",
    "ar": "arabic",
}
_ACCENTS = re.compile("[\u0300-\u036f]")
_HARAKAT = re.compile(
    "[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed\u200c\u200d]"
)
_CONTRACTION = re.compile(r"'(?:s|t|d|m|re|ve|ll|all|em|clock)$")
_SPLITS_ELISIONS = frozenset(("fr", "it"))


def without_accents(word: str) -> str:
    """Return the word without accents on Latin letters; a word of ASCII comes back as it is."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", word)))


@cache
def stemmer(bucket: str) -> Callable[[str], str]:
    """Return the function from a folded word to the term of that bucket; loaded once a process.

    English loses accents before stemming (its rules know none, and José is also typed Jose), the
    other Latin languages after (their endings need them). A bucket without stems keeps the word.
    """
    algorithm = _ALGORITHMS.get(bucket)
    if algorithm is None:
        return str
    from Stemmer import Stemmer

    stem: Callable[[str], str] = Stemmer(algorithm).stemWord
    if bucket == "en":
        return lambda word: stem(without_accents(word)) or word
    if bucket == "ru":
        return lambda word: stem(word.replace("ё", "е")) or word
    if bucket == "ar":
        return lambda word: stem(_HARAKAT.sub("", word) or word) or word
    return lambda word: without_accents(stem(word)) or word


def apostrophe_words(word: str, bucket: str) -> list[str]:
    """Return the words, not yet stemmed, that a folded word with apostrophes is indexed as.

    French and Italian elisions (l'homme, dell'arte) are cut; English contractions and genitives
    (don't, user's) stay whole for the stemmer; anything else is kept whole and in parts.
    """
    if bucket == "en" and _CONTRACTION.search(word):
        return [word]
    parts = [part for part in word.split("'") if part]
    return parts if bucket in _SPLITS_ELISIONS else [word, *parts]
