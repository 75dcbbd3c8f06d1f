"""Retention of a memory, after the free spaced repetition scheduler (FSRS)."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import exp, isfinite
from typing import Any

from openclaw_cli.clock import format_time, parse_foreign_time

_DAY_MS = 86_400_000.0
DIFFICULTY = 0.3
# FSRS-6's default weights for the growth of stability on recall.
_W8, _W9, _W10 = 1.8722, 0.1666, 0.796
_RANK_SHIFT = 0.02
_LONGEST = 36_500.0
_MANY = 1e9


def retrievability(stability: float, review: int, now: int) -> float:
    """Return R = 0.9^(t/S) for t days since ``review``; both moments in ms, ``stability`` in days.

    A review in the future (a clock set back) counts as just now.
    """
    return float(0.9 ** (max(0, now - review) / _DAY_MS / stability))


def recalled(
    state: dict[str, Any], stability: float, rank: int, of: int, moment: datetime
) -> dict[str, Any]:
    """Return ``state`` after a hit at ``rank`` (from 1) among ``of`` results at ``moment``.

    Stability grows by FSRS-6's formula for a successful recall; the better the rank, the easier the
    memory becomes. A hit at R < 0.5 counts as a lapse as well: it had been forgotten.
    """
    difficulty = _number(state, "difficulty", DIFFICULTY, 1.0)
    elapsed = _elapsed_days(state.get("lastReview"), moment)
    retained = 0.9 ** (elapsed / stability)
    grown = next_stability(stability, 1.0 + 9.0 * difficulty, retained)
    shift = _RANK_SHIFT * (2.0 * (rank - 1) / (of - 1) - 1.0) if of > 1 else -_RANK_SHIFT
    return {
        **restated(state, grown, moment),
        "stability": grown,
        "difficulty": min(1.0, max(0.0, difficulty + shift)),
        "reps": int(_number(state, "reps", 0.0, _MANY)) + 1,
        "lapses": int(_number(state, "lapses", 0.0, _MANY)) + (retained < 0.5),
    }


def _number(state: dict[str, Any], name: str, default: float, most: float) -> float:
    """Return a member of a state that others may have written, within 0 and ``most``."""
    value = state.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return default
    return min(most, max(0.0, float(value)))


def next_stability(stability: float, difficulty: float, retained: float) -> float:
    """Return FSRS-6's S' of a successful recall ("Good"); ``difficulty`` on its scale 1 to 10."""
    factor: float = exp(_W8) * (11.0 - difficulty) * stability**-_W9
    return min(stability * (1.0 + factor * (exp(_W10 * (1.0 - retained)) - 1.0)), _LONGEST)


def _elapsed_days(last_review: object, moment: datetime) -> float:
    try:
        reviewed = parse_foreign_time(str(last_review))[0]
    except ValueError:
        return 0.0
    return max(0.0, (moment - reviewed) / timedelta(days=1))


def initial_state(stability: float, moment: datetime) -> dict[str, Any]:
    """Return the FSRS state of a memory made at ``moment``; the interval for R = 0.9 is S."""
    return {
        "stability": stability,
        "difficulty": DIFFICULTY,
        "lastReview": format_time(moment),
        "nextReview": format_time(_after(moment, stability)),
        "reps": 0,
        "lapses": 0,
    }


def restated(state: dict[str, Any], stability: float, moment: datetime) -> dict[str, Any]:
    """Return ``state`` of a memory that was said again at ``moment``: fully present anew."""
    return {
        **state,
        "lastReview": format_time(moment),
        "nextReview": format_time(_after(moment, stability)),
    }


def _after(moment: datetime, days: float) -> datetime:
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return datetime.max.replace(tzinfo=moment.tzinfo)
