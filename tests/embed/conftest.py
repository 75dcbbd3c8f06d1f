"""The shipped models, loaded once, and tiny real models made on the spot."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from openclaw_cli.embed.catalog import Catalog
from openclaw_cli.embed.manifest import ModelInfo, load_manifest
from openclaw_cli.embed.onnx import OnnxEmbedder


@pytest.fixture(scope="session")
def english() -> OnnxEmbedder:
    return OnnxEmbedder(Catalog().get("bge-small-en-v1.5"), threads=2)


@pytest.fixture(scope="session")
def chinese() -> OnnxEmbedder:
    return OnnxEmbedder(Catalog().get("bge-small-zh-v1.5"), threads=2)


def _field(number: int, value: int | bytes | str) -> bytes:
    def varint(rest: int) -> bytes:
        out = b""
        while rest > 0x7F:
            out += bytes([rest & 0x7F | 0x80])
            rest >>= 7
        return out + bytes([rest])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def _node(kind: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    parts = [_field(1, name) for name in inputs] + [_field(2, output), _field(4, kind)]
    for name, number in attributes.items():
        parts.append(_field(5, _field(1, name) + _field(3, number) + _field(20, 2)))
    return b"".join(parts)


def _tensor_info(name: str, kind: int, dims: list[str]) -> bytes:
    shape = b"".join(_field(1, _field(2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def _tiny_graph(answer: str, width: int = 4) -> bytes:
    """ONNX bytes: token ids (N, L) -> hidden states (N, L, width) that hold the ids."""
    float_type, int64_type = 1, 7
    axis = _field(1, 1) + _field(2, int64_type) + _field(8, "axis") + _field(9, b"\x02" + b"\0" * 7)
    nodes = [
        _node("Cast", ["input_ids"], "ids", to=float_type),
        _node("Unsqueeze", ["ids", "axis"], "column"),
        _node("Concat", ["column"] * width, "wide", axis=2),
        _node("Mul", ["column", "column"], "square"),
        _node("Concat", ["column", "square"] * 2, "bent", axis=2),
        _node("Sub", ["wide", "wide"], "zero"),
        _node("Div", ["zero", "zero"], "nan"),
        _node("Identity", [answer], "hidden"),
    ]
    graph = (
        b"".join(_field(1, node) for node in nodes)
        + _field(2, "tiny")
        + _field(5, axis)
        + _field(11, _tensor_info("input_ids", int64_type, ["b", "l"]))
        + _field(12, _tensor_info("hidden", float_type, ["b", "l", "d"]))
    )
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


_TINY_TOKENIZER = json.dumps(
    {
        "version": "1.0",
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {
            "type": "WordLevel",
            "vocab": {"[UNK]": 0, "one": 1, "two": 2, "three": 3, "[PAD]": 4},
            "unk_token": "[UNK]",
        },
    }
).encode()


@pytest.fixture
def tiny_model(tmp_path: Path) -> Callable[..., ModelInfo]:
    """Write the folder of a tiny model for all languages and load its manifest.

    ``answer`` is what the graph gives: "wide" (token ids in every dimension), "bent" (ids and their
    squares by turns), "zero" or "nan". Padding has an id of its own, so that it would show.
    ``damage`` changes the graph's bytes before they are recorded; other fields go to the manifest.
    """

    def make(
        answer: str = "wide",
        *,
        width: int = 4,
        damage: Callable[[bytes], bytes] = bytes,
        tokenizer: bytes = _TINY_TOKENIZER,
        **fields: object,
    ) -> ModelInfo:
        graph = damage(_tiny_graph(answer, width))
        folder = tmp_path / "tiny"
        folder.mkdir(exist_ok=True)
        files = {"model.onnx": graph, "tokenizer.json": tokenizer}
        for name, content in files.items():
            (folder / name).write_bytes(content)
        manifest = {
            "name": "tiny",
            "dimensions": 4,
            "layers": 1,
            "maxTokens": 8,
            "languages": ["*"],
            "pooling": "cls",
            "queryInstruction": "",
            "lowercase": False,
            "files": [
                {"name": n, "bytes": len(c), "sha256": hashlib.sha256(c).hexdigest()}
                for n, c in files.items()
            ],
            "licence": "MIT",
            "authors": "nobody",
            "source": "made by the tests",
            "thresholds": {"same": 0.9, "new": 0.6},
            **fields,
        }
        (folder / "model.json").write_text(json.dumps(manifest), encoding="utf-8")
        return load_manifest(folder, "installed")

    return make
