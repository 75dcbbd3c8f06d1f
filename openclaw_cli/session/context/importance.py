"""The messages that matter most: each scored, the highest kept, in their order, pairs together."""

from __future__ import annotations

import heapq
import math
import re
from typing import Any, NamedTuple

from openclaw_cli.config import Config
from openclaw_cli.session.context.pairing import Forwards, Unit, total
from openclaw_cli.session.context.pruning import Window, begun, in_order, least_budget
from openclaw_cli.session.context.recent import WINDOW_BYTES, Entry, Recent
from openclaw_cli.session.context.weighing import text_of
from openclaw_cli.session.exchange import failed
from openclaw_cli.session.schema import Message

#: Characters of a message that are looked at.
_LOOKED_AT = 4000
#: Characters that count as long, entities that count as many.
_LONG, _MANY = 2000, 10
#: Messages left out that an explanation lists.
_RUNNERS_UP = 20

_DECIDING = frozenset(
    (
        *("decide", "decided", "decides", "deciding", "decision", "decisions", "agree", "agreed"),
        *("approve", "approved", "approves", "reject", "rejected", "let's", "we'll", "must"),
        *("never", "always", "remember", "important", "conclude", "concluded", "conclusion"),
        *("confirm", "confirmed", "deadline", "prefer", "prefers", "preferred", "todo"),
    )
)
_WORD = r"[a-z']+"
_DECIDING_CJK = (
    "决定|決定|确定|確定|同意|批准|拒绝|拒絕|必须|必須|不要|记住|記住|记得|重要|结论|結論|确认|確認"
    "|偏好|喜欢|喜歡|截止|约定|決め|覚えて|必ず|合意|承認|결정|동의|기억|중요|반드시|확인"
)
_FAILED = r"\s*\W*(?:(?:error|exception|traceback|failed|fatal|failure)\b|错误|失败|エラー|오류)"
#: Patterns of entities, each with characters of which one must be there for it to be looked for.
_ENTITIES = (
    ("/", r"https?://\S+|(?:[\w.-]*/){2,}[\w.-]*"),
    ("@", r"[\w.+-]+@[\w-]+\.\w+|@\w+"),
    (".", r"\b\w+\.[a-z]{1,4}\b"),
    ("#", r"#\w+"),
    ("`", r"`[^`\n]+`"),
    ('「『《“"', r"[「『《“\"][^」』》”\"\n]{1,40}[」』》”\"]"),
    ("", r"\d[\d.,:/-]*|(?<=[a-z,;:] )[A-Z]\w+"),
)


class Weights(NamedTuple):
    """How much each trait of a message adds; see ``session.context.importance``."""

    user: float
    assistant: float
    tool: float
    system: float
    toolError: float
    decision: float
    entities: float
    length: float
    recency: float
    halfLife: float

    @classmethod
    def of(cls, config: Config) -> Weights:
        """Return the weights that are configured."""
        return cls(*(config.number(f"session.context.importance.{name}") for name in cls._fields))


def traits(message: Message, age: int, weights: Weights) -> dict[str, float]:
    """Return what each trait of a message adds to its score; ``age`` counts newer messages."""
    text = text_of(message)
    looked_at = text[:_LOOKED_AT]
    role = str(message["role"])
    found = {
        "role": getattr(weights, role),
        "toolError": weights.toolError if role == "tool" and _fails(message, text) else 0.0,
        "decision": 0.0,
        "entities": 0.0,
        "length": weights.length * min(1.0, math.log1p(len(text)) / math.log1p(_LONG)),
        "recency": weights.recency * 0.5 ** (max(0, age) / weights.halfLife),
    }
    if role != "tool" and _decides(looked_at):
        found["decision"] = weights.decision
    found["entities"] = weights.entities * min(1.0, _entities(looked_at) / _MANY)
    return {name: round(value, 4) for name, value in found.items()}


def _fails(message: Message, text: str) -> bool:
    """Tell whether a tool result says that the tool has failed, or reads as if."""
    return failed(message) or re.match(_FAILED, text[:80], re.IGNORECASE) is not None


def _decides(text: str) -> bool:
    if not _DECIDING.isdisjoint(re.findall(_WORD, text.lower())):
        return True
    return not text.isascii() and re.search(_DECIDING_CJK, text) is not None


def _entities(text: str) -> int:
    """Return how many different names, numbers, addresses and paths a text holds."""
    found: set[str] = set()
    for marks, pattern in _ENTITIES:
        if not marks or any(mark in text for mark in marks):
            found.update(re.findall(pattern, text))
    return len(found)


class Candidate(NamedTuple):
    """A unit with the score of the best message in it; of two equal ones the newer is better."""

    score: float
    place: int
    unit: Unit


class Choice(NamedTuple):
    """What was chosen of a whole history: the window, and the best of what was left out."""

    window: Window
    runners_up: tuple[Entry, ...]


def choose(recent: Recent, budget: int, weights: Weights, count: int) -> Choice:
    """Return the highest-scored messages of a history of ``count`` within ``budget`` tokens.

    The whole history is read, once, and only candidates are held: twice the budget at most. The
    prompt and the last message of a user are always among the chosen. Raises `UsageError` naming
    the least budget when these do not fit.
    """
    pool = _Pool(budget - total(recent.prompt).tokens, weights, count)
    pairs = Forwards()
    for entry in recent.forward():
        for unit in pairs.take(entry):
            pool.add(unit)
    for unit in pairs.finish():
        pool.add(unit)
    if pool.room < pool.user_tokens:
        raise least_budget(budget - pool.room + pool.user_tokens, budget)
    units, others = pool.best(opened=bool(recent.prompt))
    entries = tuple(entry for unit in others for entry in unit.entries)
    return Choice(Window((*recent.prompt, *in_order(begun(units)))), entries[:_RUNNERS_UP])


class _Pool:
    """The candidates: a heap whose worst goes when there are more than could be chosen."""

    def __init__(self, room: int, weights: Weights, count: int) -> None:
        self.room = room
        self.user: Unit | None = None
        self.opener: Unit | None = None
        self._weights = weights
        self._count = count
        self._heap: list[Candidate] = []
        self._tokens = self._size = 0

    @property
    def user_tokens(self) -> int:
        """What the last message of a user takes."""
        return 0 if self.user is None else self.user.weight.tokens

    def add(self, unit: Unit) -> None:
        """Take a unit in."""
        if unit.role == "user":
            # The first message of a user and the last one are not among the candidates.
            before, self.user = self.user, unit
            if before is None:
                return
            if self.opener is None:
                self.opener = before
                return
            unit = before
        self._push(unit)

    def _push(self, unit: Unit) -> None:
        tokens = unit.weight.tokens
        if tokens > self.room or unit.size > WINDOW_BYTES:
            return
        heapq.heappush(self._heap, Candidate(self._score(unit), unit.place, unit))
        self._tokens += tokens
        self._size += unit.size
        while self._tokens > 2 * self.room or self._size > WINDOW_BYTES:
            worst = heapq.heappop(self._heap).unit
            self._tokens -= worst.weight.tokens
            self._size -= worst.size

    def _score(self, unit: Unit) -> float:
        return max(score(entry, self._weights, self._count) for entry in unit.entries)

    def best(self, *, opened: bool) -> tuple[list[Unit], list[Unit]]:
        """Return the units chosen, and the others, best first.

        Where no prompt has ``opened`` the conversation, the first message of a user does if it
        fits, so that what the assistant said may follow; elsewhere it is one of the others.
        """
        chosen = [] if self.user is None else [self.user]
        room, others = self.room - self.user_tokens, []
        if self.opener is not None and not opened and self.opener.weight.tokens <= room:
            chosen.append(self.opener)
            room -= self.opener.weight.tokens
        elif self.opener is not None:
            self._push(self.opener)
        for candidate in sorted(self._heap, reverse=True):
            tokens = candidate.unit.weight.tokens
            if tokens <= room:
                chosen.append(candidate.unit)
                room -= tokens
            else:
                others.append(candidate.unit)
        return chosen, others


def score(entry: Entry, weights: Weights, count: int) -> float:
    """Return how much a message of a history of ``count`` matters."""
    return round(sum(traits(entry.message, _age(entry, count), weights).values()), 4)


def _age(entry: Entry, count: int) -> int:
    return count - 1 - int(entry.message["idx"])


def explain(choice: Choice, weights: Weights, count: int) -> dict[str, Any]:
    """Return the weights, and the scores of the chosen messages and of the best others."""

    def told(entry: Entry) -> dict[str, Any]:
        found = traits(entry.message, _age(entry, count), weights)
        return {
            "idx": entry.message["idx"],
            "score": score(entry, weights, count),
            "tokens": entry.weight.tokens,
            "estimated": bool(entry.weight.estimated),
            **found,
        }

    return {
        "weights": weights._asdict(),
        "messages": [told(entry) for entry in choice.window.entries],
        "leftOut": [told(entry) for entry in choice.runners_up],
    }
