"""Records that were written by hand, with little in them, are shown like any other."""

from __future__ import annotations

import pytest

from openclaw_cli.cli.commands import memory_add, memory_get
from openclaw_cli.cli.view import View


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        ({"id": "hand1", "content": {"l0": "x"}}, ["hand1", "l0:", "  x"]),
        ({"id": "hand1", "content": "plain"}, ["hand1", "l0:", "  plain"]),
        ({"id": "hand1", "category": None, "scope": None, "content": None}, ["hand1"]),
        ({"id": "hand1"}, ["hand1"]),
        ({"content": {"l0": 5, "l1": None, "l2": ["a", 1]}}, ["", "l0:", "  5", "l2:", "  a, 1"]),
        (
            {"id": "h", "category": 3, "key": 7, "tags": "one"},
            ["h", "category  3 [7]", "tags      one"],
        ),
        ({"id": "h", "tags": [1, None, {"a": 2}]}, ["h", "tags  1, , {'a': 2}"]),
        ({"id": "h", "language": 5, "createdAt": 12, "userId": []}, ["h", "language  5"]),
    ],
)
def test_whatever_a_record_lacks_it_is_shown(record, shown):
    assert list(memory_get.lines({"items": [record]}, View())) == shown
    assert list(memory_get.lines({"items": [record]}, View(quiet=True))) == shown[:1]


def test_the_outcome_of_an_add_needs_no_category():
    data = {"id": "h", "action": "merged", "record": {}, "l0Cut": False}
    assert list(memory_add.lines(data, View())) == ["merged into h (event)"]


@pytest.mark.parametrize("content", ['{"l0": "x y z"}', '"x y z"'])
@pytest.mark.parametrize("level", ["all", "l0"])
def test_a_hand_written_file_is_got(run_cli, state_dir, content, level):
    run_cli("memory", "add", "something", "--no-embed")
    folder = state_dir / "agents" / "main" / "memory" / "records" / "user"
    (folder / "hand1.json").write_text(f'{{"id": "hand1", "category": null, "content": {content}}}')
    run = run_cli("memory", "get", "hand1", "--level", level)
    assert run.status == 0
    assert run.out.startswith("hand1\n")
    assert "  x y z\n" in run.out
