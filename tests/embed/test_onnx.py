from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.embed import onnx
from openclaw_cli.embed.catalog import SHIPPED_DIRECTORY, Catalog
from openclaw_cli.embed.manifest import ModelInfo
from openclaw_cli.embed.onnx import OnnxEmbedder
from openclaw_cli.errors import EXIT_UNAVAILABLE, InvalidTextError, UnavailableError

TinyModel = Callable[..., ModelInfo]

# int8 kernels differ a little between processors.
NEAR = 0.04


def cosine(embedder: OnnxEmbedder, one: str, other: str) -> float:
    vectors = embedder.embed([one, other]).vectors
    return float(vectors[0] @ vectors[1])


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("User is 32 years old", "User is 33 years old", 0.923),
        ("User likes Java", "User dislikes Java", 0.861),
        ("User lives in Berlin", "User lives in Munich", 0.874),
        ("User prefers dark mode", "User prefers the dark theme", 0.917),
    ],
)
def test_english_pairs_have_the_known_cosines(
    english: OnnxEmbedder, one: str, other: str, expected: float
) -> None:
    assert cosine(english, one, other) == pytest.approx(expected, abs=NEAR)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("用户偏好 TypeScript", "用户偏好 Java", 0.785),
        ("用户今年32岁", "用户今年33岁", 0.942),
        ("用户住在北京", "用户住在上海", 0.782),
        ("用户偏好深色模式", "用户喜欢暗色主题", 0.728),
    ],
)
def test_chinese_pairs_have_the_known_cosines(
    chinese: OnnxEmbedder, one: str, other: str, expected: float
) -> None:
    assert cosine(chinese, one, other) == pytest.approx(expected, abs=NEAR)


def test_names_with_accents_are_told_apart_by_the_chinese_model(chinese: OnnxEmbedder) -> None:
    assert cosine(chinese, "用户叫 Müller", "用户叫 Möller") < 0.95


def test_capitals_and_accents_make_no_difference_to_the_chinese_model(
    chinese: OnnxEmbedder,
) -> None:
    assert cosine(chinese, "用户常去 CAFÉ", "用户常去 cafe") == pytest.approx(1.0, abs=1e-6)


def test_vectors_have_length_one_and_the_dimensions_of_the_manifest(
    english: OnnxEmbedder, chinese: OnnxEmbedder
) -> None:
    for embedder, dimensions in ((english, 384), (chinese, 512)):
        vectors = embedder.embed(["", "a", "北京 is big " * 40]).vectors
        assert vectors.shape == (3, dimensions)
        assert vectors.dtype == np.float32
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_give_no_vectors_and_load_nothing() -> None:
    embedder = OnnxEmbedder(Catalog().get("bge-small-zh-v1.5"))
    embedded = embedder.embed([])
    assert embedded.vectors.shape == (0, 512)
    assert embedded.truncated == ()


# Batches.


@given(lengths=st.lists(st.integers(0, 600), max_size=80))
def test_batches_hold_every_text_once_in_order_and_as_many_as_the_budget_allows(
    lengths: list[int],
) -> None:
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batches = onnx._batches(order, lengths)
    assert [index for batch in batches for index in batch] == order
    for number, batch in enumerate(batches):
        longest = max(1, *(lengths[index] for index in batch))
        assert len(batch) == 1 or len(batch) * longest <= onnx._BATCH_TOKENS
        assert len(batch) <= onnx._BATCH_TEXTS
        if number < len(batches) - 1:
            more = len(batch) + 1
            assert more > onnx._BATCH_TEXTS or more * longest > onnx._BATCH_TOKENS


def test_the_order_of_the_texts_is_kept(tiny_model: TinyModel) -> None:
    words = {"one": (1, 1), "two": (2, 4), "three": (3, 9)}
    texts = [" ".join([list(words)[i * i % 3]] * (7 * i % 5 + 1)) for i in range(100)]
    embedded = OnnxEmbedder(tiny_model("bent"), threads=2).embed(texts)
    for text, vector in zip(texts, embedded.vectors, strict=True):
        expected = np.array(words[text.split()[0]] * 2)
        assert vector == pytest.approx(expected / np.linalg.norm(expected))


def test_flags_of_truncation_follow_their_texts(tiny_model: TinyModel) -> None:
    texts = [" ".join(["one"] * (7 * index % 12 + 1)) for index in range(60)]
    embedded = OnnxEmbedder(tiny_model()).embed(texts)
    assert embedded.truncated == tuple(len(text.split()) > 8 for text in texts)


def mixed(name: str) -> list[str]:
    """Return some 70 short and long texts of the model's language."""
    subjects, habits = (
        (["User", "The team", "A colleague"], ["drinks green tea", "deploys on Friday", "swims"])
        if name == "english"
        else (["用户", "团队", "同事小李"], ["喜欢喝绿茶", "在周五部署", "常去游泳"])
    )
    lines = [f"{subject} {habit}" for subject in subjects for habit in habits]
    longer = [" ".join(lines[at:] + lines[:at])[: 12 + 9 * at * at] for at in range(len(lines))]
    extras = ("", "2024-05-01", "x" * 90, "v2", "!", "?")
    return [*longer, *longer, *(f"{line} {extra}" for line in lines for extra in extras)]


@pytest.mark.parametrize("name", ["english", "chinese"])
def test_the_same_list_gives_the_same_vectors_whatever_the_threads(
    name: str, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(name).model
    texts = mixed(name)
    once = OnnxEmbedder(model, threads=1).embed(texts).vectors
    for threads in (2, 4, 4):
        assert np.array_equal(OnnxEmbedder(model, threads).embed(texts).vectors, once)


@pytest.mark.parametrize("name", ["english", "chinese"])
def test_a_vector_made_in_a_batch_is_nearly_the_one_made_alone(
    name: str, request: pytest.FixtureRequest
) -> None:
    embedder = request.getfixturevalue(name)
    texts = mixed(name)
    together = embedder.embed(texts).vectors
    alone = np.stack([embedder.embed([text]).vectors[0] for text in texts])
    cosines = (together * alone).sum(axis=1)
    assert cosines.min() >= 0.98
    assert np.median(cosines) >= 0.99


def test_the_mean_over_the_tokens_of_a_text_leaves_its_padding_out(tiny_model: TinyModel) -> None:
    embedder = OnnxEmbedder(tiny_model("bent", pooling="mean"))
    vectors = embedder.embed(["two", "one two three", "one three"]).vectors
    for vector, (mean, mean_square) in zip(vectors, [(2, 4), (2, 14 / 3), (2, 5)], strict=True):
        assert vector[1] / vector[0] == pytest.approx(mean_square / mean)
        assert np.linalg.norm(vector) == pytest.approx(1.0)


def test_only_a_query_gets_the_instruction(english: OnnxEmbedder) -> None:
    text = "What does the user drink?"
    record = english.embed([text]).vectors[0]
    query = english.embed([text], query=True).vectors[0]
    written = english.embed([english.model.query_instruction + text]).vectors[0]
    assert not np.array_equal(record, query)
    assert np.array_equal(written, query)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("字" * 510, False),
        ("字" * 511, True),
        ("字 " * 100_000, True),
        (" " * 100_000 + "字" * 510, False),
        (" " * 100_000 + "字" * 511, True),
    ],
    ids=["fits", "one too many", "huge", "mostly blank", "blank and one too many"],
)
def test_a_text_with_more_tokens_than_the_model_reads_is_flagged(
    chinese: OnnxEmbedder, text: str, cut: bool
) -> None:
    assert chinese.embed(["短", text]).truncated == (False, cut)


def test_a_text_that_is_not_unicode_is_named(english: OnnxEmbedder) -> None:
    with pytest.raises(InvalidTextError, match="text 1 "):
        english.embed(["fine", "\ud800"])


def test_the_related_memory_is_nearer_than_the_unrelated(english: OnnxEmbedder) -> None:
    memories = english.embed(
        ["User drinks green tea every morning", "The deployment runs on Friday evening"]
    ).vectors
    query = english.embed(["what does the user have for breakfast"], query=True).vectors[0]
    assert memories[0] @ query > memories[1] @ query + 0.1


def test_both_models_together_leave_stderr_empty_even_after_a_fork() -> None:
    # The child leaves by os._exit, as those of multiprocessing do.
    script = """
import os, sys
from openclaw_cli.embed.catalog import Catalog
from openclaw_cli.embed.manifest import ModelInfo
from openclaw_cli.embed.onnx import OnnxEmbedder
embedders = [OnnxEmbedder(model, threads=2) for model in Catalog().models]
for embedder in embedders:
    embedder.embed(["one", "two", "three"])
child = os.fork()
for embedder in embedders:
    embedder.embed(["one", "two"])
if not child:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Tiny graphs that the real runtime runs.


def test_a_graph_that_takes_only_ids_works_and_pools_as_the_manifest_says(
    tiny_model: TinyModel,
) -> None:
    for pooling in ("cls", "mean"):
        embedded = OnnxEmbedder(tiny_model(pooling=pooling)).embed(["one two three"])
        assert embedded.vectors[0] == pytest.approx([0.5] * 4)


@pytest.mark.parametrize("answer", ["zero", "nan"])
def test_a_vector_without_length_is_an_error_that_names_the_text(
    tiny_model: TinyModel, answer: str
) -> None:
    embedder = OnnxEmbedder(tiny_model(answer))
    with pytest.raises(UnavailableError, match="no usable vector for text 0") as caught:
        embedder.embed(["one"])
    assert caught.value.exit_status == EXIT_UNAVAILABLE


def test_a_text_without_tokens_is_an_error_that_names_it(tiny_model: TinyModel) -> None:
    with pytest.raises(UnavailableError, match="no vector for text 3: no tokens"):
        OnnxEmbedder(tiny_model()).embed(["one", "two", "two three", "", "three"])


@pytest.mark.parametrize("threads", [1, 3])
def test_one_bad_text_among_many_is_named_whatever_the_threads(
    tiny_model: TinyModel, threads: int
) -> None:
    embedder = OnnxEmbedder(tiny_model(), threads)
    # Token 0 stands alone in the unknown word: its row is all zeros.
    with pytest.raises(UnavailableError, match="no usable vector for text 25: "):
        embedder.embed([*["one"] * 25, "unknown", *["two"] * 25])


def test_a_graph_of_other_dimensions_than_its_manifest_is_unavailable(
    tiny_model: TinyModel,
) -> None:
    with pytest.raises(UnavailableError, match="dimensions"):
        OnnxEmbedder(tiny_model(width=5)).embed(["one"])


@pytest.mark.parametrize(
    "damage",
    [lambda _: b"", lambda _: b"garbage" * 1000, lambda graph: graph[:-20]],
    ids=["empty", "garbage", "torn"],
)
def test_a_graph_that_the_runtime_rejects_is_unavailable_and_quiet(
    tiny_model: TinyModel,
    damage: Callable[[bytes], bytes],
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(UnavailableError) as caught:
        OnnxEmbedder(tiny_model(damage=damage)).embed(["one"])
    assert caught.value.exit_status == EXIT_UNAVAILABLE
    assert caught.value.path is not None
    assert capfd.readouterr() == ("", "")


def test_a_tokenizer_that_cannot_be_read_is_unavailable(tiny_model: TinyModel) -> None:
    with pytest.raises(UnavailableError, match="cannot be loaded"):
        OnnxEmbedder(tiny_model(tokenizer=b"{}")).embed(["one"])


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_one_changed_byte_is_found_before_use(tiny_model: TinyModel, name: str) -> None:
    model = tiny_model()
    path = model.directory / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(UnavailableError, match="SHA-256") as caught:
        OnnxEmbedder(model).embed(["one"])
    assert caught.value.path == str(path)


def test_a_missing_file_is_unavailable_with_its_path(tiny_model: TinyModel) -> None:
    model = tiny_model()
    (model.directory / "model.onnx").unlink()
    with pytest.raises(UnavailableError, match=r"model\.onnx") as caught:
        OnnxEmbedder(model).embed(["one"])
    assert caught.value.hint


def test_nothing_is_written_beside_the_models(english: OnnxEmbedder) -> None:
    english.embed(["a"])
    for name in ("bge-small-en-v1.5", "bge-small-zh-v1.5"):
        names = {path.name for path in (SHIPPED_DIRECTORY / name).iterdir()}
        assert names == {"LICENSE", "model.json", "model_quantized.onnx", "tokenizer.json"}


def test_embedding_writes_nothing_into_the_home_folder(tmp_path: Path) -> None:
    script = (
        "from openclaw_cli.embed.catalog import Catalog;"
        "from openclaw_cli.embed.onnx import OnnxEmbedder;"
        "OnnxEmbedder(Catalog().get('bge-small-zh-v1.5')).embed(['a'])"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    for name in ("XDG_CACHE_HOME", "ORT_DISABLE_TELEMETRY"):
        environment.pop(name, None)
    subprocess.run([sys.executable, "-c", script], env=environment, timeout=60, check=True)
    assert list(tmp_path.rglob("*")) == []
