"""From a folded word to the terms of a bucket: Snowball stems, accents, points and elisions.

What a person may leave out when typing is left out of the terms: accents on Latin and Greek
letters, stress marks in Cyrillic, Hebrew points, Arabic vowel signs. What makes another word stays:
the marks of Indic scripts and Thai, the dakuten of kana, and й, ї or ѓ, which are letters.
"""

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
    "[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed\u200c\u200d\U00010efd-\U00010eff]"
)
# Letters that carry their mark inside, so that decomposing them changes nothing.
_PLAIN_LETTERS = str.maketrans(
    {
        "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "ħ": "h",
        "þ": "th", "ŋ": "n", "ß": "ss", "ŧ": "t", "ƶ": "z", "ə": "e", "ɓ": "b", "ɗ": "d",
        "ƙ": "k", "ơ": "o", "ư": "u",
    }
)  # fmt: skip
# й, ї, ѓ and the like are single characters in a composed text: only loose stress marks go.
_STRESS = re.compile("[\u0300\u0301]")
_CYRILLIC_LETTERS = str.maketrans("ёѐѝ", "ееи")
# Persian keyboards write these two letters of Arabic with characters of their own.
_ARABIC_LETTERS = str.maketrans("\u06a9\u06cc\u06c1", "\u0643\u064a\u0647")
# The article, doubled before a verbal noun that begins like one, with what is written onto it.
_ARTICLE = re.compile(
    "^(?:[\u0648\u0641]?[\u0628\u0643]?\u0627\u0644){1,2}(?=...)|^[\u0648\u0641]?\u0644\u0644(?=...)"
)
_HEBREW = re.compile("[\u05d0-\u05ea]")
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]")
_GREEK_OR_LATIN = re.compile("[a-z\u0370-\u03ff\u1f00-\u1fff]")

# Endings whose accents the stemmer needs, given back to words typed without.
_BARE_ENDINGS: dict[str, tuple[re.Pattern[str], dict[str, str]]] = {
    "pt": (
        re.compile("(?:cao|coes|ao|oes|aes)$"),
        {"cao": "ção", "coes": "ções", "ao": "ão", "oes": "ões", "aes": "ães"},
    ),
    "fr": (re.compile("(?<=..)(?:ee|ees)$"), {"ee": "ée", "ees": "ées"}),
}
_CONTRACTION = re.compile(r"'(?:s|t|d|m|re|ve|ll|all|em|clock)$")
_SPLITS_ELISIONS = frozenset(("fr", "it"))

Terms = tuple[str, ...]


def without_accents(word: str) -> str:
    """Return the folded word as it is typed without accents: café as cafe, łódź as lodz.

    For Latin and Greek letters only; a word of ASCII comes back as it is.
    """
    if word.isascii():
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", word.translate(_PLAIN_LETTERS)))
    # Decomposing may set free a letter that is in the table, as ǿ does.
    return unicodedata.normalize("NFC", bare.translate(_PLAIN_LETTERS)) or word


@cache
def stemmer(bucket: str) -> Callable[[str], Terms]:
    """Return the function from a folded word to its terms in that bucket; loaded once a process.

    English loses accents before stemming. The other Latin languages need them for their endings
    while queries come without them, so an accented word has two terms there where its stem and
    that of its bare form differ. A bucket without stems has the bare form and the accented one.
    """
    algorithm = _ALGORITHMS.get(bucket)
    if algorithm is None:
        return _unstemmed
    from Stemmer import Stemmer

    stem: Callable[[str], str] = Stemmer(algorithm).stemWord
    if bucket == "en":
        return lambda word: (stem(without_accents(word)) or word,)
    if bucket == "ru":
        return lambda word: (stem(_without_stress(word)) or word,)
    if bucket == "ar":
        return lambda word: (stem(_arabic_base(word)) or word,)
    return _accented_stemmer(stem, *_BARE_ENDINGS.get(bucket, (None, {})))


def _accented_stemmer(
    stem: Callable[[str], str], ending: re.Pattern[str] | None, accented: dict[str, str]
) -> Callable[[str], Terms]:
    def terms(word: str) -> Terms:
        bare = without_accents(word)
        typed = ending.sub(lambda match: accented[match[0]], bare) if ending else bare
        first = without_accents(stem(typed)) or bare
        if bare == word:
            return (first,)
        second = without_accents(stem(word)) or bare
        return (first,) if first == second else (first, second)

    return terms


def _unstemmed(word: str) -> Terms:
    if word.isascii():
        return (word,)
    if _HEBREW.search(word):
        return (_POINTS.sub("", word) or word,)
    if not _GREEK_OR_LATIN.search(without_accents(word)):
        return (word,)
    bare = without_accents(word)
    # With the accented form beside it, the word as it was typed ranks first.
    return (bare,) if bare == word else (bare, word)


def _without_stress(word: str) -> str:
    return _STRESS.sub("", word).translate(_CYRILLIC_LETTERS) or word


def _arabic_base(word: str) -> str:
    bare = _HARAKAT.sub("", word).translate(_ARABIC_LETTERS)
    return _ARTICLE.sub("", bare) or word


def apostrophe_words(word: str, bucket: str) -> list[str]:
    """Return the words, not yet stemmed, that a folded word with apostrophes is indexed as.

    French and Italian elisions (l'homme, dell'arte) are cut; English contractions and genitives
    (don't, user's) stay whole for the stemmer; anything else is kept whole and in parts.
    """
    if bucket == "en" and _CONTRACTION.search(word):
        return [word]
    parts = [part for part in word.split("'") if part]
    return parts if bucket in _SPLITS_ELISIONS else [word, *parts]
