from __future__ import annotations

import pytest

from openclaw_cli.text.estimate import longest_prefix, token_estimate
from openclaw_cli.text.sentences import first_sentences

ENGLISH = (
    "Pi is 3.14, e.g. for circles. Dr. Smith said so! Then he left for example.com and came back. "
    "The end of it all is near and nobody knows."
)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (8, "Pi is 3.14, e.g. for circles."),
        (10, "Pi is 3.14, e.g. for circles."),
        (12, "Pi is 3.14, e.g. for circles. Dr. Smith said so!"),
        (19, "Pi is 3.14, e.g. for circles. Dr. Smith said so!"),
        (22, ENGLISH[:92]),
        (99, ENGLISH),
    ],
)
def test_english_is_cut_after_the_last_whole_sentence(limit, expected):
    assert first_sentences(ENGLISH, limit) == expected


def test_chinese_is_cut_after_the_last_whole_sentence_with_its_closing_quotes():
    text = "用户喜欢咖啡。他住在北京！“真的吗？”她问，然后就走了没有再说什么别的话了"
    assert first_sentences(text, 6) == "用户喜欢咖啡。"
    assert first_sentences(text, 16) == "用户喜欢咖啡。他住在北京！“真的吗？”"


def test_a_line_end_is_a_sentence_end():
    assert first_sentences("title without a point\nand a long body that goes on", 8) == (
        "title without a point"
    )


def test_without_a_sentence_end_a_phrase_is_cut_and_else_a_word():
    assert first_sentences("one two three four, five six seven eight nine", 7) == (
        "one two three four,"
    )
    assert first_sentences("one two three four five six", 4) == "one two three four"


def test_without_any_boundary_the_cut_is_hard():
    assert first_sentences("中" * 100, 10) == "中" * 13


@pytest.mark.parametrize(
    "character", ["👨‍👩‍👧", "🇩🇪", "👍🏽", "e\u0301", "ก็", "क्षि", "\u1100\u1161\u11a8", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"]
)
@pytest.mark.parametrize("limit", range(8))
def test_a_character_as_people_see_it_is_never_cut(character, limit):
    prefix = first_sentences(character * 10, limit)
    assert prefix
    assert len(prefix) % len(character) == 0


def test_white_space_around_is_left_out_and_a_short_text_comes_back_whole():
    assert first_sentences("  short text \n", 100) == "short text"
    assert first_sentences("", 10) == ""


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("", 0, 0), ("x", 1, 1), ("word " * 100, 100, 130), ("用户喜欢咖啡" * 10, 40, 50)],
)
def test_tokens_are_estimated_by_script(text, low, high):
    assert low <= token_estimate(text) <= high


@pytest.mark.parametrize("text", ["a" * 50, "中a한か ا😀" * 9, "é" * 40])
@pytest.mark.parametrize("limit", [0, 1, 5, 17, 1000])
def test_the_longest_prefix_keeps_to_the_limit(text, limit):
    size = longest_prefix(text, limit)
    assert token_estimate(text[:size]) <= max(limit, 1)
    if size < len(text):
        assert token_estimate(text[: size + 1]) >= limit
