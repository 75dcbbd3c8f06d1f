"""Record files: what is one, what is not and why, and nothing unknown is dropped."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.store.records import completed, encode_record, parse_record, record_of

GOOD = {
    "version": "2.0",
    "id": "mem-1",
    "scope": "user",
    "category": "event",
    "content": {"l0": "text", "l1": "", "l2": "text"},
    "createdAt": "2026-02-20T10:00:00Z",
}


def parsed(**changes):
    return parse_record(orjson.dumps({**GOOD, **changes}), "user", "mem-1")


def test_unknown_fields_are_kept_at_every_depth():
    record = parsed(mood="glad", content={"l0": "text", "l9": 9}, fsrs={"stability": 3, "x": 1})
    again = orjson.loads(encode_record(record.document))
    assert again["mood"] == "glad"
    assert again["content"]["l9"] == 9
    assert again["fsrs"]["x"] == 1


def test_an_older_record_with_a_plain_text_is_readable():
    record = parse_record(b'{"id":"mem-001","content":"likes tea"}', "user", "mem-001")
    assert (record.l0, record.l2, record.scope, record.category) == (
        "likes tea", "likes tea", "user", "event",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"id": "mem-2"}, "named mem-1 but holds record 'mem-2'"),
        ({"id": "../mem-1"}, "not a valid record id"),
        ({"id": None}, "id is not a text"),
        ({"scope": "agent"}, "scope 'agent' does not fit"),
        ({"content": {}}, "content.l0 is empty"),
        ({"content": None}, "content is missing"),
        ({"content": {"l0": 5}}, "l0 is not a text"),
        ({"tags": "a"}, "tags is not a list"),
        ({"tags": [1]}, "tags is not a list"),
        ({"createdAt": "yesterday"}, "createdAt 'yesterday' is not an ISO-8601 time"),
        ({"updatedAt": 7}, "updatedAt is not a text"),
        ({"fsrs": []}, "fsrs is not an object"),
        ({"fsrs": {"stability": 0}}, "not above 0"),
        ({"fsrs": {"stability": -1e308}}, "not above 0"),
        ({"fsrs": {"stability": "x"}}, "not a number"),
        ({"fsrs": {"stability": True}}, "not a number"),
        ({"userId": 12}, "userId is not a text"),
        ({"history": 5}, "history is not a list"),
        ({"history": ["x"]}, "history is not a list"),
    ],
)
def test_a_wrong_field_is_named(changes, reason):
    with pytest.raises(ValueError, match=reason):
        parsed(**changes)


def test_a_byte_order_mark_is_no_damage():
    data = b"\xef\xbb\xbf" + orjson.dumps(GOOD)
    assert parse_record(data, "user", "mem-1").l0 == "text"


def test_a_record_written_by_hand_is_completed_for_readers():
    record = record_of({"id": "hand1", "content": "made by hand", "category": None})
    document = completed(record)
    assert document["content"] == {"l0": "made by hand", "l1": "", "l2": "made by hand"}
    assert (document["category"], document["scope"], document["tags"]) == ("event", "user", [])


@pytest.mark.parametrize("data", [b"", b"\0" * 40, b"{", b"[]", b"null", b'"x"', b"[" * 5000])
def test_what_is_no_record_has_a_reason(data):
    with pytest.raises(ValueError, match=r"."):
        parse_record(data, "user", "mem-1")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(field=st.sampled_from([*GOOD, "fsrs", "tags", "userId", "updatedAt"]), value=json_values)
def test_any_value_in_any_field_gives_a_record_or_a_reason(field, value):
    try:
        record = record_of({**GOOD, field: value})
    except ValueError:
        return
    assert record.l0.strip()
