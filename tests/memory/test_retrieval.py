"""Searching: what is there is found, by word and by meaning, in the right order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openclaw_cli.errors import NotFoundError, UnavailableError, UsageError
from openclaw_cli.memory.filters import Filters
from tests.support import Memory

ENGLISH = [
    "The user prefers green tea over coffee",
    "The deployment script lives in tools/deploy_prod.sh",
    "The dentist appointment is on Friday",
]
ODD_QUERIES = ["?!", "。", "the", "的", "\ud800", "a\0b", "🙂", "a" * 5000, "-", '"', "\\"]
CHINESE = ["用户偏好深色主题", "用户住在北京，养了一只猫", "部署脚本每天凌晨三点运行"]


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory):
    memory = Memory(tmp_path_factory.mktemp("bilingual") / "state")
    memory.imported([{"text": text} for text in ENGLISH + CHINESE], embed=True)
    memory.index(embed=True)
    return memory


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("favourite hot drink", ENGLISH[0]),
        ("toothache doctor", ENGLISH[2]),
        ("他喜欢什么界面颜色", CHINESE[0]),
        ("宠物", CHINESE[1]),
    ],
)
def test_meaning_is_found_without_a_common_word(bilingual, query, expected, mode):
    assert bilingual.found(query, mode)[0] == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("猫", CHINESE[1]),
        ("北京", CHINESE[1]),
        ("脚本部署", CHINESE[2]),
        ("DEPLOY", ENGLISH[1]),
        ("deploy_prod.sh", ENGLISH[1]),
        ("deployProd", ENGLISH[1]),
        ("TOOLS", ENGLISH[1]),
        ("ｔｅａ", ENGLISH[0]),
    ],
)
@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_words_parts_and_single_characters_are_found(bilingual, query, expected, mode):
    assert bilingual.found(query, mode)[0] == expected


def test_a_mixed_query_asks_both_spaces(bilingual):
    data = bilingual.search("部署 the deployment script", "hybrid").data
    assert {space["model"] for space in data["spaces"] if space["used"]} == {
        "bge-small-en-v1.5", "bge-small-zh-v1.5",
    }  # fmt: skip
    assert {hit["l0"] for hit in data["results"][:2]} == {ENGLISH[1], CHINESE[2]}


def test_a_model_that_does_not_read_the_language_is_not_asked(bilingual):
    result = bilingual.search("¿Cuándo es la cita con el dentista de la semana?", "hybrid")
    assert result.data["mode"] == "lexical"
    assert not any(space["used"] for space in result.data["spaces"])
    assert all("does not read" in space["reason"] for space in result.data["spaces"])
    with pytest.raises(UnavailableError):
        bilingual.search("¿Cuándo es la cita con el dentista de la semana?", "dense")


def test_the_parts_of_a_score_add_up(bilingual):
    for hit in bilingual.search("green tea", "hybrid", explain=True).data["results"]:
        explain = hit["explain"]
        expected = explain["fused"] * (1 - 0.2 * (1 - explain["retrievability"]))
        assert hit["score"] == explain["final"] == pytest.approx(expected)
        assert explain["dense"]["model"] == "bge-small-en-v1.5"
    best = bilingual.search("green tea", "hybrid", explain=True).data["results"][0]["explain"]
    assert best["lexical"]["rank"] == best["dense"]["rank"] == 1
    assert best["fused"] == pytest.approx(1.0)


def test_reciprocal_rank_fusion_can_be_chosen(bilingual):
    hit = bilingual.search("green tea", "hybrid", fusion="rrf").data["results"][0]
    assert hit["l0"] == ENGLISH[0]
    assert hit["score"] == pytest.approx(0.3 / 61 + 0.7 / 61)


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_an_empty_query_is_a_usage_error(bilingual, query):
    with pytest.raises(UsageError):
        bilingual.search(query)


@settings(max_examples=150, deadline=None)
@given(query=st.text(min_size=1, max_size=60).filter(str.strip))
def test_nothing_a_person_can_type_raises(bilingual, query):
    for hit in bilingual.search(query).data["results"]:
        assert hit["score"] > 0


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_odd_queries_are_answered(bilingual, query):
    bilingual.search(query, "hybrid")


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("indexed", [False, True])
def test_small_stores_rank_sensibly(memory, count, indexed):
    texts = ["The user likes green tea", "The user plays chess", "It rains", "A cat", "Snow fell"]
    memory.imported([{"text": text} for text in texts[:count]], embed=True)
    if indexed:
        memory.index(embed=True)
    for mode in ("hybrid", "lexical", "dense"):
        results = memory.search("green tea", mode).data["results"]
        assert results[0]["l0"] == texts[0]
        assert all(hit["score"] >= 0 for hit in results)


def test_filters_come_before_candidates(memory):
    lines = [{"text": f"tea number {n}", "user": "many"} for n in range(300)]
    lines += [{"text": "tea that stands at the very end of a rather long sentence", "user": "one"}]
    memory.imported(lines)
    memory.index()
    hits = memory.search("tea", filters=Filters(user=("one",))).data["results"]
    assert [hit["userId"] for hit in hits] == ["one"]


def test_what_is_forgotten_comes_later_but_is_found(memory):
    memory.imported(
        [
            {"text": "Went to the cinema", "createdAt": "2025-01-01T00:00:00Z"},
            {"text": "Went to the theatre", "createdAt": "2026-02-28T00:00:00Z"},
        ]
    )
    assert memory.found("went") == ["Went to the theatre", "Went to the cinema"]
    memory.state.joinpath("openclaw.json").write_text('{"memory":{"retrieval":{"forgetting":0}}}')
    scores = [hit["score"] for hit in memory.search("went").data["results"]]
    assert scores[0] == pytest.approx(scores[1])


def test_equal_scores_put_insights_first_then_newer_ones(memory):
    memory.imported(
        [
            {"text": "alpha", "id": "a", "createdAt": "2026-02-01T00:00:00Z"},
            {"text": "alpha", "id": "b", "createdAt": "2026-02-02T00:00:00Z"},
            {
                "text": "alpha",
                "id": "c",
                "category": "insight",
                "createdAt": "2026-01-01T00:00:00Z",
            },
        ]
    )
    memory.state.joinpath("openclaw.json").write_text('{"memory":{"retrieval":{"forgetting":0}}}')
    assert [hit["id"] for hit in memory.search("alpha").data["results"]] == ["c", "b", "a"]


def test_a_record_removed_by_hand_gives_a_warning_not_a_hit(memory):
    record = memory.add("Likes green tea")
    memory.add("Drinks tea at noon")
    memory.index()
    memory.path(record["id"]).unlink()
    result = memory.search("tea")
    assert [hit["l0"] for hit in result.data["results"]] == ["Drinks tea at noon"]
    assert "record-missing" in {warning.code for warning in result.warnings}


def test_damaged_vectors_leave_the_words(bilingual, tmp_path):
    import shutil

    shutil.copytree(bilingual.state, tmp_path / "state", symlinks=True)
    memory = Memory(tmp_path / "state")
    (path,) = memory.paths.index.glob("vectors.bge-small-en*")
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)
    result = memory.search("green tea", "hybrid")
    assert result.data["results"][0]["l0"] == ENGLISH[0]
    assert "index-stale" in {warning.code for warning in result.warnings}
    memory.index(embed=True, verify=True)
    assert not memory.search("green tea", "hybrid").warnings


def test_searching_an_agent_that_does_not_exist_names_the_nearest(memory):
    memory.add("x")
    with pytest.raises(NotFoundError) as caught:
        Memory(memory.state, "mian").search("x")
    assert "main" in (caught.value.hint or "")


def test_levels_bring_more_text(memory):
    memory.add("Summary", l1="Overview", l2="Everything")
    assert "l1" not in memory.search("summary").data["results"][0]
    assert memory.search("summary", level="l1").data["results"][0]["l1"] == "Overview"
    assert memory.search("summary", level="l2").data["results"][0]["l2"] == "Everything"


def test_a_word_in_a_record_of_another_space_is_not_buried_by_the_asked_space(memory):
    lines = [{"text": f"The user has read a book about the topic {n}"} for n in range(30)]
    memory.imported([*lines, {"text": "用户偏好 TypeScript，不喜欢 Java"}], embed=True)
    assert memory.found("typescript", "hybrid")[0] == "用户偏好 TypeScript，不喜欢 Java"
