"""Measure retrieval on a data set as an operator would get it: import, index, search.

One store per ``scope`` of the corpus, ``ts`` as createdAt, the present one day after the newest
record, recall among the first ten results. Run as a program for a table:
``python -m tests.eval.retrieval DIRECTORY [SET…] [--mode hybrid,lexical,dense]``.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from openclaw_cli.clock import Clock, parse_foreign_time
from openclaw_cli.config import Config
from openclaw_cli.environment import Environment
from openclaw_cli.errors import UnavailableError
from openclaw_cli.ids import IdSource
from openclaw_cli.memory.requests import IndexRequest, SearchRequest
from openclaw_cli.memory.service import MemoryService
from openclaw_cli.paths import StatePaths
from openclaw_cli.transfer.importer import ImportRequest, import_memories

QUERIES = 400


@dataclass
class DataSet:
    """Texts, queries and which texts answer them, by scope."""

    corpus: dict[str, list[dict]] = field(default_factory=lambda: defaultdict(list))
    queries: list[dict] = field(default_factory=list)
    relevant: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def read(folder: Path) -> DataSet:
    """Read a folder of corpus.jsonl, queries.jsonl and qrels.tsv."""
    found = DataSet()
    for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        found.corpus[item.get("scope", "")].append(item)
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        found.queries.append(json.loads(line))
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, document, _grade = line.split("\t")
        found.relevant[query].add(document)
    found.queries = [q for q in found.queries if q["id"] in found.relevant][:QUERIES]
    return found


def import_scope(items: list[dict], state: Path) -> tuple[MemoryService, dict[str, str]]:
    """Build a store of one scope; return it and which record holds which text of the corpus."""
    moments = [parse_foreign_time(item["ts"])[0] for item in items if "ts" in item]
    newest = max(moments, default=datetime(2026, 1, 1, tzinfo=UTC))
    clock = Clock(newest + timedelta(days=1))
    paths = StatePaths(state)
    env = Environment(paths, Config.load(paths.config, {}), clock, IdSource(clock), 10.0, "eval")
    service = MemoryService(env, "main")
    names, lines = {}, []
    for number, item in enumerate(items):
        names[f"doc-{number}"] = item["id"]
        line = {"id": f"doc-{number}", "text": item["text"]}
        line["createdAt"] = item.get("ts") or newest.isoformat()
        lines.append(json.dumps(line, ensure_ascii=False))
    imported = import_memories(service, ImportRequest(), io.BytesIO("\n".join(lines).encode()))
    assert imported.data["added"] == len(items), imported.data
    service.index(IndexRequest())
    return service, names


def recall(
    data: DataSet, modes: tuple[str, ...] = ("hybrid",), fusion: str = "relative"
) -> dict[str, float]:
    """Return recall@10 per mode, averaged over the queries."""
    totals: dict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as folder:
        stores = {
            scope: import_scope(items, Path(folder) / str(number))
            for number, (scope, items) in enumerate(data.corpus.items())
        }
        for query in data.queries:
            service, names = stores[query.get("scope", "")]
            wanted = data.relevant[query["id"]]
            for mode in modes:
                request = SearchRequest(query["text"], 10, mode, fusion)
                try:
                    hits = service.search(request).data["results"]
                except UnavailableError:
                    hits = []  # no model reads this query: dense alone finds nothing
                found = {names[hit["id"]] for hit in hits}
                totals[mode] += len(found & wanted) / len(wanted)
    return {mode: totals[mode] / len(data.queries) for mode in modes}


def main(argv: list[str]) -> None:
    """Print recall@10 of some data sets as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--mode", default="hybrid,lexical")
    parser.add_argument("--fusion", default="relative")
    options = parser.parse_args(argv)
    names = options.sets or sorted(p.parent.name for p in options.directory.glob("*/queries.jsonl"))
    for name in names:
        modes = tuple(options.mode.split(","))
        found = recall(read(options.directory / name), modes, options.fusion)
        print(name.ljust(16), *(f"{mode} {found[mode]:.4f}" for mode in modes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
