"""The measuring itself: a row of the table on its store, beside what it is compared with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from tests.bench.floors import floors
from tests.bench.measure import Sample, medians, process, repeat
from tests.bench.rows import EMBEDDING, ROWS, Goal, Row
from tests.bench.stores import QUERIES, Stores, record_id, session_id


class Bench:
    """What can be measured, by name: the floors, and ROW@SIZE."""

    def __init__(self, stores: Stores, embedding: int = EMBEDDING) -> None:
        self.stores = stores
        self.floors = floors(stores, embedding)
        self.samples: dict[str, list[Sample]] = defaultdict(list)
        self._queries = stores.queries()

    def measure(self, row: Row, size: int, runs: int) -> list[dict]:
        """Measure a row and, in turn with it, what it is compared with; return the lines."""
        name = f"{row.name}@{size}"
        goals = row.goals_at(size)
        names = [name, *dict.fromkeys(goal.of for goal in goals if goal.of is not None)]
        found = repeat([self._work(each) for each in names], runs)
        self.stores.discard_copies()
        for each, samples in zip(names, found, strict=True):
            self.samples[each] += samples
        figures = {each: medians(samples) for each, samples in zip(names, found, strict=True)}
        lines = [judged(goal, figures[name], figures.get(goal.of)) for goal in goals] or [{}]
        head = {"row": row.name, "records": size, "runs": len(found[0]), "figures": figures[name]}
        return [{**head, **line} for line in lines]

    def _work(self, name: str) -> Callable[[int], Sample]:
        if name in self.floors:
            return self.floors[name]
        row_name, _, size = name.partition("@")
        return self._row_work(next(row for row in ROWS if row.name == row_name), int(size))

    def _row_work(self, row: Row, size: int) -> Callable[[int], Sample]:
        stores, name = self.stores, f"{row.name}@{size}"
        if row.changes:
            state = stores.own(0 if row.empty else size, row.name, row.store)
        else:
            state = getattr(stores, row.store)(size) if size else None
        env = stores.env(state)

        def work(number: int) -> Sample:
            if row.prepare is not None:
                row.prepare(state, number)
            words = {
                "id": record_id(number * 37 % max(1, size)),
                "note": f"On day {number} the deployment of service {number * 7} was put off.",
                "lines": str(stores.lines(size)) if "{lines}" in row.command else "",
                "session": session_id(0),
                **{each: found[number % QUERIES] for each, found in self._queries.items()},
            }
            argv = [word.format_map(words) for word in row.command.split()]
            sample = process(["-m", *row.program, *argv], env, row.status)
            if b"warning:" in sample.err or sample.out.startswith(b"nothing found"):
                raise RuntimeError(f"{name}: not what is to be measured: {sample.err.decode()}")
            more = row.look(state, size, sample) if row.look is not None else {}
            return Sample({**sample.figures, **more}, sample.out, sample.err)

        return work


def judged(goal: Goal, figures: dict[str, float], base: dict[str, float] | None) -> dict:
    """Return a goal beside what was measured; ``base`` has the figures of what it refers to."""
    value = figures[goal.quantity]
    compared = value if base is None else value / base[goal.quantity]
    reached = compared >= goal.limit if goal.least else compared <= goal.limit
    return {
        "quantity": goal.quantity,
        "of": goal.of,
        "goal": goal.limit,
        "least": goal.least,
        "measured": compared,
        "reached": reached,
    }
