"""``session usage``: the tokens of the ledger, summed up; what they cost where prices are known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openclaw_cli.clock import format_time, parse_time
from openclaw_cli.config_keys import PRICED
from openclaw_cli.paths import SessionPaths
from openclaw_cli.result import Result, Warning
from openclaw_cli.session import ledger
from openclaw_cli.session.ledger import TOKENS, Turn
from openclaw_cli.session.requests import UsageQuery
from openclaw_cli.session.schema import MOST
from openclaw_cli.session.store import SessionStore

BY = ("session", "model", "channel", "day")
_FIELDS = {"session": "SessionId", "model": "ModelId", "channel": "ChannelId"}
#: The names of the sums, in the order of TOKENS.
SUMS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_MILLION = 1_000_000
#: What is summed up for one model: turns, estimated turns, then the tokens.
_Sums = list[int]


def record(store: SessionStore, data: bytes) -> Result:
    """Append one turn, a JSON object, to the ledger."""
    turn = ledger.checked(data, store.now())
    warnings = ledger.record(store, turn)
    return Result("session.usage", {"recorded": turn}, tuple(warnings))


def usage(store: SessionStore, query: UsageQuery) -> Result:
    """Sum the turns of the ledger up; lines that are no turns are passed over with one warning.

    Rows are sorted by their key, days being those of UTC. ``cost`` is None where no model of a row
    has a price; ``unpricedTurns`` are those that it leaves out, and those of models whose costs are
    beyond all numbers. Sums stop at 2^53.
    """
    _require(store)
    sums: dict[str | None, dict[str | None, _Sums]] = {}
    bad: list[ledger.Line] = []
    skipped = 0
    for line in ledger.lines(store.paths.ledger):
        if line.turn is None:
            skipped += 1
            bad += [line] if not bad else []
            continue
        moment = parse_time(line.turn["TimestampUtc"])
        if query.since is not None and moment < query.since:
            continue
        key = _key(line.turn, query.by, format_time(moment)[:10])
        models = sums.setdefault(key, {})
        _add(models.setdefault(line.turn.get("ModelId"), [0] * 6), line.turn)
    prices = store.env.config.prices("session.prices")
    rows = [_row(key, sums[key], prices) for key in sorted(sums, key=lambda k: (k is None, k))]
    everything = [counts for models in sums.values() for counts in models.items()]
    data: dict[str, Any] = {
        "by": query.by,
        "items": rows,
        "total": len(rows),
        "sum": _summed(everything, prices),
    }
    if query.charts:
        data["charts"] = _figures(query.by, rows)
    return Result("session.usage", data, _warnings(store.paths, bad, skipped))


def _figures(by: str, rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return tokens, and costs where they are known: days in their order, others from the most."""
    tokens = [{"key": row["key"], **{name: row[name] for name in SUMS}} for row in rows]
    costs = [{"key": row["key"], "cost": row["cost"]} for row in rows if row["cost"] is not None]
    if by != "day":
        tokens.sort(key=lambda row: sum(row[name] for name in SUMS), reverse=True)
        costs.sort(key=lambda row: row["cost"], reverse=True)
    return {"tokens": tokens, "cost": costs}


def _require(store: SessionStore) -> None:
    if not store.paths.exists() and not store.paths.ledger.exists():
        store.require()


def _key(turn: Turn, by: str, day: str) -> str | None:
    value = day if by == "day" else turn.get(_FIELDS[by])
    return value if isinstance(value, str) else None


def _add(counts: _Sums, turn: Turn) -> None:
    counts[0] += 1
    counts[1] += turn.get("IsEstimated") is True
    for place, name in enumerate(TOKENS, 2):
        counts[place] = min(counts[place] + turn.get(name, 0), MOST)


def _row(
    key: str | None, models: Mapping[str | None, _Sums], prices: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    return {"key": key, **_summed(list(models.items()), prices)}


def _summed(
    counted: list[tuple[str | None, _Sums]], prices: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    totals = [0] * 6
    cost, unpriced, priced = 0.0, 0, False
    for model, counts in counted:
        totals = [min(one + other, MOST) for one, other in zip(totals, counts, strict=True)]
        price = prices.get(model or "")
        tokens = zip(PRICED, counts[2:], strict=True)
        more = sum(float((price or {}).get(name, 0)) * number for name, number in tokens) / _MILLION
        if price is None or not cost + more <= MOST:
            unpriced += counts[0]
            continue
        priced = True
        cost += more
    return {
        "turns": totals[0],
        "estimatedTurns": totals[1],
        **dict(zip(SUMS, totals[2:], strict=True)),
        "cost": round(cost, 9) if priced else None,
        "unpricedTurns": unpriced,
    }


def _warnings(paths: SessionPaths, bad: list[ledger.Line], skipped: int) -> tuple[Warning, ...]:
    if not bad:
        return ()
    first = bad[0]
    what = "the end of an unfinished write" if first.torn else first.problem
    lines = "1 line of the ledger was" if skipped == 1 else f"{skipped} lines of the ledger were"
    message = f"{lines} passed over, the first being line {first.number}: {what}"
    return (Warning("ledger-damaged", message, str(paths.ledger)),)
