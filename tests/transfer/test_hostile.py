"""Files that want to do harm: each line has an end, a reason, and no effect elsewhere."""

from __future__ import annotations

import json

import pytest

from tests.support import Memory


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "..", ".", "", " ", ".hidden", "a\0b",
        "a\nb", "x" * 129, "ａ", "-rf", "con/../x", "a b", "\u202ea", 7, [], {}, True,
    ],
)  # fmt: skip
def test_an_id_never_leads_elsewhere(memory, name):
    data = memory.imported([{"id": name, "text": "harm"}, {"id": "fine", "text": "fine"}]).data
    assert ([item["line"] for item in data["failed"]], data["added"]) == ([1], 1)
    files = [path for path in memory.state.parent.rglob("*.json") if path.is_file()]
    assert {path.name for path in files} - {"config.json"} == {"fine.json"}


def test_a_field_of_ten_megabytes_is_kept(memory):
    big = "大" * (10 << 20 >> 2)
    memory.imported([{"id": "big", "text": "small", "l2": "small " + big, "blob": big}])
    assert memory.document("big")["blob"] == big
    assert memory.found("small") == ["small"]


@pytest.mark.parametrize("form", ["line", "document"])
@pytest.mark.parametrize("depth", [300, 1000, 100_000])
def test_deep_nesting_fails_alone(memory, depth, form):
    deep = b'{"id":"deep","text":"x","n":' + b"[" * depth + b"]" * depth + b"}"
    rows = [b'{"id":"a","text":"one"}', deep, b'{"id":"b","text":"two"}']
    data = rows if form == "line" else [b'{"records":[' + b",".join(rows) + b"]}"]
    found = memory.imported(data).data
    assert ([item["line"] for item in found["failed"]], found["added"]) == ([2], 2)


@pytest.mark.parametrize(
    "value",
    ["NaN", "Infinity", "-Infinity", "1e999", "123456789012345678901234567890", "01", "+1", ".5"],
)
def test_what_is_no_number_of_json_fails_alone(memory, value):
    line = b'{"id":"a","text":"x","n":%s}' % value.encode()
    data = memory.imported([{"id": "z", "text": "first"}, line]).data
    assert ([item["line"] for item in data["failed"]], data["added"]) == ([2], 1)


def test_of_a_name_that_stands_twice_the_last_value_counts(memory):
    memory.imported([b'{"id":"x","id":"a","text":"one","text":"two"}'])
    assert memory.document("a")["content"]["l0"] == "two"


def test_a_surrogate_half_and_a_nul_fail_alone(memory):
    lines = [b'{"text":"\\ud83d"}', b'{"text":"a\\u0000b"}', '{"text":"🙂"}'.encode()]
    data = memory.imported(lines).data
    assert ([item["line"] for item in data["failed"]], memory.listed()) == ([1, 2], ["🙂"])


def test_a_record_of_another_agent_becomes_one_of_this(memory, tmp_path):
    other = Memory(tmp_path / "other", "assistant")
    other.add("Likes tea", id="tea")
    memory.imported([other.document("tea")])
    assert memory.document("tea") == {**other.document("tea"), "agentId": "main"}


def test_times_without_a_zone_are_utc_and_counted(memory):
    line = {"id": "a", "content": {"l0": "x"}, "createdAt": "2025-01-01T10:00:00",
            "updatedAt": "2025-01-02 10:00"}  # fmt: skip
    result = memory.imported([line])
    stored = memory.document("a")
    assert stored["createdAt"] == "2025-01-01T10:00:00Z"
    assert stored["updatedAt"] == "2025-01-02T10:00:00Z"
    assert result.warnings[0].message.startswith("2 times had no zone")


def test_a_failed_line_is_named_by_its_number_in_the_file(memory):
    text = b'\n\n{"text":"one"}\n\n{"text":\n{"text":"two"}\n'
    data = memory.imported([text]).data
    assert [item["line"] for item in data["failed"]] == [5]
    assert data["added"] == 2


def test_an_empty_file_is_told(memory):
    result = memory.imported([b""])
    assert [warning.code for warning in result.warnings] == ["empty-source"]
    assert json.dumps(result.document())
