"""The table of what is measured: the command, on which stores, and the goal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.measure import Sample
from tests.bench.stores import batches, memory, record_id

SIZES = (1_000, 10_000, 100_000)
#: Records of the store on which embedding is measured.
EMBEDDING = 10_000


@dataclass(frozen=True)
class Goal:
    """``quantity`` must be at most ``limit`` times that of another work (a floor or ROW@SIZE).

    Without another work ``limit`` stands for itself; ``least`` turns "at most" into "at least".
    """

    quantity: str
    limit: float
    of: str | None = None
    least: bool = False


@dataclass(frozen=True)
class Row:
    """A command and its goals by the number of records in the store.

    In ``command`` stand {en} and {zh} (queries) and {note} (a text), others each run, {id},
    {session}, and {lines} (the file that the store was made of). ``store`` is what `Stores` makes:
    shared (a memory of so many records), sessions (so many), history (a session of so many
    messages). A row that ``changes`` its store works on a copy, or on nothing when it is
    ``empty``. ``prepare`` is called with the store before each run; ``look`` afterwards, for
    figures that the kernel does not tell.
    """

    name: str
    command: str
    goals: dict[int, tuple[Goal, ...]]
    sizes: tuple[int, ...] = SIZES
    status: int = 0
    program: tuple[str, ...] = ("openclaw_cli",)
    store: str = "shared"
    changes: bool = False
    empty: bool = False
    prepare: Callable[[Path, int], None] | None = None
    look: Callable[[Path, int, Sample], dict[str, float]] | None = None

    def goals_at(self, size: int) -> tuple[Goal, ...]:
        """Return what must be reached on a store of ``size`` records."""
        return self.goals.get(size, ())


def _cpu(limit: float, of: str | None = None) -> Goal:
    return Goal("cpu", limit, of)


def _at_least(quantity: str, limit: float, of: str | None = None) -> Goal:
    return Goal(quantity, limit, of, least=True)


def _without_index(state: Path, _number: int) -> None:
    (memory(state) / "index").unlink(missing_ok=True)
    shutil.rmtree(memory(state) / "generations")


def _one_edit(state: Path, number: int) -> None:
    """Change the text of one record as an editor does: by a new file."""
    path = memory(state) / "records" / "user" / f"{record_id(number)}.json"
    document = json.loads(path.read_bytes())
    text = f"The day of the meeting has been changed to number {number}."
    document |= {"content": {"l0": text, "l1": "", "l2": text}, "language": "en"}
    new = path.with_suffix(".new")
    new.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    new.replace(path)


def _nothing(state: Path, number: int) -> None:
    """Move what the last run has made out of the way; it is removed with the other copies.

    Not before the next run: where ext4 has no journal it goes round every inode that was freed
    within the last minutes, so that after 10,000 removals a new file costs five times as much.
    """
    if state.exists():
        state.rename(state.with_name(f"{state.name}-{number}"))


def _rates(_state: Path, size: int, sample: Sample) -> dict[str, float]:
    return {
        "rate": size / sample.figures["wall"],
        "cpu_rate": size / sample.figures["cpu"],
        "cores": sample.figures["cpu"] / sample.figures["wall"],
    }


def _indexed(state: Path, size: int, sample: Sample) -> dict[str, float]:
    files = (memory(state) / "index").resolve().iterdir()
    bytes_ = sum(path.stat().st_size for path in files if not path.name.startswith("vector"))
    embedded = json.loads(sample.out)["data"]["embedded"]
    return {**_rates(state, size, sample), "embedded": embedded, "index": bytes_ / 1e6}


def _embedded(state: Path, _size: int, sample: Sample) -> dict[str, float]:
    embedded = json.loads(sample.out)["data"]["embedded"]
    return {**_rates(state, embedded, sample), "embedded": embedded}


def _fsyncs(_state: Path, size: int, sample: Sample) -> dict[str, float]:
    counts = json.loads(sample.err.splitlines()[-1])
    return {"fsyncs": counts["log"] / batches(size), "fsyncs_of_others": counts["others"]}


_SEARCH_GOALS = {
    10_000: (_cpu(1.8, "F1"), Goal("peak", 45)),
    100_000: (_cpu(2.5, "F1"), Goal("peak", 110)),
}
_HYBRID_GOALS = {
    10_000: (_cpu(1.4, "F2"), Goal("peak", 1.4, "F2")),
    100_000: (_cpu(1.8, "F2"),),
}
_HELP_GOALS = {0: (_cpu(1.8, "F1"),)}

ROWS = (
    # The first of those that write: see `_nothing`.
    Row(
        "import",
        "memory import {lines} --no-embed",
        {10_000: (_at_least("rate", 5_000), _at_least("cpu_rate", 5_000))},
        (1_000, 10_000),
        empty=True,
        changes=True,
        prepare=_nothing,
        look=_rates,
    ),
    Row(
        "import-fsyncs",
        "memory import {lines} --no-embed",
        {10_000: (Goal("fsyncs", 1),)},
        (10_000,),
        program=("tests.bench.variants", "fsyncs"),
        empty=True,
        changes=True,
        prepare=_nothing,
        look=_fsyncs,
    ),
    Row("version", "--version", {0: (_cpu(3.0, "F0"),)}, (0,)),
    Row("help", "--help", _HELP_GOALS, (0,)),
    Row("memory-help", "memory --help", _HELP_GOALS, (0,)),
    Row("usage-error", "memory serch", _HELP_GOALS, (0,), status=2),
    Row("lexical-en", "memory search {en} --mode lexical", _SEARCH_GOALS),
    Row("lexical-zh", "memory search {zh} --mode lexical", _SEARCH_GOALS),
    Row("hybrid-en", "memory search {en}", _HYBRID_GOALS),
    Row("hybrid-zh", "memory search {zh}", _HYBRID_GOALS),
    Row(
        "add-no-embed",
        "memory add {note} --no-embed",
        {100_000: (_cpu(1.3, "add-no-embed@1000"), _cpu(2.0, "F1"))},
        changes=True,
    ),
    Row("add", "memory add {note}", {100_000: (_cpu(1.4, "F2"),)}, changes=True),
    Row("get", "memory get {id}", {100_000: (_cpu(1.6, "F1"),)}),
    Row("list", "memory list --limit 50", {100_000: (_cpu(2.5, "F1"),)}),
    Row(
        "index-first",
        "memory index --no-embed --json",
        {
            10_000: (_at_least("cpu_rate", 10_000), Goal("index", 6)),
            100_000: (_at_least("cpu_rate", 10_000), Goal("peak", 400)),
        },
        changes=True,
        prepare=_without_index,
        look=_indexed,
    ),
    Row(
        "index-embedding",
        "memory index --json",
        {
            EMBEDDING: (
                _at_least("rate", 0.9, "F3"),
                _at_least("cpu_rate", 0.9, "F3"),
                _at_least("cores", 0.9, "F3"),
            )
        },
        (EMBEDDING,),
        changes=True,
        prepare=_without_index,
        look=_embedded,
    ),
    Row(
        "index-unchanged",
        "memory index",
        {10_000: (_cpu(2.5, "F1"),), 100_000: (_cpu(1.5),)},
        changes=True,
    ),
    Row(
        "index-one-change",
        "memory index --json",
        {100_000: (_cpu(3.0), Goal("embedded", 1))},
        changes=True,
        prepare=_one_edit,
        look=_indexed,
    ),
    Row(
        "session-list",
        "session list",
        {1_000: (_cpu(2.0, "F1"),), 100_000: (_cpu(10.0, "session-list@1000"),)},
        (1_000, 100_000),
        store="sessions",
    ),
    Row(
        "session-ensure",
        "session ensure --channel bench --chat 7",
        {1_000: (_cpu(2.0, "F1"),), 100_000: (_cpu(10.0, "session-ensure@1000"),)},
        (1_000, 100_000),
        store="sessions",
    ),
    Row(
        "session-append",
        "session append {session} --role user --content {note}",
        {10: (_cpu(1.5, "F1"),), 1_000_000: (_cpu(1.2, "session-append@10"),)},
        (10, 1_000_000),
        store="history",
        changes=True,
    ),
    Row(
        "session-tail",
        "session tail {session} -n 50",
        {1_000_000: (_cpu(2.0, "F1"), Goal("peak", 100))},
        (1_000_000,),
        store="history",
    ),
    Row(
        "session-context",
        "session context {session} --budget 2500",
        {1_000_000: (_cpu(2.0, "F1"), Goal("peak", 100))},
        (1_000_000,),
        store="history",
    ),
    Row(
        "session-search",
        "session search 第7件事",
        {600_000: (_cpu(3.0), Goal("peak", 100))},
        (600_000,),
        store="history",
    ),
)
