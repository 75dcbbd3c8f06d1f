from __future__ import annotations

import pytest

from openclaw_cli.errors import InvalidTextError
from openclaw_cli.text.normalize import check_storable, fold, normalized_text, prepare


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
        ("café", "cafe\u0301"),
        ("ｶﾞ", "ガ"),
        ("don’t", "DON'T"),
        ("İstanbul", "istanbul"),
        ("ﬁle", "FILE"),
        ("Ⅳ", "iv"),
    ],
)
def test_spellings_of_one_word_fold_to_the_same(one, other):
    assert fold(one) == fold(other)


def test_folding_keeps_words_apart_that_differ_in_a_mark():
    assert fold("phở") != fold("pho")


def test_a_lone_surrogate_is_folded_to_the_replacement_character():
    assert fold("a\ud800b") == "a\ufffdb"


def test_normalized_text_ignores_width_and_white_space_but_not_case():
    assert normalized_text(" Ａ\u3000 b\n\tc ") == "A b c"
    assert normalized_text("a") != normalized_text("A")


def test_normalized_text_can_always_be_encoded():
    assert normalized_text("x\udfff").encode() == "x\ufffd".encode()


def test_preparing_drops_what_nobody_sees():
    assert prepare("so\u00adft\u200e ❤\ufe0f") == "soft ❤"


@pytest.mark.parametrize("text", ["x", "中", "a\nb", "\u200b", "👍🏽", "\ufffd"])
def test_ordinary_text_may_be_stored(text):
    check_storable(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" \n\u3000", "white space"),
        ("ab\0", "NUL character at character 3"),
        ("ab\ud83d", "U\\+D83D at character 3"),
    ],
)
def test_text_that_cannot_be_stored_is_refused_saying_what_and_where(text, said):
    with pytest.raises(InvalidTextError, match=said):
        check_storable(text)
