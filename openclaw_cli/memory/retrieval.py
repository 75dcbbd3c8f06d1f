"""``memory search``: lexical and dense lists, fused, weighed by what has been forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from openclaw_cli.clock import format_time, from_millis, to_millis
from openclaw_cli.errors import DamagedError, UnavailableError, UsageError
from openclaw_cli.index import fusion
from openclaw_cli.index.file.snapshot import Snapshot
from openclaw_cli.index.protocol import Mask, Vector
from openclaw_cli.memory.fsrs import retrievability
from openclaw_cli.memory.requests import SearchRequest
from openclaw_cli.memory.store import INDEX_HINT, Opened, Store
from openclaw_cli.result import Result, Warning
from openclaw_cli.store.records import Record
from openclaw_cli.text.analyze import query_terms
from openclaw_cli.text.languages import LanguageProfile, profile

if TYPE_CHECKING:
    from openclaw_cli.embed.manifest import ModelInfo

MODES = ("hybrid", "lexical", "dense")
FUSIONS = ("relative", "rrf")


class Hit(NamedTuple):
    """One result before its record is read; ``score`` is final, ``fused`` before forgetting."""

    ordinal: int
    id: str
    score: float
    fused: float
    retained: float


def search(store: Store, request: SearchRequest) -> Result:
    """Return the best records for a query; a search without hits is a success."""
    if not request.query.strip():
        raise UsageError("the query is empty", hint='write what to look for: memory search "..."')
    return _Search(store, request).run()


class _Search:
    """One search: its settings, the opened store, and the lists on the way to the result."""

    def __init__(self, store: Store, request: SearchRequest) -> None:
        config = store.env.config
        self.store = store
        self.request = request
        self.mode = _choice(request.mode or config.text("memory.retrieval.mode"), MODES, "mode")
        self.fusion = _choice(
            request.fusion or config.text("memory.retrieval.fusion"), FUSIONS, "fusion"
        )
        self.top_k = request.top_k or config.integer("memory.retrieval.topK")
        self.started = store.env.clock.monotonic()
        self.opened: Opened = store.open()
        self.warnings: list[Warning] = [*self.opened.warnings]
        self.query: LanguageProfile = profile(request.query)
        self.spaces: list[dict[str, Any]] = []
        self.mask: Mask = None
        self.words: Mapping[int, float] = {}
        self.dense: list[fusion.DenseList] = []

    def run(self) -> Result:
        self.mask = self.opened.snapshot.select(self.request.filters.where())
        if self.mode != "dense":
            self.words = self._lexical()
        self.dense = self._dense()
        hits = self._ranked()
        results, shown = self._results(hits)
        if self.request.touch and shown:
            self._touch(shown)
        effective = self.mode if self.dense or self.mode == "dense" else "lexical"
        if self.opened.snapshot.base is None:
            self.warnings += self.store.count_warning(self.opened)
        data = {
            "query": self.request.query,
            "mode": effective,
            "languages": [self.query.language],
            "spaces": self.spaces,
            "results": results,
            "elapsedMs": round((self.store.env.clock.monotonic() - self.started) * 1000, 1),
        }
        return Result("memory.search", data, tuple(self.warnings))

    def _lexical(self) -> Mapping[int, float]:
        try:
            return self._words_of(self.opened.snapshot)
        except (DamagedError, ValueError, KeyError, IndexError, TypeError) as error:
            # From here on the whole search goes without the damaged index.
            self._index_damaged(error)
            self.opened = self.store.without_base(self.opened)
            self.mask = self.opened.snapshot.select(self.request.filters.where())
            return self._words_of(self.opened.snapshot)

    def _words_of(self, snapshot: Snapshot, *, scaled: bool = True) -> Mapping[int, float]:
        terms = query_terms(self.request.query, snapshot.buckets)
        return snapshot.search_lexical(terms, self.mask, scaled=scaled)

    def _index_damaged(self, error: Exception) -> None:
        path = error.path if isinstance(error, DamagedError) else str(self.store.paths.index)
        message = error.message if isinstance(error, DamagedError) else f"index damaged: {error}"
        self.warnings.append(Warning("index-stale", f"{message}; {INDEX_HINT}", path))

    # -- dense -----------------------------------------------------------------------------------

    def _dense(self) -> list[fusion.DenseList]:
        if self.mode == "lexical":
            return []
        asked = self.store.catalog.query_spaces(
            self.query.language, self.query.han_share, self.query.latin_share, self.query.confident
        )
        self.warnings += self.store.model_warnings()
        held = self.opened.snapshot.spaces
        for name in held:
            if name not in {model.name for model in asked}:
                reason = f"does not read the query's language ({self.query.language})"
                self.spaces.append({"model": name, "used": False, "reason": reason})
        lists = [found for model in asked if (found := self._ask(model)) is not None]
        if not lists and self.mode == "dense":
            reasons = "; ".join(f"{s['model']}: {s['reason']}" for s in self.spaces)
            raise UnavailableError(
                "no embedding model can answer this query"
                + (f" ({reasons})" if reasons else f" (language {self.query.language})"),
                hint="use --mode lexical, or see: openclaw model list",
            )
        return lists

    def _ask(self, model: ModelInfo) -> fusion.DenseList | None:
        info = self.opened.snapshot.spaces.get(model.name)
        reason = None
        if info is None:
            reason = f"no vectors yet ({INDEX_HINT})"
        elif info.digest != model.digest:
            reason = f"the vectors were made by another version ({INDEX_HINT} --reembed)"
        else:
            try:
                count = self._candidates()
                vector = self.store.embedding.query(model, self.request.query)
                found = self.opened.snapshot.search_vectors(
                    model.name, vector, self.mask, count, fusion.top(self.words, count)
                )
                self.spaces.append({"model": model.name, "used": True, "reason": "asked"})
                return found
            except UnavailableError as error:
                reason = error.message
                self.warnings.append(Warning("model-unavailable", reason, error.path))
            except DamagedError as error:
                reason = error.message
                self._index_damaged(error)
        self.spaces.append({"model": model.name, "used": False, "reason": reason})
        return None

    # -- fusion and forgetting -------------------------------------------------------------------

    def _candidates(self) -> int:
        return self.store.env.config.integer(f"memory.retrieval.{self.fusion}.candidates")

    def _ranked(self) -> list[Hit]:
        fused = self._fused()
        value = self.opened.snapshot.value
        now = to_millis(self.store.env.clock.now())
        forgetting = self.store.env.config.number("memory.retrieval.forgetting")
        hits = []
        for ordinal, score in fused.items():
            stability, review = value("stability", ordinal), value("review", ordinal)
            retained = retrievability(stability, review, now)
            final = score * (1.0 - forgetting * (1.0 - retained))
            hits.append(Hit(ordinal, value("id", ordinal), final, score, retained))
        hits.sort(
            key=lambda hit: (
                -hit.score,
                value("category", hit.ordinal) != "insight",
                -value("created", hit.ordinal),
                hit.id,
            )
        )
        return hits

    def _fused(self) -> dict[int, float]:
        count = self._candidates()
        chosen = fusion.candidates(self.words, self.dense, count)
        config = self.store.env.config
        prefix = f"memory.retrieval.{self.fusion}"
        lexical, dense = (config.number(f"{prefix}.{name}Weight") for name in ("lexical", "dense"))
        if not self.dense:
            return {ordinal: self.words[ordinal] for ordinal in chosen}
        if self.mode == "dense":
            lexical = 0.0
        if self.fusion == "rrf":
            weights = fusion.Weights(lexical, dense, config.number(f"{prefix}.k"))
            return fusion.rrf(chosen, self.words, self.dense, weights, count)
        return fusion.relative(chosen, self.words, self.dense, fusion.Weights(lexical, dense))

    # -- results ---------------------------------------------------------------------------------

    def _touch(self, shown: list[Hit]) -> None:
        from openclaw_cli.memory.touching import record_recalls

        scope = self.opened.snapshot.value
        found = [(scope("scope", h.ordinal), h.id, self._vector(h.ordinal)) for h in shown]
        self.warnings += record_recalls(self.store, found)

    def _vector(self, ordinal: int) -> Vector | None:
        try:
            return self.opened.snapshot.vector(ordinal)
        except DamagedError as error:
            self._index_damaged(error)
            return None

    def _results(self, hits: list[Hit]) -> tuple[list[dict[str, Any]], list[Hit]]:
        results: list[dict[str, Any]] = []
        shown: list[Hit] = []
        ranks = self._ranks() if self.request.explain else None
        for hit in hits:
            if len(results) >= self.top_k:
                break
            record = self._read(hit)
            if record is not None:
                language = self.opened.snapshot.value("language", hit.ordinal)
                row = _row(len(results) + 1, hit.score, record, language, self.request.level)
                if ranks is not None:
                    row["explain"] = ranks.explain(hit)
                results.append(row)
                shown.append(hit)
        return results, shown

    def _ranks(self) -> _Ranks:
        plain = self._words_of(self.opened.snapshot, scaled=False) if self.words else {}
        return _Ranks(self.words, plain, self.dense)

    def _read(self, hit: Hit) -> Record | None:
        scope = self.opened.snapshot.value("scope", hit.ordinal)
        return self.store.shown(self.opened, scope, hit.id, self.warnings)


class _Ranks:
    """Where each hit stood in the lists, for ``--explain``."""

    def __init__(
        self,
        words: Mapping[int, float],
        plain: Mapping[int, float],
        dense: list[fusion.DenseList],
    ) -> None:
        self._lexical = plain
        order = fusion.top(words, len(words))
        self._lexical_ranks = {ordinal: rank for rank, ordinal in enumerate(order, 1)}
        self._dense = [(space, {n: r for r, n in enumerate(space.top, 1)}) for space in dense]

    def explain(self, hit: Hit) -> dict[str, Any]:
        """Return the parts of one hit's score; a rank beyond the candidates is null."""
        lexical = None
        if hit.ordinal in self._lexical:
            lexical = {
                "rank": self._lexical_ranks[hit.ordinal],
                "score": self._lexical[hit.ordinal],
            }
        dense = None
        for space, ranks in self._dense:
            if hit.ordinal in space.cosines:
                dense = {
                    "model": space.model,
                    "rank": ranks.get(hit.ordinal),
                    "cosine": space.cosines[hit.ordinal],
                    "floor": space.floor,
                }
        return {
            "lexical": lexical,
            "dense": dense,
            "fused": hit.fused,
            "retrievability": hit.retained,
            "final": hit.score,
        }


def _row(rank: int, score: float, record: Record, language: str, level: str) -> dict[str, Any]:
    row = {
        "rank": rank,
        "id": record.id,
        "score": score,
        "l0": record.l0,
        "category": record.category,
        "scope": record.scope,
        "userId": record.user,
        "language": language,
        "createdAt": format_time(from_millis(record.created)),
        "updatedAt": format_time(from_millis(record.updated)),
    }
    if level != "l0":
        row["l1"] = record.l1
    if level == "l2":
        row["l2"] = record.l2
    return row


def _choice(value: str, allowed: tuple[str, ...], name: str) -> str:
    if value not in allowed:
        raise UsageError(f"--{name} {value!r} is unknown", hint="choose " + " or ".join(allowed))
    return value
