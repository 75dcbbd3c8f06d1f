"""A cheap look whether a text can match a query at all, before it is cut into terms.

It never says no to a text that matches. Latin words and numbers are looked for as the beginnings
that all forms of a word share, in bytes without case, accents and joints (so that ``u.s.a.`` has
``usa``); Han, kana and Hangul as they are. A text with characters that could mean one of those in
disguise (full-width letters, ligatures, invisible signs) is put in plain form first.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from openclaw_cli.text.analyze import LATIN_BUCKETS, LATIN_KINDS
from openclaw_cli.text.compounds import MAX_TERM, Kind, Token
from openclaw_cli.text.matching import Query, wanted_terms
from openclaw_cli.text.normalize import fold, prepare
from openclaw_cli.text.phones import SHORTEST
from openclaw_cli.text.stems import without_accents

_JOINTS = b"._'@/\\:?&=#%+~,-"
_LOWER = bytes(range(256)).lower()
# A stem may differ from its word in its last letters: possible from possibility. One of up to four
# letters does so in the last one alone, if that is e, i or (after three) l: make from making, happi
# from happy, appl from applaux; but for die, lie and the like from dying and lying.
_CHANGED = 2
_SHORT = 4
_CHANGED_LAST = "eil"
_UMLAUTS = re.compile("([aou])")
_UMLAUTS_TOLD = 2

# Characters that spell no Latin letter or digit in another way, and no joint but those below.
_PLAIN_CHARACTERS = (
    "\x00-\u02bf\u0380-\u061b\u061d-\u065f\u067a-\u06df\u06fa-\u07bf\u2013\u2014\u2018\u2019"
    "\u201c\u201d\u2022\u2026\u3000-\u30ff\u3400-\u9fff\uac00-\uefff\uff01\uff08\uff09\uff0c\uff1a"
    "\uff1b\uff1f\U0001f300-\U0001f6ff\U0001f800-\U0001faff\U00020000-\U0002efff"
)
# Those of them that are digits in another form.
_FRACTION = re.compile("[\u00b2\u00b3\u00b9\u00bc-\u00be]")
# Latin letters of two bytes, and after letters signs that are joints in another form.
_WIDE_JOINT = rb"(?:\xe2\x80[\x98\x99\xa6]|\xef\xbc[\x8c\x9a\x9f])"
# What a pattern begins with is what a text is looked through for: bytes that are rare in most.
_JOINED_BYTES = (
    rb"(?:\xe2(?<=[!-~]\xe2)\x80[\x98\x99\xa6]|\xef(?<=[!-~]\xef)\xbc[\x8c\x9a\x9f])%b*"
    % _WIDE_JOINT
)
_WIDE_BYTES = rb"[\xc2-\xca][\x80-\xbf]%b*|%b" % (_WIDE_JOINT, _JOINED_BYTES)
_NO_LATIN_LEAD = bytes(set(range(256)) - set(range(0xC2, 0xCB)))
# Characters that may spell Han, kana or Hangul in another way, or hide between two of them.
_ODD_CHARACTERS = (
    "[\u00ad\u034f\u061c\u1100-\u11ff\u180b-\u180f\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\u2e80-\u2fdf\u3036\u3038-\u303a\u3099-\u309c\u309f\u30ff\u3131-\u319f\u3200-\u33ff"
    "\ua960-\ua97c\ud7b0-\udfff\uf900-\ufaff\ufe00-\ufe0f\ufe30-\ufe4f\ufeff\uff61-\uffdc"
    "\U0001f200-\U0001f2ff\U0002f800-\U0002fa1f\U000e0100-\U000e01ef]"
)


class Needles:
    """What every text that matches a query holds; spares the query a look at most words."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._runs = [term for _bucket, term in query.split_runs]
        bits = list(query.required.values())
        found = [_needles(want.tokens) for want in query.wants]
        needed = [
            number for number in range(len(found)) if all(mask >> number & 1 for mask in bits)
        ]
        self._words = [needles for n in needed if (needles := found[n]) is not None]
        self._numbers = [
            pattern for n in needed if (pattern := _number_pattern(query.wants[n].tokens))
        ]
        if None not in found:
            self._all = tuple({needle for needles in found for needle in needles or ()})
            query.pass_over(self._is_idle)

    def _is_idle(self, chunk: str) -> bool:
        """Tell that a chunk of a text holds nothing of the query."""
        data = plain_bytes(chunk)
        return not any(needle in data for needle in self._all)

    def may_match(self, text: str) -> bool:
        """Tell whether a text, as it is stored, may match; False is certain."""
        return self._has_runs(text) and self._has_words(text) and self._has_numbers(text)

    def _has_runs(self, text: str) -> bool:
        if not self._runs or all(term in text for term in self._runs):
            return True
        if text.isascii():
            return False
        if not self._query.has_clusters and _odd_characters().search(text) is None:
            return False
        plain = prepare(text)
        return all(term in plain for term in self._runs)

    def _has_words(self, text: str) -> bool:
        if not self._words:
            return True
        data = plain_bytes(text)
        for alternatives in self._words:
            for needle in alternatives:
                if needle in data:
                    break
            else:
                return False
        return True

    def _has_numbers(self, text: str) -> bool:
        """Tell whether the short numbers may stand there by themselves, not within longer ones."""
        if not self._numbers:
            return True
        if not text.isascii() and (_wide_patterns()[0].search(text) or _FRACTION.search(text)):
            return True
        return all(pattern.search(text) for pattern in self._numbers)


def _number_pattern(tokens: tuple[Token, ...]) -> re.Pattern[str] | None:
    """Return how numbers too short for telephones stand in a text; None for any other tokens.

    Their digits may be apart: 1,700 is 1700, and 3-4 also 34. What is cut off a row of digits that
    is too long for a term may be one of them.
    """
    forms = []
    for kind, text in tokens:
        if kind is not Kind.NEUTRAL or not text.isdecimal() or len(text) >= SHORTEST:
            return None
        first = text[0]  # before all else, so that it is what the text is looked through for
        start = rf"{first}(?:(?<![0-9]{first})|(?<=[0-9]{{{MAX_TERM}}}{first}))"
        forms.append(start + "".join(rf"[\W_]*{digit}" for digit in text[1:]) + "(?![0-9])")
    return re.compile("|".join(forms)) if forms else None


def _needles(tokens: tuple[Token, ...]) -> tuple[bytes, ...] | None:
    """Return bytes of which one is in every text with one of the tokens; None if none is known."""
    found: set[bytes] = set()
    for token in tokens:
        for needle in _of_token(token):
            data = needle.encode().translate(_LOWER, _JOINTS) if needle.isascii() else b""
            if not data:
                return None
            found.add(data)
    return tuple(found)


def _of_token(token: Token) -> set[str]:
    kind, text = token
    if kind is Kind.NEUTRAL:
        # The last nine digits of a telephone number are a term: only single digits can be told.
        return {text[0] if len(text) >= SHORTEST and text.isdecimal() else text}
    if kind not in LATIN_KINDS:
        return {""}
    terms = {term for name in LATIN_BUCKETS for term in wanted_terms(token, name)}
    if kind is Kind.LATIN_EXACT:
        return terms
    # The bare form is a term wherever the accented one is.
    found = {_beginning(without_accents(term)) for term in terms}
    for word in wanted_terms(token, "de"):
        found |= _german(_beginning(without_accents(word)))
    # What holds a shorter one needs no look of its own.
    return {word for word in found if not any(o != word and o in word for o in found)}


def _german(beginning: str) -> set[str]:
    """Return how the beginning of a German stem is written: its ä may have been ae as well."""
    found = [""]
    for number, part in enumerate(_UMLAUTS.split(beginning, maxsplit=2)):
        if number == 2 * _UMLAUTS_TOLD:
            break
        is_vowel = number % 2 == 1
        found = [word + part for word in found] + (
            [f"{word}{part}e" for word in found] if is_vowel else []
        )
    return set(found)


def _beginning(stem: str) -> str:
    """Return with what every word of a stem begins."""
    is_short = len(stem) <= _SHORT and not (len(stem) == 3 and stem.endswith("ie"))
    changed = (stem[-1:] in _CHANGED_LAST) if is_short else _CHANGED
    return stem[: max(1, len(stem) - changed)]


def plain_bytes(text: str) -> bytes:
    """Return a text in bytes without case, accents and joints, as needles are looked for in."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) == len(text):
        return raw.translate(_LOWER, _JOINTS)
    odd, wide, joined = _wide_patterns()
    if odd.search(text):
        return fully_plain(text)
    pattern = wide if raw.translate(None, _NO_LATIN_LEAD) else joined
    return pattern.sub(_plain_form, raw).translate(_LOWER, _JOINTS)


def fully_plain(text: str) -> bytes:
    """Return what `plain_bytes` does, by way of the very forms that terms are made of."""
    folded = without_accents(fold(prepare(text))).replace("\u200c", "").replace("\u200d", "")
    if not folded.isascii():
        folded = "".join([_digit(char) for char in folded])
    return folded.encode("utf-8", "surrogatepass").translate(_LOWER, _JOINTS)


def _digit(char: str) -> str:
    return char if char.isascii() else str(unicodedata.decimal(char, char))


def _plain_form(match: re.Match[bytes]) -> bytes:
    return _plain_pair(match[0])


@cache
def _plain_pair(data: bytes) -> bytes:
    return without_accents(fold(prepare(data.decode()))).encode()


@cache
def _wide_patterns() -> tuple[re.Pattern[str], re.Pattern[bytes], re.Pattern[bytes]]:
    odd = re.compile(f"[^{_PLAIN_CHARACTERS}]")
    return odd, re.compile(_WIDE_BYTES), re.compile(_JOINED_BYTES)


@cache
def _odd_characters() -> re.Pattern[str]:
    return re.compile(_ODD_CHARACTERS)
