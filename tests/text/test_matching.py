"""What a query matches: the terms of a text decide, and no short cut may miss one."""

from __future__ import annotations

import re
import sys
from string import ascii_lowercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.text import needles
from openclaw_cli.text.analyze import LATIN_BUCKETS, document_terms, latin_bucket
from openclaw_cli.text.languages import profile
from openclaw_cli.text.matching import Query
from openclaw_cli.text.needles import Needles
from openclaw_cli.text.normalize import prepare
from openclaw_cli.text.scripts import HAN, HANGUL, KANA
from openclaw_cli.text.stems import stemmer, without_accents

_LINE = (
    "deploy deploying deployment deployed the a of userName user_name username USER-NAME nginx.conf"
    " /etc/nginx/nginx.conf U.S.A. usa Node.js nodejs C++ c# don't don’t l'homme homme O'Brien"
    " café CAFÉ cafe naïve straße STRASSE häuser haus Poesie aepfel äpfel die der dying die lie"
    " 1,234.56 1234.56 1.234,56 2026-03-01 v1.2.3 +44 20 7946 0958 02079460958 020-7946-0958"
    " 部署 服务器 部署服务器 北京 東京タワー 東京の高いタワー タワー 도쿄 서울에서 สวัสดีครับ ทำ"
    " Ｄｅｐｌｏｙ ﬁle file ａ：ｂ a:b foo…bar foobar 部\u200e署 ㎏ kg 👍 👍🏽 🇩🇪 Привет приветы"
    " ёлка елка مرحبا والكتاب كتاب ½ ² 12² x̄ e\u0301t\u0301 ſtraße K İstanbul possibility possible"
    " 7 17 1-7 1_7 1 2 ½no x²y 1'7 1’7 7,5 1,700 1，700 1700 v7 7b ７ ⑦ 第7件事 第17件事"
    " heureuse heureux chevaux cheval constamment frequência frequente estrés estres señor senor"
)
WORDS = _LINE.split(" ")

words = st.one_of(st.sampled_from(WORDS), st.text(max_size=6))
texts = st.lists(words, max_size=12).map(" ".join)
glued = st.lists(words, max_size=5).map("".join)


def slowly(query: Query, text: str) -> bool:
    """Tell whether a text matches by all of its terms."""
    return query.fulfilled(document_terms(text), latin_bucket(profile(text).language))


@given(st.one_of(texts, glued), st.one_of(texts, glued), st.booleans())
def test_no_short_cut_misses_or_adds_a_match(text, asked, looks):
    query = Query(asked)
    if looks:
        assert Needles(query).may_match(text) or not slowly(query, text)
    assert query.matches(prepare(text)) == slowly(query, text)


@given(st.lists(words, min_size=1, max_size=8), st.randoms())
def test_a_text_is_found_by_words_of_its_own(held, chance):
    text = " ".join(held)
    query = Query(chance.choice(held))
    if not query.is_empty and " " not in query.text:
        assert Needles(query).may_match(text) or not slowly(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("deploy", "We are deploying it"),
        ("deployment nginx", "nginx: the deployments"),
        ("部署", "先部署服务器"),
        ("部署 nginx", "用nginx部署服务"),
        ("userName", "the user_name field"),
        ("username", "userName"),
        ("user", "userName"),
        ("usa", "in the U.S.A. today"),
        ("nginx.conf", "see nginx conf"),
        ("c++", "written in C++."),
        ("cafe", "ein Café"),
        ("Café", "a cafe"),
        ("possible", "the possibility"),
        ("+44 20 7946 0958", "call 02079460958"),
        ("02079460958", "call +44 20 7946 0958 now"),
        ("1234.56", "it costs 1,234.56 dollars"),
        ("ＤＥＰＬＯＹ", "deploy"),
        ("deploy", "Ｄｅｐｌｏｙ"),
        ("the plan", "a plan"),
        ("the", "the"),
        ("東京", "東京の高いタワー"),
        ("서울", "서울에서"),
        ("привет", "Приветы всем"),
        ("l'homme", "un homme"),
        ("O'Brien", "Mr. O’Brien"),
    ],
)
def test_a_word_is_found_in_its_forms(query, text):
    asked = Query(query)
    assert slowly(asked, text)
    assert Needles(asked).may_match(text)
    assert asked.matches(prepare(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("deploy nginx", "deploy apache"),
        ("部署", "部门签署"),
        ("c++", "written in C"),
        ("data", "a date"),
        ("userName", "the user"),
        ("3.14", "314"),
    ],
)
def test_what_is_another_word_is_not_found(query, text):
    asked = Query(query)
    assert not slowly(asked, text)
    assert not asked.matches(prepare(text))


_ENDINGS = (
    "ing ingly ings ying ies ied iest ability ibilities ational ization ency ance ably aux eaux"
    " amment emment euse euses ayer oyer ayant aya oyas logie usion ución logía encia ência ução"
    " eira ogia uzione enza amente heit keit isch ungen lich ere oes aes ues ión ção é ées"
)
ENDINGS = _ENDINGS.split(" ")


@given(
    st.text(ascii_lowercase, min_size=1, max_size=4),
    st.sampled_from(ENDINGS),
    st.sampled_from(LATIN_BUCKETS),
)
def test_a_word_holds_the_beginning_of_its_stem(prefix, ending, bucket):
    word = prefix + ending
    for term in stemmer(bucket)(word):
        begin = needles._beginning(without_accents(term))
        forms = needles._german(begin) | {begin} if bucket == "de" else {begin}
        assert any(form.encode() in needles.plain_bytes(word) for form in forms), (word, term)


@pytest.mark.parametrize("text", ["17", "70", "第17件事", "1,7", "7.000.000", "3-77"])
def test_a_short_number_is_not_looked_for_within_longer_ones(text):
    assert not Needles(Query("7")).may_match(text) or slowly(Query("7"), text)


def test_the_end_of_a_very_long_number_is_still_looked_at():
    text = "1" * 128 + "7"
    assert slowly(Query("7"), text)
    assert Needles(Query("7")).may_match(text)


@pytest.mark.parametrize("text", ["", "  ", "...", "—", "\u200e"])
def test_a_query_without_words_is_empty(text):
    assert Query(text).is_empty


def test_every_character_that_means_a_letter_of_a_run_is_known_as_odd():
    run, odd = re.compile(f"[{HAN}{KANA}{HANGUL}]"), re.compile(needles._ODD_CHARACTERS)
    for char in map(chr, range(sys.maxunicode + 1)):
        plain = prepare(char)
        if plain != char and (not plain or run.search(plain)):
            assert odd.match(char), hex(ord(char))


def test_every_plain_character_that_means_a_digit_is_known():
    odd = needles._wide_patterns()[0]
    for char in map(chr, range(0x80, sys.maxunicode + 1)):
        if re.search(r"\d", prepare(char)) and not odd.match(char):
            assert needles._FRACTION.match(char), hex(ord(char))


def test_the_quick_bytes_of_every_character_are_those_of_the_full_way():
    for char in map(chr, range(0x80, sys.maxunicode + 1)):
        text = f"x{char}y"
        quick, full = needles.plain_bytes(text), needles.fully_plain(text)
        # What stands between two words is no matter: a needle is within one.
        gaps = [re.sub(rb"[^0-9a-z]+", b"|", data) for data in (quick, full)]
        assert gaps[0] == gaps[1], hex(ord(char))
