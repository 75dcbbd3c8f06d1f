"""Retrieval quality as a test: recall@10 must not fall below what has been reached.

The sets that may be shipped always run; the others when the folder that
``OPENCLAW_EVAL_DATA`` names, or ``../shared/data/retrieval`` beside the checkout, is there.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.eval.retrieval import read, recall

ROOT = Path(__file__).resolve().parent.parent.parent
SHIPPED = ROOT / "tests" / "data" / "retrieval"
ELSEWHERE = Path(
    os.environ.get("OPENCLAW_EVAL_DATA") or ROOT.parent / "shared" / "data" / "retrieval"
)
COVERED = {
    "madial_zh": 0.69, "madial_en": 0.62, "locomo_obs": 0.73, "locomo_turns": 0.68,
    "xqs_en": 0.955, "xqs_zh": 0.93, "cmrc_sent": 0.90,
}  # fmt: skip
UNCOVERED = {"xqs_es": 0.90, "xqs_ar": 0.85, "jaquad_a": 0.98}


def data_set(name):
    for folder in (SHIPPED / name, ELSEWHERE / name):
        if folder.is_dir():
            return read(folder)
    pytest.skip(f"the data set {name} may not be shipped and is not here")


@pytest.mark.parametrize("name", COVERED)
def test_both_lists_together_find_more_than_either(name):
    found = recall(data_set(name), ("hybrid", "lexical", "dense"))
    assert found["hybrid"] >= COVERED[name]
    assert found["hybrid"] >= max(found["lexical"], found["dense"]) - 0.005


@pytest.mark.parametrize("name", UNCOVERED)
def test_words_alone_find_what_no_model_reads(name):
    assert recall(data_set(name), ("lexical",))["lexical"] >= UNCOVERED[name]


def test_rank_fusion_stays_a_sound_choice():
    found = recall(data_set("madial_zh"), ("hybrid",), "rrf")
    assert found["hybrid"] >= 0.65
