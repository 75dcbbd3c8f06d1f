"""Which characters belong to which script, as regular-expression character ranges.

The standard ``re`` knows no script properties, so the ranges are written out. Those of the
combining marks include the letters and unassigned places between two marks: both are part of a
word anyway, and the table stays short enough to compile in about a millisecond. It also holds the
letters of Unicode 15 that Python 3.11 does not know: what is indexed there is found by a later one.
"""

from __future__ import annotations

import re
from functools import cache

HAN = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3105-\u312f\u31a0-\u31bf\u31c0-\u31e3"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Not the middle dot U+30FB: Chinese writes foreign names with it.
KANA = (
    "\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\U0001b000-\U0001b16f"
)
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
LATIN = (
    "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1d00-\u1d25\u1d2c-\u1d5c"
    "\u1d62-\u1d65\u1d6b-\u1d77\u1d79-\u1dbe\u1e00-\u1eff\u2c60-\u2c7f\ua722-\ua787\ua78b-\ua7ff"
    "\uab30-\uab64\ufb00-\ufb06\uff21-\uff3a\uff41-\uff5a"
)
CYRILLIC = "\u0400-\u052f\u1c80-\u1c8a\u1d2b\u2de0-\u2dff\ua640-\ua69f"
ARABIC = (
    "\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06dc\u06df-\u06e8\u06ea-\u06ef\u06fa-\u06fc"
    "\u06ff\u0750-\u077f\u0870-\u0887\u0889-\u088e\u0898-\u08e1\u08e3-\u08ff\ufb50-\ufbb1"
    "\ufbd3-\ufd3d\ufd50-\ufdfb\ufe70-\ufefc\U00010efd-\U00010eff"
)
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ece\u0edc-\u0edf"
MYANMAR = (
    "\u1000-\u103f\u1050-\u108f\u109a-\u109d\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
)
KHMER = "\u1780-\u17d3\u17d7\u17dc\u17dd"
# Scripts that put no space between words, other than Han and kana.
SPACELESS = THAI + LAO + MYANMAR + KHMER + "\u1950-\u19c9\u1a20-\u1a7c\uaa80-\uaadf"
_SPACELESS_MARKS = (
    "\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108f\u109a-\u109d\u17b4-\u17d3\u17dd"
    "\u1a55-\u1a7c\uaab0-\uaab4\uaab7\uaab8\uaabe-\uaac1"
)

_MARK_RANGES = (
    "300-36f 483-489 591-5bd 5bf-5bf 5c1-5c2 5c4-5c5 5c7-5c7 610-61a 64b-65f 670-670 6d6-6dc "
    "6df-6e8 6ea-6ed 711-7f3 7fd-7fd 816-82d 859-85b 898-8e1 8e3-963 981-9e3 9fe-a75 a81-ae3 "
    "afa-b63 b82-bd7 c00-c63 c81-c83 cbc-d4d d57-d63 d81-df3 e31-e3a e47-e4e eb1-ece f18-f19 "
    "f35-f35 f37-f37 f39-f39 f3e-f84 f86-fbc fc6-fc6 102b-103e 1056-109d 135d-135f 1712-1734 "
    "1752-17d3 17dd-17dd 180b-180d 180f-193b 1a17-1a1b 1a55-1a7f 1ab0-1b44 1b6b-1b73 1b80-1bf3 "
    "1c24-1c37 1cd0-1cd2 1cd4-1dff 20d0-20f0 2cef-2cf1 2d7f-2dff 302a-302f 3099-309a a66f-a672 "
    "a674-a67d a69e-a6f1 a802-a827 a82c-a82c a880-a8c5 a8e0-a8f1 a8ff-a92d a947-a953 a980-a9c0 "
    "a9e5-aa4d aa7b-aac1 aaeb-aaef aaf5-aaf6 abe3-abea abec-abed fb1e-fb1e fe00-fe0f fe20-fe2f "
    "101fd-1037a 10a01-10a3f 10ae5-10ae6 10d24-10eac 10efd-10eff 10f46-10f50 10f82-10f85 "
    "11000-11046 11070-110ba 110c2-110c2 11100-11134 11145-11173 11180-111c0 111c9-111cc "
    "111ce-111cf 1122c-11237 1123e-11241 112df-11446 1145e-114c3 115af-115c0 115dc-11640 "
    "116ab-116b7 1171d-1172b 1182c-1183a 11930-11943 119d1-119e0 119e4-11a3e 11a47-11a99 "
    "11c2f-11c3f 11c92-11ef6 11f00-11f10 11f12-11f42 11f50-11f59 1342f-1342f 13440-13455 "
    "16af0-16af4 16b30-16b36 16f4f-16f92 16fe4-16ff1 1bc9d-1bc9e 1cf00-1cf46 1d165-1d169 "
    "1d16d-1d172 1d17b-1d182 1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1d2c0-1d2d3 1da00-1da36 "
    "1da3b-1da6c 1da75-1da75 1da84-1da84 1da9b-1e136 1e2ae-1e2ef 1df25-1df2a 1e4d0-1e4f9 "
    "1e8d0-1e94a e0100-e01ef"
)


def _mark_class() -> str:
    ranges = []
    for item in _MARK_RANGES.split():
        low, high = item.split("-")
        ranges.append(f"{chr(int(low, 16))}-{chr(int(high, 16))}")
    return "".join(ranges)


MARKS = _mark_class()
# Letters, digits and marks of every script, with the joiners that Indic and Persian words hold.
WORD = r"\w" + MARKS + "\u200c\u200d"


# Compiling a class of Han ranges takes a millisecond or more, so these wait until a text with
# such letters comes by.


@cache
def han_run() -> re.Pattern[str]:
    """Return the pattern of a run of Han characters."""
    return re.compile(f"[{HAN}]+")


@cache
def kana_run() -> re.Pattern[str]:
    """Return the pattern of a run of kana."""
    return re.compile(f"[{KANA}]+")


@cache
def run_without_spaces(han_is_japanese: bool) -> re.Pattern[str]:
    """Return the pattern of a run: group 1 Chinese, 2 Japanese, 3 Hangul, 4 others without spaces.

    Han characters are Chinese, unless they are Japanese as the kana are: then they make one run.
    """
    han, japanese = ("(?!)", HAN + KANA) if han_is_japanese else (f"[{HAN}]+", KANA)
    return re.compile(rf"({han})|([{japanese}]+)|([{HANGUL}]+)|([{SPACELESS}]+)")


@cache
def spaceless_cluster() -> re.Pattern[str]:
    """Return the pattern of a letter of a spaceless script with its marks."""
    # The stacking signs of Khmer and Burmese take the next consonant along.
    return re.compile(rf"[{SPACELESS}](?:[{_SPACELESS_MARKS}]|(?<=[\u17d2\u1039])[{SPACELESS}])*")
