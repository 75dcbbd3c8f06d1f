"""Recall of the analyser under a plain BM25 of its own, on retrieval sets in a directory.

    python tests/eval/lexical_reference.py DIRECTORY [SET...]

Each set is a folder with ``corpus.jsonl`` and ``queries.jsonl`` (objects with ``id``, ``text`` and
perhaps ``scope``) and ``qrels.tsv`` (query id, document id, 1). A query searches the documents of
its own scope only. Prints recall@10 and MRR@10 over the first 400 queries of every set.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from openclaw_cli.text.analyze import document_terms, query_terms

K1 = 1.5
B = 0.75
QUERIES = 400
DEPTH = 10
DEFAULT_SETS = (
    "xqs_es", "xqs_ar", "jaquad_a", "locomo_obs", "locomo_turns", "madial_en", "madial_zh",
    "xqs_en", "xqs_zh", "cmrc_sent", "xquad_zh", "cmrc_trial",
)  # fmt: skip


@dataclass(slots=True)
class Bucket:
    """Postings and lengths of one bucket of one store."""

    postings: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    lengths: dict[str, int] = field(default_factory=dict)


class Store:
    """The documents of one scope, scored with BM25 per bucket and summed over buckets."""

    def __init__(self) -> None:
        self.buckets: dict[str, Bucket] = defaultdict(Bucket)

    def add(self, identifier: str, terms_by_bucket: dict[str, dict[str, int]]) -> None:
        """Add one document by its terms."""
        for name, terms in terms_by_bucket.items():
            bucket = self.buckets[name]
            bucket.lengths[identifier] = sum(terms.values())
            for term, count in terms.items():
                bucket.postings[term][identifier] = count

    def search(self, terms_by_bucket: dict[str, list[str]]) -> list[str]:
        """Return the best documents, best first."""
        scores: dict[str, float] = defaultdict(float)
        for name, terms in terms_by_bucket.items():
            bucket = self.buckets[name]
            total = len(bucket.lengths)
            average = sum(bucket.lengths.values()) / total if total else 1.0
            for term in terms:
                found = bucket.postings.get(term)
                if not found:
                    continue
                idf = math.log(1 + (total - len(found) + 0.5) / (len(found) + 0.5))
                for identifier, count in found.items():
                    length = bucket.lengths[identifier] / average
                    scores[identifier] += (
                        idf * count * (K1 + 1) / (count + K1 * (1 - B + B * length))
                    )
        return sorted(scores, key=lambda identifier: (-scores[identifier], identifier))[:DEPTH]


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def evaluate(folder: Path) -> tuple[float, float, float]:
    """Return recall@10, MRR@10 and microseconds per document of one set."""
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text("utf-8").splitlines():
        query, document, *_ = line.split("\t")
        relevant[query].add(document)
    corpus = read_jsonl(folder / "corpus.jsonl")
    start = time.process_time()
    analysed = [document_terms(document["text"]) for document in corpus]
    micros = (time.process_time() - start) / max(1, len(corpus)) * 1e6
    stores: dict[str, Store] = defaultdict(Store)
    for record, terms in zip(corpus, analysed, strict=True):
        stores[record.get("scope", "")].add(record["id"], terms)
    queries = [q for q in read_jsonl(folder / "queries.jsonl") if relevant[q["id"]]][:QUERIES]
    recall = reciprocal = 0.0
    for question in queries:
        store = stores[question.get("scope", "")]
        hits = store.search(query_terms(question["text"], set(store.buckets)))
        wanted = relevant[question["id"]]
        recall += len(wanted.intersection(hits)) / len(wanted)
        ranks = [rank for rank, hit in enumerate(hits, 1) if hit in wanted]
        reciprocal += 1 / ranks[0] if ranks else 0.0
    return recall / len(queries), reciprocal / len(queries), micros


def main(arguments: list[str]) -> int:
    """Evaluate the named sets, or the default ones, below a directory."""
    if not arguments:
        print(__doc__)
        return 2
    root = Path(arguments[0])
    for name in arguments[1:] or DEFAULT_SETS:
        recall, reciprocal, micros = evaluate(root / name)
        print(f"{name:14} R@10 {recall:.3f}  MRR {reciprocal:.3f}  {micros:7.1f} us/document")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
