"""The table of categories: getting a strategy backwards loses preferences or doubles events."""

from __future__ import annotations

import pytest

from openclaw_cli.errors import UsageError
from openclaw_cli.memory.categories import CATEGORIES


@pytest.mark.parametrize(
    ("name", "scopes", "strategy", "stability"),
    [
        ("profile", ("user",), "overwrite", 180),
        ("preference", ("user",), "latest-wins", 60),
        ("event", ("user",), "no-merge", 14),
        ("lesson", ("agent",), "append", 60),
        ("pattern", ("agent",), "latest-wins", 60),
        ("case", ("agent",), "no-merge", 30),
        ("insight", ("user", "agent"), "latest-wins", 180),
    ],
)
def test_the_table_is_as_specified(name, scopes, strategy, stability):
    found = CATEGORIES[name]
    assert (found.scopes, found.strategy, found.stability) == (scopes, strategy, stability)


def test_there_are_no_other_categories():
    assert len(CATEGORIES) == 7


@pytest.mark.parametrize("name", CATEGORIES)
def test_a_record_says_what_its_category_means(memory, name):
    record = memory.add("something to remember", category=name)["record"]
    category = CATEGORIES[name]
    assert record["scope"] == category.scopes[0]
    assert record["mergeStrategy"] == category.strategy
    assert record["fsrs"]["stability"] == category.stability
    assert memory.path(record["id"], record["scope"]).exists()


def test_a_scope_that_does_not_fit_and_an_unknown_category_are_refused(memory):
    with pytest.raises(UsageError, match="a preference belongs to scope user"):
        memory.add("x", category="preference", scope="agent")
    with pytest.raises(UsageError, match="unknown category 'prefrence'"):
        memory.add("x", category="prefrence")
    assert not memory.state.exists()
