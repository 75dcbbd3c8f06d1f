"""One form for all spellings of the same text, and the rule for what may be stored at all."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from openclaw_cli.errors import InvalidTextError

_SURROGATES = "\ud800-\udfff"
_APOSTROPHES = "\u2018\u2019\u201b\u02bc\uff07"
_HYPHENS = "\u2010\u2011\u2212\ufe63\uff0d"
# Soft hyphens, direction marks, joiners of nothing, byte order marks and variation selectors
# change how a word looks, never which word it is.
_INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180f\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufe00-\ufe0f\U000e0100-\U000e01ef"
)
_CHANGED = _SURROGATES + _APOSTROPHES + _HYPHENS + _INVISIBLE
_DOTTED_I = "i\u0307"


@cache
def _any_of(signs: str) -> re.Pattern[str]:
    """Return the pattern of one of the signs; most commands never need one."""
    return re.compile(f"[{signs}]")


def fold(text: str) -> str:
    """Return the form under which equal words compare equal: NFKC, case folded, idempotent.

    Lone surrogates become U+FFFD, typographic apostrophes the ASCII one, and the dot that case
    folding leaves above a Turkish capital I is dropped.
    """
    if text.isascii():
        return text.lower()
    current = _any_of(_SURROGATES).sub("\ufffd", text)
    while True:
        folded = unicodedata.normalize("NFKC", current).casefold()
        folded = _any_of(_APOSTROPHES).sub("'", unicodedata.normalize("NFKC", folded))
        folded = folded.replace(_DOTTED_I, "i")
        if folded == current:
            return folded
        current = folded


def normalized_text(text: str) -> str:
    """Return the text in NFKC with every run of white space as one space, case kept.

    Two texts with the same result are the same content; lone surrogates become U+FFFD so that
    the result can always be encoded.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _any_of(_SURROGATES).sub("\ufffd", text))
    return " ".join(text.split())


def prepare(text: str) -> str:
    """Return the text ready to be cut into terms: NFKC with the case kept, one sign per meaning.

    Invisible signs go, apostrophes and hyphens become ASCII, lone surrogates U+FFFD.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    if _any_of(_CHANGED).search(text) is None:
        return text
    text = unicodedata.normalize("NFKC", _any_of(_SURROGATES).sub("\ufffd", text))
    text = _any_of(_APOSTROPHES).sub("'", _any_of(_INVISIBLE).sub("", text))
    # Removing an invisible sign may bring a letter and its mark together.
    return unicodedata.normalize("NFKC", _any_of(_HYPHENS).sub("-", text))


def check_storable(text: str) -> None:
    """Raise InvalidTextError, saying what and where, for a text that cannot be stored.

    Refused are a text that is empty or only white space, NUL, and lone surrogates (which no
    UTF-8 file can hold). Positions are counted in characters from 1.
    """
    if not text or text.isspace():
        what = "empty" if not text else "only white space"
        raise InvalidTextError(f"the text is {what}", hint="give at least one visible character")
    nul = text.find("\0")
    if nul >= 0:
        raise InvalidTextError(
            f"the text holds a NUL character at character {nul + 1}",
            hint="remove it; is this a binary file?",
        )
    if text.isascii():
        return
    lone = _any_of(_SURROGATES).search(text)
    if lone:
        raise InvalidTextError(
            f"the text holds the lone surrogate U+{ord(lone[0]):04X} "
            f"at character {lone.start() + 1}",
            hint="the text is not valid Unicode; was it decoded with the wrong encoding?",
        )
