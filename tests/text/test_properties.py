"""What holds for any string whatever: nothing raises, and every word finds its text."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import example, given, settings
from hypothesis import strategies as st

from openclaw_cli.errors import InvalidTextError
from openclaw_cli.text.analyze import BUCKETS, document_terms, query_terms
from openclaw_cli.text.estimate import token_estimate
from openclaw_cli.text.languages import profile
from openclaw_cli.text.normalize import check_storable, fold, normalized_text
from openclaw_cli.text.scripts import MARKS
from openclaw_cli.text.sentences import first_sentences

ANY = st.text(st.characters(exclude_categories=()), max_size=60)
ALPHABETS = st.sampled_from(
    [
        "abcXYZ019 ._-'/@:+#%,$",
        "äÖßéñçğIİıŁøœ '-",
        "用户偏好上海王子涵々，。 aB1",
        "あいうカタカナー食 ",
        "한국어를ㅋ a",
        "کتابعربی\u064b\u0651\u200cـ ٣٤",
        "ไทยกิ้ำเ ลาວ ខ្មែរ မြန်မာ",
        "हिन्दीक्षकழ் שָׁלוֹם ",
        "Приветёй\u0301 λόγος ",
        "👩‍💻👍🏽🇩🇪❤️😀€→ ab1",
        "\u200d\u200c\u00ad\u2066\u202e\ufeff\ud800\x00\x1f ab",
    ]
)
WRITTEN = ALPHABETS.flatmap(lambda alphabet: st.text(alphabet, max_size=40))
SETTINGS = settings(max_examples=300, deadline=None)


@SETTINGS
@given(ANY | WRITTEN, st.sampled_from([None, "vi", "nonsense", *BUCKETS]))
def test_no_text_raises(text, language):
    document = document_terms(text, language)
    query_terms(text, BUCKETS)
    profile(text)
    normalized_text(text).encode()
    assert all(count > 0 for terms in document.values() for count in terms.values())
    assert set(document) <= set(BUCKETS)
    assert all(term and not term.isspace() for terms in document.values() for term in terms)
    assert token_estimate(text) >= (1 if text else 0)
    try:
        check_storable(text)
    except InvalidTextError:
        return
    assert text.encode()


@SETTINGS
@given(ANY | WRITTEN)
@example("\u0345\u1fb3")
@example("I\u0307\u0323")
@example("ŉ")
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


@SETTINGS
@given(ANY | WRITTEN)
def test_a_text_is_found_by_itself_and_by_each_of_its_words(text):
    document = document_terms(text)
    for query in [text, *text.split()]:
        if not document_terms(query):
            continue
        wanted = query_terms(query, set(document))
        assert any(term in document[bucket] for bucket, terms in wanted.items() for term in terms)


@SETTINGS
@given(WRITTEN)
def test_a_text_is_found_by_each_run_of_its_letters(text):
    document = document_terms(text)
    visible = "".join([c for c in text if unicodedata.category(c) != "Cf"])
    # A letter that stands alone behind an apostrophe (user's) belongs to the word before it.
    for run in re.findall(rf"(?:[^\W_]|[{MARKS}])+(?:'(?:[^\W_]|[{MARKS}])+)*", visible):
        if not any(map(str.isalnum, run)):
            continue
        wanted = query_terms(run, set(document))
        assert any(term in document[bucket] for bucket, terms in wanted.items() for term in terms)


@SETTINGS
@given(WRITTEN)
def test_composition_changes_no_term(text):
    expected = document_terms(text, "de")
    assert document_terms(unicodedata.normalize("NFC", text), "de") == expected
    assert document_terms(unicodedata.normalize("NFD", text), "de") == expected


@SETTINGS
@given(st.text("abcXYZ019._-/@:+#%,$ '", max_size=40))
def test_full_width_changes_no_term(text):
    wide = "".join([chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text])
    assert document_terms(wide, "en") == document_terms(text, "en")


@SETTINGS
@given(ANY | WRITTEN, st.integers(0, 30))
def test_the_first_sentences_are_a_prefix_and_never_empty(text, limit):
    prefix = first_sentences(text, limit)
    stripped = text.strip()
    assert stripped.startswith(prefix)
    assert prefix == prefix.rstrip()
    assert bool(prefix) == bool(stripped)
