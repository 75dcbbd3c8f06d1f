"""The figures behind ``memory status --plot``, from the columns of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

from openclaw_cli.index.file.snapshot import Snapshot
from openclaw_cli.memory.fsrs import retrievability

Figures = dict[str, list[dict[str, Any]]]
_CLASSES = 10
_DAY_MS = 86_400_000
_FIRST_DAY = date(1970, 1, 1).toordinal()


def figures(snapshot: Snapshot, now: int) -> Figures:
    """Return how many live records there are by category, by month and by retrievability.

    Months are those of UTC in which records were made; months without any are left out. The ten
    classes of retrievability at ``now`` (ms) are all there, each without its upper bound but the
    last.
    """
    days: Counter[int] = Counter()
    classes = [0] * _CLASSES
    for created, stability, review in _live(snapshot, "created", "stability", "review"):
        days[created // _DAY_MS] += 1
        retained = retrievability(stability, review, now)
        classes[min(_CLASSES - 1, int(retained * _CLASSES))] += 1
    months: Counter[str] = Counter()
    for day, count in sorted(days.items()):
        months[date.fromordinal(_FIRST_DAY + day).isoformat()[:7]] += count
    categories = sorted(snapshot.tally("category").items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "category": [_bar(str(name), count) for name, count in categories if count],
        "month": [_bar(month, count) for month, count in months.items()],
        "retrievability": [
            _bar(f"{n / _CLASSES:.1f}-{(n + 1) / _CLASSES:.1f}", count)
            for n, count in enumerate(classes)
        ],
    }


def _bar(key: str, records: int) -> dict[str, Any]:
    return {"key": key, "records": records}


def _live(snapshot: Snapshot, *names: str) -> Iterator[tuple[Any, ...]]:
    rows = zip(*map(snapshot.column, names), strict=True)
    if not snapshot.gone:
        return rows
    return (row for ordinal, row in enumerate(rows) if ordinal not in snapshot.gone)
