from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest

from openclaw_cli.text import latin, scripts
from openclaw_cli.text.languages import LATIN_LANGUAGES, profile
from tests.text.notes import NOTES


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "用户偏好 TypeScript，不喜欢 Java"),
        ("zh", "今天是６月１８号，也是Muiriel的生日！"),
        ("ja", "彼は手紙を書く。"),
        ("ja", "コーヒー"),
        ("ko", "나는 그의 모자가 싫다."),
        ("ru", "Я использовал Paint Shop Pro на Windows."),
        ("ar", "كان سامي يربح الكثير من المال."),
        ("th", "สวัสดีครับ"),
        ("hi", "मुझे चाय पसंद है"),
        ("he", "אני גר בתל אביב"),
        ("el", "Μου αρέσει ο καφές"),
        ("en", "The user prefers dark mode and lives in Berlin."),
        ("en", "Phở is the favourite dish of Nguyễn Văn An"),
        ("en", "User's wife is Zoë Müller-Lüdenscheidt"),
        ("en", "Works with Dvořák and Szymański at Société Générale"),
        ("es", "¿Cuántos puntos dejaron escapar en defensa los Panthers?"),
        ("es", "Prefiere modo oscuro"),
        ("pt", "Meu nome é João e gosto de café"),
        ("fr", "J'aime le vin rouge"),
        ("de", "Ich heiße Anna und wohne in Köln"),
        ("it", "Preferisce il tema scuro"),
        ("vi", "Người dùng thích cà phê"),
        ("und", "De gebruiker houdt van koffie en woont in Utrecht"),
        ("und", "Użytkownik lubi kawę i mieszka w Warszawie"),
        ("und", "Kullanıcı kahve içmeyi çok sever"),
        ("und", "12:30 !!! 😀"),
        ("und", ""),
    ],
)
def test_the_language_of_a_text(language, text):
    assert profile(text).language == language


@pytest.mark.parametrize("text", ["TypeScript", "Tokyo", "API v2", "xyzzy"])
def test_short_latin_text_that_could_be_anything_is_english_and_not_certain(text):
    found = profile(text)
    assert (found.language, found.confident) == ("en", False)


@pytest.mark.parametrize("note", NOTES["en"])
def test_a_short_english_note_is_english(note):
    assert profile(note).language == "en"


@pytest.mark.parametrize("language", ["es", "pt", "fr", "de", "it"])
def test_a_short_note_of_another_language_is_never_certainly_english(language):
    found = [profile(note) for note in NOTES[language]]
    assert [
        note
        for note, answer in zip(NOTES[language], found, strict=True)
        if answer.language == "en" and answer.confident
    ] == []
    certain = [answer for answer in found if answer.language != "en" and answer.confident]
    assert len(certain) >= 0.6 * len(found)


@pytest.mark.parametrize(
    "text",
    [
        "Meeting with João and Zoë",
        "Lives on Calle de la Luz",
        "Visited El Prado",
        "Favorite dish: crème brûlée",
        "jalapeño poppers",
        "São Paulo office",
        "die hard fan",
        "no comment",
    ],
)
def test_names_and_loans_leave_a_note_english(text):
    assert profile(text).language == "en"


def test_a_guess_with_letters_that_english_lacks_is_not_english():
    found = profile("señalización")
    assert found.language == "es"


@pytest.mark.parametrize("text", ["¿Té?", "vive en Málaga con su hermana", "kommt aus Köln"])
def test_a_function_word_or_a_foreign_sign_is_proof(text):
    assert profile(text).language != "en"


def test_a_shouted_sentence_is_told_apart():
    assert profile("EL USUARIO PREFIERE EL MODO OSCURO").language == "es"
    assert profile("THE USER PREFERS DARK MODE").language == "en"


def test_a_whole_sentence_is_certain():
    assert profile("The user likes to drink tea in the morning.").confident
    assert profile("Le gusta tomar el café por la mañana.").confident


def test_shares_are_shares_of_the_letters():
    found = profile("用户偏好 abcd 1234 !!")
    assert (found.han_share, found.latin_share) == (0.5, 0.5)


def test_a_single_foreign_name_does_not_make_a_text_chinese():
    found = profile("He wrote 北 on the whiteboard of the large meeting room yesterday")
    assert found.language == "en"
    assert 0 < found.han_share < 0.1


def test_a_few_kana_in_chinese_text_leave_it_chinese():
    assert (
        profile("我最喜欢的动画电影是宫崎骏导演的作品《となり》，已经看了好多遍了").language == "zh"
    )


def test_full_width_latin_is_latin():
    assert profile("ｔｈｅ ｕｓｅｒ ａｎｄ ｔｈｅ ｃａｔ").language == "en"


def test_identifiers_and_addresses_say_nothing_about_the_language():
    text = "https://el.example.es/los/datos/de/la/casa me@correo.es"
    assert profile(text).language == "en"
    assert not profile(text).confident


def test_a_profile_cannot_be_changed():
    with pytest.raises(AttributeError):
        profile("x").language = "de"  # type: ignore[misc]


# The table was made from these versions, those of Python 3.11 to 3.13; a newer one knows characters
# that are not in it yet.
_TABLE = unicodedata.unidata_version in ("14.0.0", "15.0.0", "15.1.0")


@pytest.mark.skipif(not _TABLE, reason="this Python has a newer version of Unicode")
def test_every_combining_mark_and_no_sign_is_part_of_a_word():
    word = re.compile(f"[{scripts.WORD}]")
    wrong = [
        f"{code:04X}"
        for code in (*range(0x300, 0xD800), *range(0xF900, 0x20000), *range(0xE0100, 0xE01F0))
        if (word.match(chr(code)) is not None) != (unicodedata.category(chr(code))[0] in "LNM")
        and unicodedata.category(chr(code)) not in ("Cn", "Cf")
    ]
    assert wrong == []


def test_the_letter_table_is_small_and_whole():
    table = latin._table()
    assert len(table) > 2000
    assert {len(row) for row in table.values()} == {len(latin.ORDER)}
    assert latin.ORDER == LATIN_LANGUAGES
    data = Path(latin.__file__).with_name("data")
    assert (data / "latin_ngrams.json").stat().st_size < 60_000
    assert "CC BY 2.0 FR" in (data / "NOTICE").read_text("utf-8")
