"""Floors for finding memories by their words alone, on the licensed sets beside the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from openclaw_cli.text.languages import profile
from tests.eval.lexical_reference import evaluate, read_jsonl

DATA = Path(__file__).resolve().parent.parent / "data" / "retrieval"


@pytest.mark.parametrize(("name", "floor"), [("madial_zh", 0.58), ("madial_en", 0.59)])
def test_recall_of_memories_by_their_words(name, floor):
    recall, _, _ = evaluate(DATA / name)
    assert recall >= floor


@pytest.mark.parametrize(("name", "language"), [("madial_zh", "zh"), ("madial_en", "en")])
def test_every_memory_is_in_its_language(name, language):
    records = read_jsonl(DATA / name / "corpus.jsonl")
    assert {profile(record["text"]).language for record in records} == {language}
