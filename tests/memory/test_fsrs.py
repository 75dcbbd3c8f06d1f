"""Retention against the formulas and against the ``fsrs`` package."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.memory.fsrs import initial_state, next_stability, recalled, retrievability

NOW = datetime(2026, 3, 1, tzinfo=UTC)
DAY = 86_400_000


def test_after_s_days_the_chance_of_recall_is_nine_tenths():
    assert retrievability(14.0, 0, 14 * DAY) == pytest.approx(0.9)
    assert retrievability(14.0, 0, 0) == 1.0
    assert retrievability(14.0, 5 * DAY, 0) == 1.0


def test_the_published_check_value_is_met():
    assert next_stability(10.0, 5.0, 0.9) == pytest.approx(32.027, abs=1e-3)


@given(stability=st.floats(0.1, 400), difficulty=st.floats(1, 10), retained=st.floats(0.05, 1.0))
def test_growth_agrees_with_the_fsrs_package(stability, difficulty, retained):
    fsrs = pytest.importorskip("fsrs")
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    expected = scheduler._next_recall_stability(
        difficulty=difficulty,
        stability=stability,
        retrievability=retained,
        rating=fsrs.Rating.Good,
    )
    assert next_stability(stability, difficulty, retained) == pytest.approx(
        min(expected, 36_500.0), rel=1e-9
    )


def test_a_hit_updates_every_part_of_the_state():
    state = initial_state(14.0, NOW)
    after = recalled(state, 14.0, 1, 3, NOW + timedelta(days=14))
    assert after["stability"] == pytest.approx(next_stability(14.0, 1 + 9 * 0.3, 0.9))
    assert after["difficulty"] == pytest.approx(0.28)
    assert (after["reps"], after["lapses"]) == (1, 0)
    assert after["lastReview"] == "2026-03-15T00:00:00Z"
    assert after["nextReview"] > after["lastReview"]


@pytest.mark.parametrize(("rank", "difficulty"), [(1, 0.28), (2, 0.3), (3, 0.32)])
def test_the_rank_makes_easier_or_harder(rank, difficulty):
    assert recalled(initial_state(14.0, NOW), 14.0, rank, 3, NOW)["difficulty"] == pytest.approx(
        difficulty
    )


def test_a_hit_on_what_was_forgotten_counts_a_lapse():
    after = recalled(initial_state(1.0, NOW), 1.0, 1, 1, NOW + timedelta(days=30))
    assert (after["reps"], after["lapses"]) == (1, 1)


@pytest.mark.parametrize("value", ["x", None, [], 1e300, -5, float("nan"), True])
@pytest.mark.parametrize("name", ["difficulty", "reps", "lapses", "lastReview"])
def test_a_state_that_others_have_spoilt_is_mended(name, value):
    after = recalled({**initial_state(14.0, NOW), name: value}, 14.0, 1, 1, NOW)
    assert after["stability"] > 0
    assert 0 <= after["difficulty"] <= 1
    assert after["reps"] >= 1


def test_only_a_touching_search_writes(memory):
    record = memory.add("Likes green tea", embed=True)
    memory.index(embed=True)
    memory.later(days=10)
    before = memory.document(record["id"])
    memory.search("tea", "hybrid")
    assert memory.document(record["id"]) == before
    hit = memory.search("tea", "hybrid", touch=True).data["results"][0]
    after = memory.document(record["id"])
    assert after["fsrs"]["reps"] == 1
    assert after["fsrs"]["stability"] > before["fsrs"]["stability"]
    assert {**after, "fsrs": None} == {**before, "fsrs": None}
    again = memory.search("tea", "hybrid", explain=True).data["results"][0]
    assert again["explain"]["dense"] is not None
    assert again["score"] > hit["score"]
    memory.index(embed=True)
    assert memory.search("tea", "hybrid", explain=True).data["results"][0]["explain"]["dense"]
