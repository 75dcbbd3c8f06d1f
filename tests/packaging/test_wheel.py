"""The built package: what is in it."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from openclaw_cli import __version__
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

MODELS = "openclaw_cli/embed/data"
DIGESTS = {
    "bge-small-en-v1.5": "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    "bge-small-zh-v1.5": "15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
}
MIB = 1 << 20


@pytest.fixture(scope="module")
def opened(wheel: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(wheel) as archive:
        yield archive


def test_the_wheel_fits_every_platform_and_is_small_enough(wheel):
    assert wheel.name == f"openclaw_cli-{__version__}-py3-none-any.whl"
    assert wheel.stat().st_size <= 60 * MIB


@pytest.mark.parametrize("model", DIGESTS)
def test_the_models_are_in_the_wheel_unchanged(opened, model):
    data = opened.read(f"{MODELS}/{model}/model_quantized.onnx")
    assert hashlib.sha256(data).hexdigest() == DIGESTS[model]
    names = opened.namelist()
    for name in ("tokenizer.json", "model.json", "LICENSE"):
        assert f"{MODELS}/{model}/{name}" in names


def test_the_wheel_holds_the_package_and_nothing_else(opened):
    names = opened.namelist()
    assert {name.partition("/")[0] for name in names} == {
        "openclaw_cli",
        f"openclaw_cli-{__version__}.data",
        f"openclaw_cli-{__version__}.dist-info",
    }
    assert "openclaw_cli/py.typed" in names
    assert not [name for name in names if name.endswith((".pyc", ".jsonl")) or "/tests/" in name]


def test_completions_and_manual_pages_go_where_shells_and_man_look(opened):
    share = f"openclaw_cli-{__version__}.data/data/share"
    names = {n.removeprefix(f"{share}/") for n in opened.namelist() if n.startswith(share)}
    pages = {f"man/{path.relative_to(ROOT / 'man')}" for path in (ROOT / "man").glob("*/*")}
    assert names - pages == {
        "bash-completion/completions/openclaw",
        "bash-completion/completions/openclaw-cli",
        "zsh/site-functions/_openclaw-cli",
        "fish/vendor_completions.d/openclaw.fish",
        "fish/vendor_completions.d/openclaw-cli.fish",
    }
    assert pages <= names


def test_every_source_file_is_in_the_wheel(opened):
    sources = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "openclaw_cli").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert sources == {n for n in opened.namelist() if n.startswith("openclaw_cli/")}


def test_licences_and_entry_points_are_recorded(opened):
    info = f"openclaw_cli-{__version__}.dist-info"
    licence = " ".join(opened.read(f"{info}/licenses/LICENSE").decode().split())
    assert "openclaw-cli contributors" in licence
    assert "Beijing Academy of Artificial Intelligence" in licence
    entries = opened.read(f"{info}/entry_points.txt").decode()
    assert "openclaw = openclaw_cli.__main__:program" in entries
    assert "openclaw-cli = openclaw_cli.__main__:program" in entries
    metadata = opened.read(f"{info}/METADATA").decode()
    assert "License-Expression: MIT" in metadata
    assert "Requires-Python: >=3.11" in metadata


def test_the_source_distribution_holds_tests_and_every_model_once(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = archive.getnames()
    top = f"openclaw_cli-{__version__}"
    assert sorted(name for name in names if name.endswith(".onnx")) == [
        f"{top}/{MODELS}/{model}/model_quantized.onnx" for model in sorted(DIGESTS)
    ]
    assert f"{top}/tests/data/sample/NOTICE" in names
    assert f"{top}/Makefile" in names
    assert f"{top}/LICENSE" in names
