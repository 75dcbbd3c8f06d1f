"""Telling English, Spanish, Portuguese, French, German, Italian and other Latin text apart.

Every word votes with the letter groups it is made of (a table trained on Tatoeba sentences) and,
when it is a function word, with more. Capitalised words vote little: they may be names, and names
of any origin stand in English text. Words and letters that only other languages use vote for
"other". Another language than English is certain only with proof: a function word or a letter that
English lacks, or a lead that no English note was seen to give.
"""

from __future__ import annotations

import re
from functools import cache

from openclaw_cli.text.normalize import fold
from openclaw_cli.text.scripts import LATIN
from openclaw_cli.text.stopwords import ENGLISH_TOO, NAME_PARTS, OTHER_LATIN_WORDS, STOP_WORDS

ORDER = ("en", "es", "pt", "fr", "de", "it")
"""The languages in the order of the table's columns."""

WORDS = re.compile(f"[{LATIN}\u0300-\u036f]+(?:'[{LATIN}]+)*")
"""The words of a prepared text that vote."""

LONGEST_GROUP = 5
STEP = 0.1
LOWEST = -3.3
OFFSET = 73
"""Weights are kept in tenths, as one printable character each: chr(OFFSET + tenths)."""

_NAME_SHARE = 0.25
_FUNCTION_WORD = 25
_OTHER_WORD = 90
_OTHER_LETTER = 60
_OTHER_GROUP = 30
# The groups of one word overlap: their sum divided by the root of their number, times this.
_GROUPS = 3.0
# A word that is in the table itself votes with that row alone, which says more than its letters.
_WHOLE_WORD = 4.0
# What a language must lead English by to be certain, with and without proof, and to be the guess
# for a text that is not quite English; what English must lead by; in tenths.
_WITH_PROOF = 70
_WITHOUT_PROOF = 140
_GUESS = 35
_CERTAIN_ENGLISH = 60
_LONGEST_ACRONYM = 4
_PLENTY = 3
_MAX_CHUNKS = 400
_CACHED_CHUNKS = 20_000
_CACHED_LENGTH = 32

_NO_PROSE = re.compile(r"[/\\@_\d]")
_FOREIGN = re.compile(
    "[\u0101-\u0111\u0113\u0117-\u011b\u011d-\u0121\u0123-\u0131\u0135-\u0137\u0139-\u0151"
    "\u0155-\u0177\u0179-\u017e\u01a0\u01a1\u01af\u01b0\u0218-\u021b\u0259\u1e02-\u1e9d"
    "\u1ea0-\u1ef9\u00e5\u00e6\u00f0\u00f8\u00fd\u00fe]"
)
# Pairs of letters that the six languages hardly ever write.
_FOREIGN_GROUP = re.compile(
    "ij(?!o)|aa|uu|sz|cz|rz|dz|kk|jk|vv|yy|ää|öö|tj|sj|hv|zw|jn|ków|eeu|[gk]j|(?<=.)w$(?<![aeo]w)"
)
_LOAN_WORDS = """
café cafés fiancé fiancée résumé résumés naïve cliché clichés jalapeño jalapeños piñata touché déjà
façade décor entrée entrées purée sauté sautéed soufflé crêpe crêpes brûlée crème pâté mâché rosé
protégé risqué matinée über doppelgänger smörgåsbord açaí señor señora habañero maté exposé flambé
séance voilà à née coöperate naïveté pokémon frappé glacé
"""
_LOANS = frozenset(_LOAN_WORDS.split())
# Costa de la Luz: what joins a name says no more than the name.
_NAME = re.compile(
    rf"\b([A-Z\u00c0-\u00de]\w*) (?:(?:{'|'.join(sorted(NAME_PARTS))}) )+(?=[A-Z\u00c0-\u00de])"
)
_VIETNAMESE = re.compile("[\u01a1\u01b0\u1ea0-\u1ef9]")

Votes = tuple[float, ...]
_NO_VOTES: Votes = (0.0,) * (len(ORDER) + 1)


def detect(text: str) -> tuple[str, bool]:
    """Return (language, certain) of a prepared text with Latin letters.

    The language is one of ORDER, "vi", or "und" for any other; what cannot be decided is English
    and not certain.
    """
    chunks = text.split()
    if len(chunks) > _MAX_CHUNKS:
        chunks = chunks[:: len(chunks) // _MAX_CHUNKS]
    plain = _by_function_words(chunks)
    if plain is not None:
        return plain, True
    language, lead = _lead(text, chunks)
    if lead >= _GUESS:
        language, lead = _lead(text, _NAME.sub(r"\1 ", " ".join(chunks)).split())
    if lead < _GUESS:
        return "en", lead <= -_CERTAIN_ENGLISH
    words = [word for chunk in chunks for word in WORDS.findall(chunk)]
    if lead >= (_WITH_PROOF if _is_proof(text, words) else _WITHOUT_PROOF):
        return language, True
    return (language if any(map(_has_foreign_letter, words)) else "en"), False


def _lead(text: str, chunks: list[str]) -> tuple[str, float]:
    """Return the likeliest language but English, and what it leads English by, in tenths."""
    english, *others, foreign = map(sum, zip(*map(_chunk_votes().__getitem__, chunks), strict=True))
    best = max(others)
    if foreign > 0 and foreign > best:
        return ("vi" if _VIETNAMESE.search(text) else "und"), foreign - english
    return ORDER[others.index(best) + 1], max(best, foreign) - english


def _is_proof(text: str, words: list[str]) -> bool:
    """Tell whether a word or sign stands in a text that English text does not hold.

    Names have any letters, and some words are English with the accents of their origin.
    """
    if "\u00bf" in text or "\u00a1" in text:
        return True
    known = _known_words()
    return any(
        (known.get(word, "en") != "en" and word not in NAME_PARTS)
        or (word.islower() and _has_foreign_letter(word))
        for word in (map(str.lower, words) if text.isupper() else words)
    )


def _has_foreign_letter(word: str) -> bool:
    return not word.isascii() and word.lower() not in _LOANS


def _by_function_words(chunks: list[str]) -> str | None:
    """Return the language whose own function words abound, None when that is no plain matter.

    It decides most sentences at a fraction of the cost of letter groups.
    """
    known = _known_words()
    found = [known[chunk] for chunk in chunks if chunk in known]
    if len(found) < _PLENTY:
        return None
    counts = sorted([(found.count(language), language) for language in set(found)])
    most, language = counts[-1]
    others = len(found) - most
    return language if language != "und" and most >= _PLENTY and most >= 5 * others else None


@cache
def _known_words() -> dict[str, str]:
    """Return the words that are function words of one language alone, in lower case."""
    known = dict.fromkeys(OTHER_LATIN_WORDS, "und")
    for language in ORDER:
        others = [STOP_WORDS[other] for other in ORDER if other != language]
        known.update(dict.fromkeys(STOP_WORDS[language].difference(*others), language))
    for word in ENGLISH_TOO - STOP_WORDS["en"]:
        known.pop(word, None)
    return known


def groups_of(word: str) -> list[str]:
    """Return the groups of one to five letters of a folded word, its ends marked by a space.

    A longer word is a group itself.
    """
    marked = f" {word} "
    groups = [
        marked[at : at + length]
        for length in range(2, LONGEST_GROUP + 1)
        for at in range(len(marked) - length + 1)
    ]
    return [*word, *groups, marked] if len(marked) > LONGEST_GROUP else [*word, *groups]


class _ChunkVotes(dict[str, Votes]):
    """Chunk to the votes of its words; bounded, and worth it because chunks repeat."""

    def __missing__(self, chunk: str) -> Votes:
        votes = _NO_VOTES
        if len(chunk) <= _CACHED_LENGTH and not _NO_PROSE.search(chunk):
            for word in WORDS.findall(chunk):
                votes = tuple(map(sum, zip(votes, _word_votes(word), strict=True)))
            if len(self) >= _CACHED_CHUNKS:
                self.clear()
            self[chunk] = votes
        return votes


@cache
def _chunk_votes() -> _ChunkVotes:
    return _ChunkVotes()


def _word_votes(word: str) -> Votes:
    folded = fold(word)
    table = _table()
    whole = table.get(f" {folded} ")
    if whole is not None:
        rows, scale = [whole], _WHOLE_WORD
    else:
        rows = [row for row in map(table.get, groups_of(folded)) if row]
        scale = _GROUPS / len(rows) ** 0.5 if rows else 0.0
    zero = OFFSET * len(rows)
    tenths = "".join(rows).encode()
    votes = [(sum(tenths[at :: len(ORDER)]) - zero) * scale for at in range(len(ORDER))]
    function_word = False
    for at, language in enumerate(ORDER):
        if folded in STOP_WORDS[language]:
            votes[at] += _FUNCTION_WORD
            function_word = True
    if folded in ENGLISH_TOO and folded not in STOP_WORDS["en"]:
        votes[0] = max(votes[0], 0.0) + _FUNCTION_WORD
    other = 0.0
    if folded in OTHER_LATIN_WORDS:
        other += _OTHER_WORD
        function_word = True
    if _FOREIGN.search(folded):
        other += _OTHER_LETTER
    elif _FOREIGN_GROUP.search(folded):
        other += _OTHER_GROUP
    shouted = word.isupper() and len(word) > _LONGEST_ACRONYM
    acronym = word.isupper() and not shouted and word.isascii()
    if folded in NAME_PARTS or acronym:
        function_word = False
    if word[0].isupper() and not function_word and not shouted:
        return tuple([vote * _NAME_SHARE for vote in (*votes, other)])
    return (*votes, other)


@cache
def _table() -> dict[str, str]:
    import json
    from pathlib import Path

    path = Path(__file__).with_name("data") / "latin_ngrams.json"
    table: dict[str, str] = json.loads(path.read_text("utf-8"))
    return table
