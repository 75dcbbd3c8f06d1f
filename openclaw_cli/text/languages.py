"""Which language a text is in: by its scripts first, Latin text by words and letter groups."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from openclaw_cli.text.normalize import prepare
from openclaw_cli.text.scripts import ARABIC, CYRILLIC, HAN, HANGUL, KANA, LATIN, han_run, kana_run

LATIN_LANGUAGES = ("en", "es", "pt", "fr", "de", "it")
"""The languages of the Latin script that are told apart; any other one is "und"."""

HAN_SHARE = 0.10
"""From this share of Han letters on a text counts as Chinese, whatever else it holds."""

_KANA_SHARE = 0.15
"""From this share of kana among kana and Han on, the Han letters are Japanese."""

_OTHER_SCRIPT_SHARE = 0.3
"""From this share of the letters on, another script than Latin decides: names are often Latin."""


class LanguageProfile(NamedTuple):
    """The language of a text, the shares of its letters, and whether the language is certain.

    ``language`` is a two-letter code or "und"; undecidable Latin text is "en" and not
    ``confident``, unless it holds letters that English lacks: then it is the likeliest other
    language, still not
    ``confident``. Shares are 0 to 1 of all letters, 0 when there are none.
    """

    language: str
    han_share: float
    latin_share: float
    confident: bool


_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("latin", LATIN),
    ("zh", HAN),
    ("ja", KANA),
    ("ko", HANGUL),
    ("ru", CYRILLIC),
    ("ar", ARABIC),
    ("el", "\u0370-\u03ff\u1f00-\u1fff"),
    ("he", "\u05d0-\u05f2\ufb1d-\ufb4f"),
    ("hi", "\u0900-\u0963\u0970-\u097f\ua8e0-\ua8ff"),
    ("bn", "\u0980-\u09e3"),
    ("pa", "\u0a00-\u0a65\u0a70-\u0a76"),
    ("gu", "\u0a80-\u0ae3"),
    ("or", "\u0b00-\u0b65"),
    ("ta", "\u0b80-\u0bd7"),
    ("te", "\u0c00-\u0c63"),
    ("kn", "\u0c80-\u0ce3"),
    ("ml", "\u0d00-\u0d63"),
    ("si", "\u0d80-\u0df3"),
    ("th", "\u0e01-\u0e3a\u0e40-\u0e4e"),
    ("lo", "\u0e81-\u0ecd"),
    ("bo", "\u0f00-\u0fbc"),
    ("my", "\u1000-\u109f"),
    ("ka", "\u10a0-\u10ff\u1c90-\u1cbf\u2d00-\u2d2d"),
    ("am", "\u1200-\u139f"),
    ("km", "\u1780-\u17d3"),
    ("hy", "\u0531-\u0587\ufb13-\ufb17"),
)
_SCRIPT_NAMES = ("", *[name for name, _ in _SCRIPTS], "und")
_ASCII_LETTER = re.compile("[A-Za-z]")


@cache
def _script_run() -> re.Pattern[str]:
    groups = "|".join([f"([{ranges}]+)" for _, ranges in _SCRIPTS])
    return re.compile(rf"{groups}|([^\W\d_\u0000-\u024f])")


@cache
def _beyond_latin() -> re.Pattern[str]:
    return re.compile(rf"[^\W\d_{LATIN}]")


@cache
def _beyond_latin_and_han() -> re.Pattern[str]:
    # A script has marks and signs too, which are no letters.
    others = "".join([ranges for name, ranges in _SCRIPTS if name not in ("latin", "zh")])
    return re.compile(rf"[^\W\d_{LATIN}{HAN}]|[{others}]")


@cache
def _latin_letters() -> re.Pattern[str]:
    return re.compile(f"[{LATIN}]+")


def profile(text: str) -> LanguageProfile:
    """Return the language of a text and the shares of its letters, for any string."""
    return profile_prepared(prepare(text))


def profile_prepared(text: str) -> LanguageProfile:
    """Return the profile of a text that ``normalize.prepare`` has been through already."""
    ascii_only = text.isascii()
    if not ascii_only and _beyond_latin().search(text):
        return _by_scripts(text)
    if not (_ASCII_LETTER if ascii_only else _latin_letters()).search(text):
        return LanguageProfile("und", 0.0, 0.0, False)
    language, confident = _latin(text)
    return LanguageProfile(language, 0.0, 1.0, confident)


def han_share(text: str) -> float:
    """Return the share of Han characters among the letters of a prepared text, as its profile."""
    if text.isascii() or not _beyond_latin().search(text):
        return 0.0
    counts = _counted(text)
    return counts["zh"] / (sum(counts.values()) or 1)


def kana_is_real(text: str) -> bool:
    """Tell whether kana have a real share among kana and Han: then the Han are Japanese."""
    kana = sum(map(len, kana_run().findall(text)))
    return kana > 0 and _japanese(kana, sum(map(len, han_run().findall(text))))


def _japanese(kana: int, han: int) -> bool:
    return kana >= _KANA_SHARE * (kana + han)


def _counted(text: str) -> dict[str, int]:
    """Return how many letters of a prepared text belong to each script."""
    counts = dict.fromkeys(_SCRIPT_NAMES, 0)
    if _beyond_latin_and_han().search(text):
        for match in _script_run().finditer(text):
            counts[_SCRIPT_NAMES[match.lastindex or 0]] += match.end() - match.start()
    else:  # Chinese with names in it, counted in a quarter of the time
        counts["zh"] = sum(map(len, han_run().findall(text)))
        counts["latin"] = sum(map(len, _latin_letters().findall(text)))
    return counts


def _by_scripts(text: str) -> LanguageProfile:
    counts = _counted(text)
    letters = sum(counts.values()) or 1
    han, kana, latin = counts["zh"], counts["ja"], counts["latin"]
    han_share, latin_share = han / letters, latin / letters
    japanese = kana > 0 and _japanese(kana, han)
    if (han + kana) / letters >= HAN_SHARE and (han or kana) and counts["ko"] <= han + kana:
        language, confident = ("ja" if japanese else "zh"), True
    else:
        del counts["latin"]
        language = max(counts, key=lambda name: counts[name])
        confident = True
        if counts[language] < _OTHER_SCRIPT_SHARE * letters:
            language = "latin"
    if language == "latin":
        language, confident = _latin(text)
    return LanguageProfile(language, han_share, latin_share, confident and language != "und")


def _latin(text: str) -> tuple[str, bool]:
    from openclaw_cli.text.latin import detect

    return detect(text)
