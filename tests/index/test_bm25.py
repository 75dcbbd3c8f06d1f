"""BM25 against an independent implementation, with a base, newer documents and deletions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_cli.index.file.snapshot import Snapshot
from openclaw_cli.index.protocol import Where
from tests.index.support import document, paths_in, publish

bm25s = pytest.importorskip("bm25s")
rank_bm25 = pytest.importorskip("rank_bm25")

words = st.sampled_from(list("abcdefgh"))
texts = st.lists(st.lists(words, min_size=1, max_size=9), min_size=1, max_size=14)


def oracle(corpus, query):
    """Return the scores of bm25s (Lucene's variant) for every text of the corpus."""
    retriever = bm25s.BM25(k1=1.5, b=0.75, method="lucene", dtype="float64")
    retriever.index(corpus, show_progress=False)
    known = [term for term in query if term in retriever.vocab_dict]
    return np.asarray(retriever.get_scores(known)) if known else np.zeros(len(corpus))


@settings(deadline=None)
@given(
    old=texts, new=texts, query=st.lists(words, min_size=1, max_size=4, unique=True), data=st.data()
)
def test_scores_equal_bm25s_with_newer_documents_and_deletions(
    old, new, query, data, tmp_path_factory
):
    dead = data.draw(st.sets(st.integers(0, len(old) - 1)))
    replaced = data.draw(st.sets(st.integers(0, len(old) - 1)))
    paths = paths_in(tmp_path_factory.mktemp("index"))
    base = publish(paths, [document(f"o{n}", {"en": held}) for n, held in enumerate(old)])
    changes = {f"n{n}": document(f"n{n}", {"en": held}) for n, held in enumerate(new)}
    changes |= {f"o{n}": document(f"o{n}", {"en": [*old[n], "h"]}) for n in replaced}
    changes |= dict.fromkeys((f"o{n}" for n in dead), None)
    live = {f"o{n}": held for n, held in enumerate(old)}
    live |= {f"n{n}": held for n, held in enumerate(new)}
    live |= {f"o{n}": [*old[n], "h"] for n in replaced}
    live = {name: held for name, held in live.items() if name not in {f"o{n}" for n in dead}}

    snapshot = Snapshot(base, changes)
    mask = snapshot.select(Where())
    found = snapshot.search_lexical({"en": query}, mask)
    scores = {snapshot.document(n).id: score for n, score in found.items()}
    if not live:
        assert scores == {}
        return
    expected = dict(zip(live, oracle(list(live.values()), query), strict=True))
    assert all(score > 0 for score in scores.values())
    for name, score in expected.items():
        assert scores.get(name, 0.0) == pytest.approx(score, abs=1e-6)


def test_the_order_is_that_of_rank_bm25_where_its_idf_is_positive(tmp_path):
    texts = (
        "the cat sat", "a dog ran far away from the cat", "birds sing", "cat cat cat",
        "nothing here", "fish swim", "one more bird", "and a horse",
    )  # fmt: skip
    corpus = [text.split() for text in texts]
    base = publish(
        paths_in(tmp_path), [document(str(n), {"en": held}) for n, held in enumerate(corpus)]
    )
    found = Snapshot(base, {}).search_lexical({"en": ["cat"]}, None)
    ours = sorted(found, key=lambda n: -found[n])
    theirs = rank_bm25.BM25Okapi(corpus, k1=1.5, b=0.75).get_scores(["cat"])
    assert ours == [n for n in np.argsort(-theirs) if theirs[n] > 0]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_first_records_of_a_store_are_ranked_with_positive_scores(tmp_path, count):
    held = [document(str(n), {"en": ["tea"] * (n + 1)}) for n in range(count)]
    for snapshot in (
        Snapshot(publish(paths_in(tmp_path), held), {}),
        Snapshot(None, {item.id: item for item in held}),
    ):
        found = snapshot.search_lexical({"en": ["tea"]}, None)
        assert len(found) == count
        assert all(score > 0 for score in found.values())


def test_buckets_are_scored_each_by_its_own_statistics(tmp_path):
    mixed = [
        document("1", {"zh": ["部署", "脚本"], "en": ["deploy"]}),
        document("2", {"zh": ["部署"]}),
        document("3", {"en": ["deploy", "deploy", "now"]}),
    ]
    snapshot = Snapshot(publish(paths_in(tmp_path), mixed), {})
    found = snapshot.search_lexical({"zh": ["部署"], "en": ["deploy"]}, None, scaled=False)
    chinese = oracle([["部署", "脚本"], ["部署"]], ["部署"])
    english = oracle([["deploy"], ["deploy", "deploy", "now"]], ["deploy"])
    assert [found[n] for n in range(3)] == pytest.approx(
        [chinese[0] + english[0], chinese[1], english[1]], abs=1e-6
    )


def test_a_whole_sentence_in_a_small_bucket_outranks_a_number_in_a_large_one(tmp_path):
    held = [document(str(n), {"zh": ["12" if n == 3 else "7", "会议"]}) for n in range(40)]
    held.append(document("german", {"de": ["benutz", "wohnt", "12"]}))
    query = ["benutz", "wohnt", "12"]
    snapshot = Snapshot(publish(paths_in(tmp_path), held), {})
    terms = {"zh": query, "de": query}
    ranking = snapshot.search_lexical(terms, None)
    assert max(ranking, key=lambda n: ranking[n]) == 40
    plain = snapshot.search_lexical(terms, None, scaled=False)
    assert plain[3] > plain[40]


def test_in_a_store_of_one_bucket_documents_are_ranked_by_bm25_as_it_is(tmp_path):
    held = [document(str(n), {"en": ["tea"] * (n + 1)}) for n in range(4)]
    snapshot = Snapshot(publish(paths_in(tmp_path), held), {})
    plain = snapshot.search_lexical({"en": ["tea"]}, None, scaled=False)
    assert snapshot.search_lexical({"en": ["tea"]}, None) == plain
