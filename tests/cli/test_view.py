"""Widths, wrapping, tables and the harmlessness of stored text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.cli.cells import display_width, shorten, wrap
from openclaw_cli.cli.view import View, clean, clean_line, local_time, short_id, size


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("plain", 5),
        ("中文", 4),
        ("ｆｕｌｌ", 8),
        ("한국어", 6),
        ("かな", 4),
        ("e\u0301", 1),
        ("é", 1),
        ("🙂", 2),
        ("👩\u200d🚀", 4),
        ("สวัสดี", 4),
        ("", 0),
    ],
)
def test_width_counts_terminal_cells(text, cells):
    assert display_width(text) == cells


def test_escapes_and_controls_are_shown_and_not_sent():
    assert clean("a\x1b[31mred\x07\x9b2J\x00") == r"a\x1b[31mred\x07\x9b2J\x00"
    assert clean("left\u202eright\u2066") == r"left\u202eright\u2066"
    assert clean("half \ud83d") == r"half \ud83d"
    assert clean("line\r\nline\r") == "line\nline\\x0d"


@pytest.mark.parametrize(
    "char",
    [
        "\u200e",
        "\u200f",
        "\u061c",
        "\xad",
        "\u200b",
        "\u2060",
        "\u2064",
        "\ufeff",
        "\u180e",
        "\ufff9",
    ],
)
def test_signs_that_are_not_seen_are_shown(char):
    spelt = f"\\x{ord(char):02x}" if char < "\u0100" else f"\\u{ord(char):04x}"
    assert clean(f"a{char}b") == clean_line(f"a{char}b") == f"a{spelt}b"


def test_every_format_character_without_a_shape_is_shown():
    shaped = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2}
    shaped |= {0x110BD, 0x110CD}
    hidden = [c for c in range(0x110000) if unicodedata.category(chr(c)) == "Cf"]
    passed = {c for c in hidden if clean(f"a{chr(c)}b") == f"a{chr(c)}b"}
    assert passed == shaped
    assert all(clean(f"x{chr(c)}") == f"x\\U{c:08x}" for c in range(0xE0000, 0xE0080))


def test_joiners_stay_where_they_join_and_nowhere_else():
    for text in ("می\u200cخواهم", "क्\u200dष", "👩\u200d🚀", "🏳\ufe0f\u200d🌈", "ක්\u200dර"):
        assert clean(text) == text
    assert clean("pass\u200dword\u200c") == r"pass\u200dword\u200c"
    assert clean("用\u200d户") == r"用\u200d户"
    assert clean("👩\u200d\u200d🚀") == "👩\u200d\\u200d🚀"


def test_ordinary_text_stays_as_it_is():
    text = "tab\tnew\nline, 中文, e\u0301, 👩\u200d🚀, مرحبا"
    assert clean(text) == text


@given(st.text())
def test_cleaned_text_drives_no_terminal(text):
    assert not set(clean(text)) & {chr(c) for c in (*range(9), *range(11, 32), *range(127, 160))}
    assert "\n" not in clean_line(text)


@given(st.text(max_size=80), st.integers(4, 30))
def test_wrapping_keeps_every_character_and_the_width(text, width):
    text = clean(text).expandtabs(4)
    lines = list(wrap(text, width))
    assert all(display_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_chinese_text_breaks_anywhere_and_english_at_blanks():
    assert list(wrap("用户偏好 TypeScript", 10)) == ["用户偏好", "TypeScript"]
    assert list(wrap("用户喜欢喝咖啡", 8)) == ["用户喜欢", "喝咖啡"]
    assert list(wrap("one two three", 8)) == ["one two", "three"]
    assert list(wrap("unbreakable", 5)) == ["unbre", "akabl", "e"]


@given(st.text(max_size=40), st.integers(1, 20))
def test_shortened_text_fits(text, width):
    assert display_width(shorten(text, width)) <= max(width, 1)


def test_a_table_stays_aligned_with_wide_characters():
    lines = list(View().table(("A", "B", "C"), [("中文", "x", "1"), ("ab", "yy", "two\nlines")]))
    assert lines == ["A     B   C", "中文  x   1", "ab    yy  two lines"]


def test_on_a_terminal_the_last_column_of_a_table_is_cut():
    lines = list(View(width=20).table(("ID", "TEXT"), [("x", "中文" * 20)]))
    assert lines[1].endswith("…")
    assert display_width(lines[1]) <= 20


ROWS = [("fe61333d", "2026-11-30", "preference", "张三李四王五", "用户偏好 TypeScript")]


@pytest.mark.parametrize("width", range(30, 90))
def test_a_table_fits_any_terminal(width):
    lines = list(View(width=width).table(("ID", "CREATED", "CATEGORY", "OWNER", "TEXT"), ROWS))
    assert all(display_width(line) <= width for line in lines)


def test_where_it_is_narrow_the_last_column_goes_below_and_the_others_stay_aligned():
    view = View(width=40)
    rows = [*ROWS, ("a576f524", "2026-11-30", "event", "user", "lives in Berlin")]
    assert list(view.table(("ID", "CREATED", "CATEGORY", "OWNER", "TEXT"), rows)) == [
        "ID        CREATED     CATEGORY    OWNER",
        "  TEXT",
        "fe61333d  2026-11-30  preference  张三…",
        "  用户偏好 TypeScript",
        "a576f524  2026-11-30  event       user",
        "  lives in Berlin",
    ]
    rows = [("x", "张三李四王五张三李四", "1", "z" * 20), ("y", "abc", "2", "z")]
    lines = list(View(width=20).table(("A", "NAME", "N", "TEXT"), rows))
    assert lines[2] == "x  张三李四王五…   1"
    assert lines[4] == "y  abc             2"


def test_pairs_are_wrapped_beside_their_names():
    lines = list(View(width=24).pairs([("name", "a value of several words"), ("n", "")]))
    assert lines == ["name  a value of several", "      words"]
    assert list(View().pairs([("name", "v" * 200)])) == ["name  " + "v" * 200]


def test_words_go_on_as_few_lines_as_fit():
    words = [
        (" 1", "bold"),
        ("0.812", ""),
        ("preference", ""),
        ("2026-11-30", ""),
        ("fe61333d", ""),
    ]
    assert list(View().words(words)) == [" 1  0.812  preference  2026-11-30  fe61333d"]
    assert list(View(width=40).words(words)) == [
        " 1  0.812  preference  2026-11-30",
        "    fe61333d",
    ]


def test_elsewhere_a_table_is_complete():
    assert list(View().table(("ID", "TEXT"), [("x", "y" * 500)]))[1] == "x   " + "y" * 500


def test_colours_only_when_wanted():
    assert View().style("x", "bold") == "x"
    assert View(color=True).style("x", "bold") == "\x1b[1mx\x1b[0m"


def test_a_short_id_is_the_last_eight_characters():
    assert short_id("mem-01920000-aaaa-7bbb-8ccc-ddddeeeeffff") == "eeeeffff"
    assert short_id("mem-001") == "mem-001"


def test_times_are_shown_in_local_time(monkeypatch):
    assert local_time("2026-02-20T22:30:00Z") == "2026-02-20 22:30"
    assert local_time("2026-02-20T22:30:00Z", date_only=True) == "2026-02-20"
    assert local_time("not a time\x1b") == "not a time\\x1b"
    assert local_time(None) == ""


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (1 << 50, "1024.0 TiB")]
)
def test_sizes_are_shown_in_binary_units(count, shown):
    assert size(count) == shown
