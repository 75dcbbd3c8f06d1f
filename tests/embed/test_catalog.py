from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from openclaw_cli.embed.catalog import SHIPPED_DIRECTORY, Catalog, check_present, verify
from openclaw_cli.embed.manifest import ModelInfo, load_manifest
from openclaw_cli.errors import EXIT_UNAVAILABLE, DamagedError, UnavailableError

TinyModel = Callable[..., ModelInfo]
ENGLISH, CHINESE = "bge-small-en-v1.5", "bge-small-zh-v1.5"
GRAPH_DIGESTS = {
    ENGLISH: "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    CHINESE: "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
}


@pytest.fixture
def shipped() -> Catalog:
    return Catalog()


def names(models: list[object]) -> list[str]:
    return [getattr(model, "name", "none") for model in models]


def test_two_models_are_shipped_and_sound(shipped: Catalog) -> None:
    assert [model.name for model in shipped.models] == [ENGLISH, CHINESE]
    assert shipped.problems == ()
    for model in shipped.models:
        assert model.digest == GRAPH_DIGESTS[model.name]
        check_present(model)
        assert verify(model).ok
        assert (model.same, model.new, model.licence) == (0.92, 0.70, "MIT")
        licence = (SHIPPED_DIRECTORY / model.name / "LICENSE").read_text(encoding="utf-8")
        assert "MIT License" in licence
        assert "Beijing Academy of Artificial Intelligence" in licence


def test_listing_models_loads_neither_numpy_nor_a_runtime() -> None:
    script = (
        "import sys; from openclaw_cli.embed.catalog import Catalog; Catalog().models;"
        "import openclaw_cli.embed.onnx, openclaw_cli.embed.protocol;"
        "print([m for m in ('numpy', 'onnxruntime', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_an_unknown_model_is_unavailable(shipped: Catalog) -> None:
    with pytest.raises(UnavailableError, match="no-such") as caught:
        shipped.get("no-such")
    assert caught.value.exit_status == EXIT_UNAVAILABLE


# Which model embeds a record.


@pytest.mark.parametrize(
    ("language", "han_share", "expected"),
    [
        ("zh", 1.0, CHINESE),
        ("zh", 0.3, CHINESE),
        ("zh-Hant", 0.05, CHINESE),
        ("en", 0.10, CHINESE),
        ("en", 0.09, ENGLISH),
        ("en", 0.0, ENGLISH),
        ("en-GB", 0.0, ENGLISH),
        ("es", 0.0, None),
        ("ar", 0.0, None),
        ("ja", 0.0, None),
        ("ja", 0.45, None),
        ("ko", 0.2, None),
        ("und", 0.0, None),
    ],
)
def test_a_record_is_embedded_by_the_model_that_reads_it_or_by_none(
    shipped: Catalog, language: str, han_share: float, expected: str | None
) -> None:
    model = shipped.record_space(language, han_share)
    assert (model.name if model else None) == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", ENGLISH), ("es", ENGLISH), ("zh", CHINESE), ("und", None)],
)
def test_a_record_whose_language_is_a_guess_is_where_such_a_query_looks(
    shipped: Catalog, language: str, expected: str | None
) -> None:
    model = shipped.record_space(language, 0.0, confident=False)
    assert (model.name if model else None) == expected


# Which spaces a query asks.


@pytest.mark.parametrize(
    ("language", "han", "latin", "confident", "expected"),
    [
        ("zh", 1.0, 0.0, True, [CHINESE]),
        ("en", 0.0, 1.0, True, [ENGLISH]),
        ("und", 0.0, 1.0, False, [ENGLISH]),
        ("es", 0.0, 1.0, False, [ENGLISH]),
        ("es", 0.0, 1.0, True, []),
        ("ar", 0.0, 0.0, True, []),
        ("und", 0.0, 0.0, False, []),
        ("ja", 0.4, 0.0, True, []),
        ("ja", 0.4, 0.6, True, []),
        # 用户偏好 TypeScript: 4 Han characters, 10 Latin letters
        ("zh", 4 / 14, 10 / 14, True, [CHINESE, ENGLISH]),
        # 用户住在北京市海淀区 x
        ("zh", 10 / 11, 1 / 11, True, [CHINESE]),
        # what does 用户 mean here: few letters, but the weight is a real share
        ("en", 2 / 18, 16 / 18, True, [CHINESE, ENGLISH]),
        ("en", 1 / 30, 29 / 30, True, [ENGLISH]),
    ],
)
def test_a_query_asks_the_spaces_that_can_hold_its_answer(
    shipped: Catalog,
    language: str,
    han: float,
    latin: float,
    confident: bool,
    expected: list[str],
) -> None:
    assert names([*shipped.query_spaces(language, han, latin, confident)]) == expected


def test_an_installed_model_for_all_languages_takes_what_no_other_reads(
    tiny_model: TinyModel, tmp_path: Path
) -> None:
    tiny_model()
    catalog = Catalog(tmp_path)
    assert [model.origin for model in catalog.models] == ["shipped", "shipped", "installed"]
    assert names([catalog.covering(code) for code in ("en", "zh", "es", "ja")]) == [
        ENGLISH,
        CHINESE,
        "tiny",
        "tiny",
    ]


def test_the_configured_model_comes_first_for_whatever_it_reads(
    tiny_model: TinyModel, tmp_path: Path
) -> None:
    tiny_model()
    catalog = Catalog(tmp_path, preferred="tiny")
    assert names([*catalog.query_spaces("zh", 0.3, 0.7, True)]) == ["tiny"]
    tiny_model(languages=["es"])
    catalog = Catalog(tmp_path, preferred="tiny")
    assert names([catalog.covering("en"), catalog.covering("es")]) == [ENGLISH, "tiny"]


# Folders of the operator.


def test_a_models_folder_that_does_not_exist_is_no_problem(tmp_path: Path) -> None:
    assert Catalog(tmp_path / "none").problems == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "other"},
        {"name": 5},
        {"dimensions": 0},
        {"dimensions": "4"},
        {"dimensions": True},
        {"maxTokens": 1},
        {"pooling": "last"},
        {"lowercase": 1},
        {"languages": []},
        {"languages": [1]},
        {"queryInstruction": None},
        {"files": []},
        {"files": "model.onnx"},
        {"files": [{"name": "../model.onnx", "bytes": 1, "sha256": "0" * 64}]},
        {"files": [{"name": "model.onnx", "bytes": -1, "sha256": "0" * 64}]},
        {"files": [{"name": "model.onnx", "bytes": 1, "sha256": "no"}]},
        {"thresholds": {"same": 0.5, "new": 0.7}},
        {"thresholds": {"same": 0.5}},
        {"licence": ""},
    ],
    ids=str,
)
def test_a_manifest_with_a_wrong_field_is_a_problem_and_the_others_stay_usable(
    tiny_model: TinyModel, tmp_path: Path, fields: dict[str, object]
) -> None:
    with pytest.raises(DamagedError):
        tiny_model(**fields)
    catalog = Catalog(tmp_path)
    assert [model.name for model in catalog.models] == [ENGLISH, CHINESE]
    [problem] = catalog.problems
    assert problem.path == str(tmp_path / "tiny" / "model.json")
    assert "model.json" in problem.message


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b" " * (1 << 20) + b"{}"], ids=range(5)
)
def test_a_manifest_that_is_not_a_small_json_object_is_damaged(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(DamagedError) as caught:
        load_manifest(tmp_path, "installed")
    assert caught.value.path == str(tmp_path / "model.json")


def test_a_folder_without_a_manifest_is_a_problem_but_a_hidden_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / ".half-made").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    assert [problem.path for problem in Catalog(tmp_path).problems] == [
        str(tmp_path / "empty" / "model.json")
    ]


def test_an_installed_model_does_not_replace_a_shipped_one(tmp_path: Path) -> None:
    folder = tmp_path / ENGLISH
    folder.mkdir()
    manifest = json.loads((SHIPPED_DIRECTORY / ENGLISH / "model.json").read_text(encoding="utf-8"))
    (folder / "model.json").write_text(json.dumps(manifest), encoding="utf-8")
    catalog = Catalog(tmp_path)
    assert catalog.get(ENGLISH).origin == "shipped"
    assert "is not used" in catalog.problems[0].message


# Files of a model.


def test_missing_short_and_different_files_are_told_apart(tiny_model: TinyModel) -> None:
    model = tiny_model()
    path = model.directory / "model.onnx"
    graph = path.read_bytes()
    assert verify(model).ok

    path.write_bytes(graph[:-1] + b"\0")
    assert hashlib.sha256(path.read_bytes()).hexdigest() != model.digest
    assert [(p.path, p.kind) for p in verify(model).problems] == [(str(path), "different")]
    check_present(model)

    path.write_bytes(graph[:-1])
    assert [p.kind for p in verify(model).problems] == ["length"]
    with pytest.raises(UnavailableError, match="bytes instead of"):
        check_present(model)

    path.unlink()
    assert [p.kind for p in verify(model).problems] == ["missing"]
    with pytest.raises(UnavailableError) as caught:
        check_present(model)
    assert caught.value.path == str(path)
    assert caught.value.exit_status == EXIT_UNAVAILABLE
