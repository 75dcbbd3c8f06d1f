"""The configuration schema: every key, what it may hold, its default and its meaning.

Keys that are not here are left alone: other programs may share the file.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

Prices = dict[str, dict[str, float]]
Value = str | int | float | bool | Prices | None

#: How the meaning of a key begins that may stand in a shared file and has no effect here.
UNUSED = "Not used by this version: "
#: What the value ``openai`` of memory.embedding.provider comes to.
NO_OPENAI = "provider openai is not available in this version"

_SPAN = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
# Plain digits: int() and float() would also take those of other scripts, 1_0, and infinity.
_NUMBER = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?(e[+-]?[0-9]{1,3})?")
_SPAN_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_KINDS = {
    "text": "a text",
    "integer": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "span": "a duration such as 30m, 12h or 7d",
    "prices": "an object of models, each with the price of a million tokens of input, output, "
    "cacheRead and cacheWrite",
}
#: What a million tokens may cost in any currency, so that every sum of costs is a number.
MOST_PRICE = 10**9
PRICED = ("input", "output", "cacheRead", "cacheWrite")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class Key(NamedTuple):
    """One configuration key.

    ``kind`` is text, integer, number, flag, span or prices; a ``default`` of None means that null
    is allowed; ``env`` is the environment variable that overrides the file.
    """

    name: str
    kind: str
    default: Value
    doc: str
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    env: str | None = None

    @property
    def expected(self) -> str:
        """Say in words what the key may hold."""
        if self.choices:
            said = "one of " + ", ".join(self.choices)
        else:
            said = _KINDS[self.kind]
            if self.low > -math.inf:
                said += f" from {self.low:.15g} to {self.high:.15g}"
        return said + (" or null" if self.default is None else "")

    def faults(self, value: object) -> Iterator[tuple[str, str, object]]:
        """Yield what the key may not hold: where below it, what is expected there, what it is."""
        if self.kind == "prices" and isinstance(value, dict):
            yield from _price_faults(value)
        elif not self.accepts(value):
            yield "", self.expected, value

    def accepts(self, value: object) -> bool:
        """Tell whether ``value`` has the right type and lies in the range."""
        if value is None:
            return self.default is None
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str) and (not self.choices or value in self.choices)
        if self.kind == "span":
            return isinstance(value, str) and _SPAN.fullmatch(value) is not None
        if self.kind == "prices":
            return isinstance(value, dict) and not any(_price_faults(value))
        return self._accepts_number(value)

    def _accepts_number(self, value: object) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        if self.kind == "integer" and not isinstance(value, int):
            return False
        return abs(value) <= sys.float_info.max and self.low <= value <= self.high

    def read(self, text: str) -> object:
        """Return what the text of an environment variable means; the text itself if nothing."""
        if self.kind == "flag":
            return _FLAGS.get(text.lower(), text)
        if self.kind in ("integer", "number") and _NUMBER.fullmatch(text):
            whole = self.kind == "integer" and text.lstrip("-").isdigit()
            return int(text) if whole else float(text)
        return text


def _price_faults(models: dict[str, object]) -> Iterator[tuple[str, str, object]]:
    for model, prices in models.items():
        if not isinstance(prices, dict):
            yield f".{model}", f"an object of {', '.join(PRICED)}", prices
            continue
        for name, price in prices.items():
            if name not in PRICED:
                yield f".{model}.{name}", f"one of {', '.join(PRICED)}", name
            elif isinstance(price, bool) or not (
                isinstance(price, (int, float)) and 0 <= price <= MOST_PRICE
            ):
                yield f".{model}.{name}", f"a number from 0 to {MOST_PRICE}", price


def span_seconds(text: str) -> int:
    """Return the seconds of a duration such as ``30m``; the text was accepted before."""
    match = _SPAN.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return int(match[1]) * _SPAN_SECONDS[match[2]]


def _text(name: str, default: str | None, doc: str, *choices: str, env: str | None = None) -> Key:
    return Key(name, "text", default, doc, choices, env=env)


def _integer(
    name: str, default: int | None, low: int, high: int, doc: str, env: str | None = None
) -> Key:
    return Key(name, "integer", default, doc, low=low, high=high, env=env)


def _number(name: str, default: float | None, low: float, high: float, doc: str) -> Key:
    return Key(name, "number", default, doc, low=low, high=high)


def _span(name: str, default: str, doc: str) -> Key:
    return Key(name, "span", default, doc)


def _unused(*keys: Key) -> tuple[Key, ...]:
    return tuple(key._replace(doc=f"{UNUSED}{key.doc[0].lower()}{key.doc[1:]}") for key in keys)


def _importance(name: str, weight: float, doc: str) -> Key:
    return _number(f"session.context.importance.{name}", weight, 0, 100, doc)


def _stability(category: str, days: float) -> Key:
    doc = f"Days until a new {category} is recalled with probability 0.9."
    return _number(f"memory.fsrs.initialStability.{category}", days, 0.001, 36500, doc)


_EMBEDDING = (
    _text(
        "memory.embedding.provider",
        "local",
        "Who turns texts into vectors: the local models (local, auto); openai is not available.",
        "local",
        "openai",
        "auto",
        env="OPENCLAW_EMBEDDING_PROVIDER",
    ),
    _text(
        "memory.embedding.localModel",
        None,
        "One of `openclaw model list` for all languages it reads; null: the shipped ones.",
        env="OPENCLAW_EMBEDDING_LOCAL_MODEL",
    ),
    *_unused(
        _text(
            "memory.embedding.model",
            "text-embedding-3-small",
            "The model that the embeddings API is asked for.",
            env="OPENCLAW_EMBEDDING_MODEL",
        ),
        _integer("memory.embedding.dimensions", None, 1, 8192, "Dimensions asked of the API."),
        _integer("memory.embedding.batchSize", 100, 1, 2048, "Texts in one request to the API."),
        _text(
            "memory.embedding.baseUrl",
            "https://api.openai.com/v1",
            "Where the embeddings API answers.",
            env="OPENCLAW_EMBEDDING_BASE_URL",
        ),
    ),
)

_RETRIEVAL = (
    _text(
        "memory.retrieval.mode",
        "hybrid",
        "Which lists a search asks: words, vectors, or both.",
        "hybrid",
        "lexical",
        "dense",
        env="OPENCLAW_MEMORY_MODE",
    ),
    _text(
        "memory.retrieval.fusion",
        "relative",
        "How the two lists become one.",
        "relative",
        "rrf",
        env="OPENCLAW_MEMORY_FUSION",
    ),
    _number("memory.retrieval.relative.lexicalWeight", 0.4, 0, 1, "Weight of the words."),
    _number("memory.retrieval.relative.denseWeight", 0.6, 0, 1, "Weight of the vectors."),
    _integer("memory.retrieval.relative.candidates", 200, 1, 10000, "Length of each list."),
    _number("memory.retrieval.rrf.lexicalWeight", 0.3, 0, 1, "Weight of the words."),
    _number("memory.retrieval.rrf.denseWeight", 0.7, 0, 1, "Weight of the vectors."),
    _integer("memory.retrieval.rrf.candidates", 50, 1, 10000, "Length of each list."),
    _integer("memory.retrieval.rrf.k", 60, 0, 10000, "The constant added to each rank."),
    _integer("memory.retrieval.topK", 10, 1, 1000, "Results of a search."),
    _number(
        "memory.retrieval.forgetting",
        0.2,
        0,
        1,
        "How much a faded memory sinks: score x (1 - this x (1 - retrievability)).",
    ),
)

_MEMORY = (
    _stability("profile", 180.0),
    _stability("preference", 60.0),
    _stability("event", 14.0),
    _stability("lesson", 60.0),
    _stability("pattern", 60.0),
    _stability("case", 30.0),
    *_unused(
        _number(
            "memory.dedup.same", None, 0, 1, "Cosine of the same statement; null: the model's."
        ),
        _number("memory.dedup.new", None, 0, 1, "Cosine of another statement; null: the model's."),
        _integer("memory.reflect.minRecords", 50, 1, 100000, "New records that make it due."),
        _span("memory.reflect.interval", "24h", "Time that makes it due, when there is news."),
        _integer("memory.reflect.maxInsights", 5, 1, 100, "Insights of one group."),
        Key(
            "memory.shareUserMemory", "flag", False, "Keep user memory in one place for all agents."
        ),
        _integer(
            "memory.memoryMaxTokens",
            3000,
            1,
            1000000,
            "Budget of the memories put into a prompt.",
            env="OPENCLAW_MEMORY_MAX_TOKENS",
        ),
        _text(
            "memory.locale",
            None,
            "Language of headings in a prompt; null: the query's.",
            "zh",
            "en",
            env="OPENCLAW_MEMORY_LOCALE",
        ),
    ),
    _text("memory.extractModel.baseUrl", None, "Where an OpenAI-compatible chat API answers."),
    _text("memory.extractModel.model", None, "The model that reads conversations."),
    _text("memory.extractModel.apiKeyEnv", "OPENAI_API_KEY", "The variable with its API key."),
    _integer("memory.extractModel.timeout", 30, 1, 3600, "Seconds until its answer is due."),
    _integer("memory.wal.maxEntries", 1000, 1, 1000000, "WAL entries that make a checkpoint."),
    _integer("memory.wal.maxBytes", 8388608, 1024, 1 << 40, "WAL bytes that make a checkpoint."),
    _integer(
        "memory.index.hnswThreshold", 200000, 0, 1 << 40, "Vectors above which HNSW is built."
    ),
)

_SESSION = (
    _span("session.idleTimeout", "30m", "Idle time after which a session is dormant."),
    _span("session.archiveAfter", "7d", "Dormant time after which it is archived."),
    Key(
        "session.prices",
        "prices",
        None,
        'What models cost, for session usage: {"gpt-4o": {"input": 2.5, "output": 10}}.',
    ),
    _text(
        "session.context.pruneStrategy",
        "sliding-window",
        "How a long history is shortened.",
        "sliding-window",
        "summary",
        "importance",
    ),
    _integer("session.context.budget", 32000, 1, 1 << 30, "Tokens of a context."),
    _integer("session.context.threshold", 30, 1, 1000000, "Messages above which to summarise."),
    _integer("session.context.keepRecent", 10, 0, 100000, "Latest messages left out of it."),
    _text(
        "session.context.model.baseUrl",
        None,
        "Where the chat API that summarises answers; null: memory.extractModel as a whole.",
    ),
    _text("session.context.model.model", None, "The model that summarises."),
    _text("session.context.model.apiKeyEnv", "OPENAI_API_KEY", "The variable with its API key."),
    _integer("session.context.model.timeout", 30, 1, 3600, "Seconds until its answer is due."),
    _importance("user", 1.0, "Weight of what a user said."),
    _importance("assistant", 0.5, "Weight of what the assistant said."),
    _importance("tool", 0.2, "Weight of a tool result."),
    _importance("system", 1.0, "Weight of a system message."),
    _importance("toolError", 1.0, "Added for a tool that failed."),
    _importance("decision", 2.5, "Added where something is decided or to be remembered."),
    _importance("entities", 0.8, "Added, in part, for names, numbers, addresses and paths."),
    _importance("length", 0.3, "Added, in part, for length."),
    _importance("recency", 2.0, "Added for the newest message, halved every halfLife."),
    _integer(
        "session.context.importance.halfLife",
        50,
        1,
        1000000,
        "Messages after which recency counts half.",
    ),
)

KEYS: dict[str, Key] = {key.name: key for key in _EMBEDDING + _RETRIEVAL + _MEMORY + _SESSION}

#: General forms that set the key of every fusion at once; the particular key wins.
GENERAL: dict[str, tuple[str, ...]] = {
    "memory.retrieval.weights.lexical": (
        "memory.retrieval.relative.lexicalWeight",
        "memory.retrieval.rrf.lexicalWeight",
    ),
    "memory.retrieval.weights.dense": (
        "memory.retrieval.relative.denseWeight",
        "memory.retrieval.rrf.denseWeight",
    ),
    "memory.retrieval.candidates": (
        "memory.retrieval.relative.candidates",
        "memory.retrieval.rrf.candidates",
    ),
    "memory.retrieval.k": ("memory.retrieval.rrf.k",),
}

#: Keys of the gateway in our two sections; they are its own business.
FOREIGN = frozenset(
    {f"memory.{name}" for name in ("backend", "citations", "qmd")}
    | {
        f"session.{name}"
        for name in (
            *("agentToAgent", "dmScope", "identityLinks", "idleMinutes", "mainKey", "maintenance"),
            *("reset", "resetByChannel", "resetByType", "resetTriggers", "scope", "sendPolicy"),
            *("store", "threadBindings", "typingIntervalSeconds", "typingMode"),
        )
    }
)
