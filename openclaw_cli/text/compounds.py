"""Cutting one chunk of text without white space into tokens: whole forms, segments and parts.

An identifier is found by its whole form, by each segment (``nginx.conf`` of a path), by its parts
(``user`` of ``userName``) and, for spellings that differ in nothing but a joint, by the parts
written together: userName, user_name, user-name and username share ``username``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from enum import IntEnum
from functools import cache

from openclaw_cli.text.normalize import fold
from openclaw_cli.text.phones import phone_key
from openclaw_cli.text.scripts import ARABIC, CYRILLIC, LATIN, MARKS, WORD

MAX_TERM = 128
"""Longest term in characters: longer words are cut into pieces, longer whole forms left out."""

_MAX_JOINED = 64
_MAX_DOTTED_JOINED = 16
_MAX_PARTS = 8
_WORD_LENGTH = 2


class Kind(IntEnum):
    """What a token is: it decides the bucket and whether the token is stemmed.

    In a mixed compound the smallest kind wins.
    """

    LATIN = 0
    LATIN_APOSTROPHE = 1
    LATIN_EXACT = 2
    CYRILLIC = 3
    ARABIC = 4
    OTHER = 5
    NEUTRAL = 6


Token = tuple[Kind, str]

_PUNCTUATION = "\"'()[]{}<>.,;:!?*-_/\\=|`^~&“”„«»‹›…–—¿¡،؛؟。、·"
_JOINTS = "._'@/\\:?&=#%+~,-"
_EDGES = _JOINTS + "\u200c\u200d"
# A compound is cut at whatever is neither word nor joint, and at commas outside a number.
_CUT_ASCII = re.compile(rf"[^A-Za-z0-9{re.escape(_JOINTS)}]+|,(?![0-9])|(?<![0-9]),")
_SEGMENT = re.compile(r"[/\\:?&=#@,+~%]+")
_NAME = re.compile(r"[\-_]+")

# Signs worth a term of their own: currencies, arrows, mathematics, pictures.
_PICTURES = (
    "\u00a2-\u00a5\u00a7\u00a9\u00ae\u00b0\u00b1\u00d7\u00f7\u0e3f\u2020\u2021\u2030\u20a0-\u20cf"
    "\u2100-\u214f\u2190-\u2bff\u3012\u3020\u3036\u3200-\u33ff\U0001f000-\U0001f1e5"
    "\U0001f200-\U0001faff\U0001fb00-\U0001fbef"
)
_ASCII_SIGN = re.compile(r"\$(?![A-Za-z_{(])|(?<=\d)%(?![0-9A-Fa-f]{2})|^%+$")
_PLUS_OR_SHARP = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]{1,16}(?:\+\+(?![A-Za-z+#])|#(?![A-Za-z0-9+#]))"
)

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_VERSION = re.compile(r"[vV](\d+(?:\.\d+)+)")
_NUMBER_START = re.compile(r"\d+\.\d+(?=\.\d)")

_LATIN_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff"
_PART_ASCII = re.compile("([0-9]+)|([A-Za-z]+)")
_PART_KINDS = (Kind.NEUTRAL, Kind.NEUTRAL, Kind.LATIN, Kind.CYRILLIC, Kind.ARABIC, Kind.OTHER)
_APOSTROPHE_ASCII = re.compile("[A-Za-z']+")
_UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de"
_CAMEL = re.compile(
    rf"[{_UPPER}]{{2,}}s(?![^{_UPPER}])|[{_UPPER}]+(?![^{_UPPER}])|[{_UPPER}]?[^{_UPPER}]+"
    rf"|[{_UPPER}]"
)


class _Wide:
    """The patterns for chunks beyond ASCII, compiled when the first of them comes by."""

    __slots__ = ("apostrophe", "cut", "name", "part", "picture", "sign")

    def __init__(self) -> None:
        picture = f"[{_PICTURES}][\U0001f3fb-\U0001f3ff]?[\U000e0020-\U000e007f]*"
        other = rf"[^\W\d_{LATIN}{CYRILLIC}{ARABIC}]"
        self.cut = re.compile(rf"[^{WORD}{re.escape(_JOINTS)}]+|,(?!\d)|(?<!\d),")
        # Persian puts a joiner of no width where others put a hyphen.
        self.name = re.compile(rf"[\-_]+|(?<=[{ARABIC}])\u200c+(?=[{ARABIC}])")
        self.part = re.compile(
            rf"(\d+)|([{LATIN}][{LATIN}{_LATIN_MARKS}]*)|([{CYRILLIC}][{CYRILLIC}\u0300-\u036f]*)"
            rf"|([{ARABIC}][{ARABIC}\u200c\u200d]*)|((?:{other}|[{MARKS}\u200c\u200d])+)"
        )
        self.apostrophe = re.compile(rf"[{LATIN}{_LATIN_MARKS}']+")
        self.sign = re.compile(f"[\U0001f1e6-\U0001f1ff]{{1,2}}|{picture}(?:\u200d{picture})*")
        self.picture = re.compile(f"[{_PICTURES}]")


@cache
def _wide() -> _Wide:
    return _Wide()


def _parts(word: str) -> Iterator[re.Match[str]]:
    return (_PART_ASCII if word.isascii() else _wide().part).finditer(word)


def plain_word(chunk: str) -> str | None:
    """Return the folded word that a chunk of plain ASCII prose is, None for any other chunk.

    ``chunk_tokens`` would give this one Latin token; most chunks of natural text are such words.
    """
    core = chunk.strip(_PUNCTUATION)
    if core.isascii() and core.isalpha() and len(core) <= MAX_TERM and _one_case(core):
        return core.lower()
    return None


def chunk_tokens(chunk: str) -> list[Token]:
    """Return the tokens of one prepared chunk without white space and without spaceless scripts.

    The order is that of appearance, a whole form before its parts; time is linear in the length.
    """
    core = chunk.strip(_PUNCTUATION)
    word = _one_word(core) if core.isalpha() and len(core) <= MAX_TERM else None
    if word is not None:
        return [word]
    tokens: list[Token] = []
    if "+" in chunk or "#" in chunk:
        tokens += [(Kind.LATIN_EXACT, m.lower()) for m in _PLUS_OR_SHARP.findall(chunk)]
    if "$" in chunk or "%" in chunk:
        tokens += [(Kind.NEUTRAL, sign) for sign in _ASCII_SIGN.findall(chunk)]
    if not chunk.isascii():
        chunk = _take_signs(chunk, tokens)
    for piece in (_CUT_ASCII if chunk.isascii() else _wide().cut).split(chunk):
        unit = piece.strip(_EDGES)
        if unit:
            _add_unit(unit, tokens)
    return tokens


def _one_word(core: str) -> Token | None:
    """Return the token of letters of one script and case, None when they may be more than one."""
    match = (_PART_ASCII if core.isascii() else _wide().part).match(core)
    if match is None or match.end() < len(core):
        return None
    kind = _PART_KINDS[match.lastindex or 0]
    if kind is Kind.LATIN and not _one_case(core):
        return None
    term = _term(core)
    return (kind, term) if 0 < len(term) <= MAX_TERM else None


def _one_case(word: str) -> bool:
    return word.islower() or word.isupper() or word[1:].islower()


def _take_signs(chunk: str, tokens: list[Token]) -> str:
    """Add the emoji and other signs of a chunk, whole and by base; return the chunk without."""
    for sign in _wide().sign.findall(chunk):
        tokens.append((Kind.NEUTRAL, sign[:MAX_TERM]))
        if len(sign) > 1:
            tokens += [(Kind.NEUTRAL, base) for base in _wide().picture.findall(sign)]
    return _wide().sign.sub(" ", chunk)


def _add_unit(unit: str, tokens: list[Token]) -> None:
    """Add one compound, such as a path, an address or a number: whole, segments, names."""
    if _THOUSANDS.fullmatch(unit):
        number = _plain_number(_ascii_digits(unit))
        forms = (_ascii_digits(unit), number, number.partition(".")[0])
        tokens += [(Kind.NEUTRAL, form[:MAX_TERM]) for form in dict.fromkeys(forms)]
        _add_word(unit, tokens)
        return
    segments = [part for part in (s.strip("._'-") for s in _SEGMENT.split(unit)) if part]
    if len(segments) > 1:
        _add_whole(unit, tokens)
    for segment in segments:
        if "." in segment:
            _add_dotted(segment, tokens)
        else:
            _add_name(segment, tokens)


def _plain_number(number: str) -> str:
    """Return a number without its thousands separators, a decimal part kept after a point."""
    separator = next(sign for sign in number if sign in ",.")
    return number.replace(separator, "").replace(",", ".")


def _add_dotted(segment: str, tokens: list[Token]) -> None:
    """Add a file name, host, version or abbreviation: whole, useful ends, names."""
    _add_whole(segment, tokens)
    version = _VERSION.match(segment)
    if version:
        tokens.append((Kind.NEUTRAL, _ascii_digits(version[1][:MAX_TERM])))
    names = [name for name in segment.split(".") if name]
    start = _NUMBER_START.match(version[1] if version else segment)
    if start:
        tokens.append((Kind.NEUTRAL, _ascii_digits(start[0][:MAX_TERM])))
    abbreviation = max(map(len, names)) == 1
    if not start and not abbreviation and len(names) > 2:
        _add_whole(f"{names[-2]}.{names[-1]}", tokens)
    if len(segment) <= _MAX_DOTTED_JOINED and (abbreviation or len(names) == 2):
        _add_joined("".join(names), tokens)
    for name in names:
        _add_name(name.strip("'-_"), tokens)


def _add_joined(word: str, tokens: list[Token]) -> None:
    """Add what U.S.A. or Node.js also is, written without its points: usa, nodejs."""
    kinds = {_PART_KINDS[match.lastindex or 0] for match in _parts(word)}
    if word.isalpha() and kinds:
        tokens.append((min(kinds), _term(word)))


def _add_whole(text: str, tokens: list[Token]) -> None:
    if len(text) > MAX_TERM:
        return
    kinds = {_PART_KINDS[match.lastindex or 0] for match in _parts(text)}
    if kinds == {Kind.NEUTRAL}:
        tokens.append((Kind.NEUTRAL, _ascii_digits(text)))
    elif kinds:
        kind = Kind.LATIN_EXACT if Kind.LATIN in kinds else Kind.OTHER
        tokens.append((kind, _term(text)))


def _add_name(name: str, tokens: list[Token]) -> None:
    """Add a snake, kebab or camel name: its parts, and all of them joined when there are two."""
    first = len(tokens)
    for word in (_NAME if name.isascii() else _wide().name).split(name):
        if "'" in word:
            _add_apostrophe_word(word.strip("'"), tokens)
        elif word:
            _add_word(word, tokens)
    parts = tokens[first:]
    if len(parts) > 1 and len(name) <= _MAX_JOINED:
        for part in (parts, *_neighbours(parts)):
            joined = "".join([text for _, text in part]).replace("'", "")
            kind = min(kind for kind, _ in part)
            tokens.append((kind, joined))
            key = phone_key(joined) if kind is Kind.NEUTRAL else None
            if key:
                tokens.append((kind, key))


def _neighbours(parts: list[Token]) -> Iterator[list[Token]]:
    """Yield two and three parts in a row: OAuth2Client is also found by oauth, which has two.

    A code such as a hash, cut at each digit, has no such words in it; a number has none either.
    """
    words = [text for kind, text in parts if kind is not Kind.NEUTRAL]
    if not 3 <= len(parts) <= _MAX_PARTS or sum(map(len, words)) < _WORD_LENGTH * len(words):
        return
    for length in (2, 3):
        for at in range(len(parts) - length + 1):
            row = parts[at : at + length]
            if length < len(parts) and any(kind is not Kind.NEUTRAL for kind, _ in row):
                yield row


def _add_apostrophe_word(word: str, tokens: list[Token]) -> None:
    """Add don't, l'homme or O'Brien as one token that its language will cut, or else cut it."""
    pieces = [piece for piece in word.split("'") if piece]
    is_word = len(pieces) > 1 and len(word) <= _MAX_JOINED and _is_apostrophe_word(word)
    if is_word and all(map(_one_case, pieces)):
        tokens.append((Kind.LATIN_APOSTROPHE, _term(word)))
        return
    if len(pieces) > 1 and pieces[-1] in ("s", "S"):
        pieces.pop()
    for piece in pieces:
        _add_word(piece, tokens)


def _is_apostrophe_word(word: str) -> bool:
    pattern = _APOSTROPHE_ASCII if word.isascii() else _wide().apostrophe
    return pattern.fullmatch(word) is not None


def _add_word(word: str, tokens: list[Token]) -> None:
    """Add a word cut where script, letter and digit, or (inside Latin) the case changes."""
    if word.isascii() and word.isalpha() and len(word) <= MAX_TERM and _one_case(word):
        tokens.append((Kind.LATIN, word.lower()))
        return
    for match in _parts(word):
        kind, part = _PART_KINDS[match.lastindex or 0], match[0]
        if kind is Kind.NEUTRAL:
            digits = _ascii_digits(part)
            key = phone_key(digits)
            pieces = [digits, key] if key else [digits]
        elif kind is Kind.LATIN and not _one_case(part):
            pieces = [_term(piece) for piece in _CAMEL.findall(part)]
        else:
            pieces = [_term(part)]
        for piece in pieces:
            starts = range(0, len(piece), MAX_TERM)
            tokens += [(kind, piece[at : at + MAX_TERM]) for at in starts]


def _term(text: str) -> str:
    return fold(text).replace("\u200c", "").replace("\u200d", "")


def _ascii_digits(number: str) -> str:
    """Return a number of any script in ASCII digits, so that equal numbers are the same term."""
    if number.isascii():
        return number
    return "".join([str(unicodedata.decimal(c, c)) for c in number])
