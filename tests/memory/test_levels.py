"""Which text of a record is a summary, and which is indexed."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.memory.levels import L0_TOKENS, indexed_text, joined, summary_of
from openclaw_cli.text.estimate import token_estimate

MOMENT = datetime(2026, 3, 1, 10, 30, tzinfo=UTC)


@given(text=st.text(min_size=1, max_size=2000).filter(str.strip))
def test_a_summary_is_a_short_beginning_of_the_text(text):
    summary = summary_of(text)
    assert summary
    assert text.strip().startswith(summary)
    assert token_estimate(summary) <= L0_TOKENS + 1 or len(summary) <= 100


@given(text=st.text(min_size=1, max_size=2000).filter(str.strip))
def test_the_whole_text_is_indexed_however_long_it_is(text):
    assert indexed_text(summary_of(text), text.strip()) == text.strip()


@given(older=st.text(max_size=300), newer=st.text(min_size=1, max_size=800).filter(str.strip))
def test_after_a_merge_the_newer_text_is_indexed_whole(older, newer):
    newer = newer.strip()
    full = joined("older: " + older, newer, MOMENT)
    assert indexed_text(summary_of(newer), full).endswith(newer)


def test_a_summary_of_its_own_stands_alone():
    assert indexed_text("User is vegan", "Long chat. User is vegan. More chat.") == "User is vegan"
