"""The benchmark's machinery on a tiny store; no time is asserted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.bench import bench, measure, rows, stores

SIZE = 24


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stores, "ELSEWHERE", stores.SHIPPED)
        yield stores.Stores(tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("row", rows.ROWS, ids=lambda row: row.name)
def test_a_row_of_the_table_can_be_measured_on_its_store(row, tiny, monkeypatch):
    monkeypatch.setattr(stores, "ELSEWHERE", stores.SHIPPED)
    monkeypatch.setattr(bench, "repeat", lambda works, runs: [[work(1)] for work in works])
    size = SIZE if row.sizes != (0,) else 0
    floor = rows.Goal("cpu", 1e9, "F1")
    lines = bench.Bench(tiny).measure(replace(row, goals={size: (floor,)}), size, 1)
    assert lines[0]["reached"]
    assert lines[0]["figures"]["peak"] > 1
    for goal in (goal for goals in row.goals.values() for goal in goals):
        assert goal.quantity in lines[0]["figures"]


def test_every_goal_is_set_for_a_size_that_is_measured():
    for row in rows.ROWS:
        assert set(row.goals) <= set(row.sizes), row.name


def test_the_bare_loop_tells_what_it_reached_in_a_cell_of_the_grid(tiny):
    cell = json.dumps([[8, 320], [1, 2]])
    made = measure.process(["-m", "tests.bench.floors", str(SIZE), cell], tiny.env())
    assert set(json.loads(made.out)) == {"rate", "cpu_rate", "cores"}


def test_texts_never_run_out_and_never_repeat(monkeypatch):
    monkeypatch.setattr(stores, "ELSEWHERE", stores.SHIPPED)
    made = [text for text, _language in stores.texts(2_000)]
    assert len(set(made)) == 2_000


def test_a_goal_is_judged_in_its_direction():
    most, least = rows.Goal("cpu", 2, "F0"), rows.Goal("rate", 100, least=True)
    figures = {"cpu": 0.3, "rate": 99.0}
    assert not bench.judged(most, figures, {"cpu": 0.1})["reached"]
    assert bench.judged(most, figures, {"cpu": 0.2})["reached"]
    assert not bench.judged(least, figures, None)["reached"]


def test_a_process_that_ends_with_another_status_is_no_measurement(tiny):
    with pytest.raises(RuntimeError, match="ended with 3"):
        measure.process(["-c", "raise SystemExit(3)"], tiny.env())
