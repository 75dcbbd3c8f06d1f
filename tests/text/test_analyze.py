from __future__ import annotations

import subprocess
import sys

import pytest

from openclaw_cli.text.analyze import BUCKETS, document_terms, query_terms
from openclaw_cli.text.stems import without_accents


def found(query, text, language=None):
    document = document_terms(text, language)
    return any(
        term in document[bucket]
        for bucket, terms in query_terms(query, set(document)).items()
        for term in terms
    )


def test_a_text_feeds_a_bucket_for_each_of_its_scripts():
    terms = document_terms("用户偏好 TypeScript 和 Go 语言 3 年")
    assert terms["zh"]["偏好"] == 1
    assert terms["zh"]["3"] == 1
    assert terms["en"]["typescript"] == 1


def test_terms_are_counted():
    assert document_terms("tea, Tea and TEAS", "en") == {"en": {"tea": 3, "and": 1}}


def test_latin_words_go_to_the_language_of_the_text():
    assert set(document_terms("Le gusta el café por la mañana")) == {"es"}
    assert set(document_terms("The dog and the cats")) == {"en"}
    assert set(document_terms("De gebruiker houdt van koffie en woont in Utrecht")) == {"und"}


def test_a_given_language_is_believed():
    assert set(document_terms("die hard", "de")) == {"de"}
    assert set(document_terms("東京", "ja")) == {"ja"}
    assert set(document_terms("東京", "zh")) == {"zh"}
    assert set(document_terms("phở", "vi")) == {"und"}


def test_a_query_asks_each_bucket_with_the_stems_of_its_language():
    terms = query_terms("running", BUCKETS)
    assert terms["en"] == ["run"]
    assert terms["und"] == ["running"]
    assert "zh" not in terms


def test_a_query_asks_only_the_buckets_there_are():
    assert set(query_terms("用户 user пользователь 5", ["zh", "ru"])) == {"zh", "ru"}


def test_numbers_and_emoji_of_a_query_are_looked_up_everywhere():
    assert {
        b for b, terms in query_terms("42 😀", BUCKETS).items() if terms == ["42", "😀"]
    } == set(BUCKETS)


def test_a_query_term_comes_once():
    assert query_terms("tea tea Teas 茶茶茶", ["en", "zh"]) == {"en": ["tea"], "zh": ["茶", "茶茶"]}


def test_stop_words_are_dropped_from_a_query():
    assert query_terms("Where is the tea?", ["en"]) == {"en": ["tea"]}
    assert query_terms("¿Dónde está el café?", ["es"])["es"] == query_terms("café", ["es"])["es"]


def test_a_query_of_stop_words_alone_keeps_them():
    assert query_terms("to be or not to be", ["en"])["en"] == ["to", "be", "or", "not"]


def test_stop_words_beside_words_of_another_script_are_dropped():
    assert query_terms("the 茶", ["en", "zh"]) == {"zh": ["茶"]}


def test_stop_words_are_indexed():
    assert document_terms("the tea", "en")["en"].keys() == {"the", "tea"}


@pytest.mark.parametrize("query", ["涵", "王", "子涵", "王子涵", "海上 住在", "同事王子涵住"])
def test_chinese_is_found_by_one_character_by_two_and_in_another_order(query):
    assert found(query, "我的同事王子涵住在上海")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("TYPESCRIPT", "prefers typescript"),
        ("ｔｙｐｅｓｃｒｉｐｔ", "prefers TypeScript"),
        ("cafe\u0301", "un café"),
        ("Jose", "her friend José"),
        ("José", "her friend Jose"),
        ("television", "il regarde la télévision chez ses amis"),
        ("ガンダム", "ｶﾞﾝﾀﾞﾑが好きです"),
        ("한국어", "그는 한국어를 공부한다"),
        ("หนังสือ", "เขาชอบอ่านหนังสือมาก"),
        ("हिन्दी", "मुझे हिन्दी पसंद है"),
        ("שלום", "אמרתי שלום לכולם"),
        ("ΚΑΦΈΣ", "μου αρέσει ο καφές"),
        ("phở", "Tôi thích phở bò"),
        ("ещё", "он хочет еще чаю"),
        ("كتاب", "قرأ الـكِتَاب أمس"),
        ("می‌خواهم", "من چای میخواهم"),
        ("ISTANBUL", "lives in İstanbul"),
        ("東京", "東京に住んでいます"),
        ("東京", "他去过东京（東京）"),
        ("となりのトトロ", "我喜欢动画《となりのトトロ》，看过很多很多很多很多很多遍"),
    ],
)
def test_a_word_is_found_in_the_forms_it_is_written_in(query, text):
    assert found(query, text)


@pytest.mark.parametrize(
    ("language", "text", "typed"),
    [
        ("en", "a concert of Björk", "Bjork"),
        ("en", "moved to Łódź", "lodz"),
        ("und", "Antonín Dvořák", "dvorak"),
        ("und", "bor i Malmö", "malmo"),
        ("und", "mieszka w Łodzi", "lodzi"),
        ("und", "spiser smørrebrød", "smorrebrod"),
        ("und", "İstanbul'da yaşıyor", "yasiyor"),
        ("vi", "Nguyễn Văn An", "nguyen"),
        ("vi", "sống ở Đà Nẵng", "Da Nang"),
        ("es", "apellido Núñez", "nunez"),
        ("es", "un café", "cafe"),
        ("es", "dos cafés", "cafes"),
        ("pt", "compra pão", "pao"),
        ("pt", "come maçã", "maca"),
        ("pt", "mais informações", "informacoes"),
        ("pt", "mais informações", "informacao"),
        ("fr", "un œuf dur", "oeuf"),
        ("fr", "déjà vu", "deja"),
        ("fr", "des voitures télévisées", "televisees"),
        ("de", "die Straße", "strasse"),
        ("de", "Herr Müller", "muller"),
        ("it", "la città", "citta"),
        ("el", "Αθήνα", "ΑΘΗΝΑ"),
        ("el", "Αθήνα", "αθηνα"),
        ("ru", "за\u0301мок на горе", "замок"),
        ("he", "שָׁלוֹם", "שלום"),
        ("ar", "أحب الكرة", "كرة"),
        ("ar", "کتاب", "كتاب"),
    ],
)  # fmt: skip
def test_accents_may_be_left_out_and_put_in(language, text, typed):
    assert found(typed, text, language)
    assert found(typed.upper(), text, language)
    for word in text.split():
        assert found(word, typed if len(text.split()) == 1 else text, language)


@pytest.mark.parametrize(
    ("accented", "language"), [("cafés", "es"), ("informações", "pt"), ("Łódź", "und")]
)
def test_an_accented_query_finds_text_typed_without(accented, language):
    assert found(accented, without_accents(accented.lower()), language)


def test_unaccented_function_words_are_dropped_and_tea_is_not():
    assert query_terms("nao tambem cha", ["pt"]) == {"pt": ["cha"]}
    assert query_terms("té", ["es"]) == {"es": ["te"]}


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("कि", "की", "hi"),
        ("ไม้", "ไม", "th"),
        ("かき", "がぎ", "ja"),
        ("йод", "иод", "ru"),
        ("їжа", "іжа", "ru"),
        ("ѓ", "г", "ru"),
    ],
)
def test_marks_that_carry_the_word_stay(one, other, language):
    assert document_terms(one, language) != document_terms(other, language)


def test_a_marked_vietnamese_query_matches_the_marked_word_best():
    def shared(query, text):
        document = document_terms(text, "vi")["und"]
        return set(query_terms(query, ["und"])["und"]) & set(document)

    assert shared("má", "má") > shared("má", "mả")
    assert shared("ma", "mả") == shared("ma", "má") == {"ma"}


def test_english_prose_has_no_more_terms_than_words():
    assert len(document_terms("Zoë likes the well known café in Kraków", "en")["en"]) == 8


def test_the_same_text_gives_the_same_terms_in_every_composition():
    composed, decomposed = (
        "Größe déjà ガ 각",
        "Gro\u0308ße de\u0301ja\u0300 カ\u3099 \u1100\u1161\u11a8",
    )
    assert document_terms(composed, "de") == document_terms(decomposed, "de")


def test_nothing_to_look_up_is_an_empty_answer():
    assert query_terms("", BUCKETS) == {}
    assert query_terms("?! ... --", BUCKETS) == {}
    assert document_terms("?! ... --") == {}


def test_analysing_english_loads_neither_numbers_nor_models():
    code = (
        "import sys; from openclaw_cli.text.analyze import document_terms;"
        "document_terms('the user likes tea');"
        "print([m for m in ('numpy', 'onnxruntime', 'tokenizers', 'typer') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("text", "bucket"),
    [
        ("\U00011f12\U00011f34\U00011f13", "und"),  # Kawi, with a vowel sign
        ("\U0001e4d0\U0001e4d1\U0001e4d5", "und"),  # Nag Mundari
        ("\U00031350", "zh"),
        ("\U0002ebf0", "zh"),
    ],
)
def test_letters_that_an_older_python_does_not_know_are_the_same_term_there(text, bucket):
    # A store that was indexed with Python 3.11 is searched with a later one.
    assert document_terms(text) == {bucket: {text: 1}}
    assert query_terms(text, BUCKETS)[bucket] == [text]
