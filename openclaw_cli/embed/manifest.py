"""The manifest of a local model (``model.json``) and what it says.

A manifest stands beside the files that it lists with their length and SHA-256; the first file
that ends in ``.onnx`` is the graph, ``tokenizer.json`` the tokenizer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from openclaw_cli.errors import DamagedError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

MANIFEST_NAME = "model.json"
TOKENIZER_NAME = "tokenizer.json"
GRAPH_SUFFIX = ".onnx"
ALL_LANGUAGES = "*"

Origin = Literal["shipped", "installed"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_POOLINGS = ("cls", "mean")
_MANIFEST_MAX_BYTES = 1 << 20


class ModelFile(NamedTuple):
    """One file of a model: its name in the folder, its length in bytes and its SHA-256 in hex."""

    name: str
    bytes: int
    sha256: str


class ModelInfo(NamedTuple):
    """A local embedding model as its manifest describes it.

    ``same`` and ``new`` are its deduplication thresholds: a cosine above ``same`` means the same
    statement, one below ``new`` a new one. ``lowercase`` says that its vocabulary knows neither
    capitals nor accents, so that texts lose both before they are tokenised.
    """

    name: str
    dimensions: int
    layers: int
    max_tokens: int
    languages: tuple[str, ...]
    pooling: str
    query_instruction: str
    lowercase: bool
    files: tuple[ModelFile, ...]
    licence: str
    authors: str
    source: str
    same: float
    new: float
    directory: Path
    origin: Origin

    @property
    def graph(self) -> ModelFile:
        """The ONNX graph among the files."""
        return next(file for file in self.files if file.name.endswith(GRAPH_SUFFIX))

    @property
    def digest(self) -> str:
        """The SHA-256 of the graph file: two models with one digest make the same vectors."""
        return self.graph.sha256

    def covers(self, language: str) -> bool:
        """Tell whether the model reads ``language`` (``zh-Hant`` counts as ``zh``)."""
        primary = language.partition("-")[0].lower()
        return ALL_LANGUAGES in self.languages or primary in self.languages

    def path(self, file: ModelFile) -> Path:
        """Where ``file`` lies."""
        return self.directory / file.name


def load_manifest(directory: Path, origin: Origin) -> ModelInfo:
    """Read ``directory/model.json``; DamagedError says what is wrong with it.

    The files that it lists are not opened here.
    """
    import orjson

    path = directory / MANIFEST_NAME
    fields = _Fields(str(path))
    try:
        with path.open("rb") as stream:
            content = stream.read(_MANIFEST_MAX_BYTES + 1)
    except OSError as error:
        raise fields.wrong(f"cannot be read ({error.strerror})") from error
    if len(content) > _MANIFEST_MAX_BYTES:
        raise fields.wrong("is larger than 1 MiB")
    try:
        fields.values = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise fields.wrong(f"is not JSON ({error})") from error
    if not isinstance(fields.values, dict):
        raise fields.wrong("is not a JSON object")
    return _model(fields, directory, origin)


def _model(fields: _Fields, directory: Path, origin: Origin) -> ModelInfo:
    name = fields.text("name")
    if not _NAME.fullmatch(name) or name != directory.name:
        raise fields.wrong(f"has the name {name!r} in the folder {directory.name!r}")
    pooling = fields.text("pooling")
    if pooling not in _POOLINGS:
        raise fields.wrong(f"has the pooling {pooling!r} (known: {', '.join(_POOLINGS)})")
    same, new = fields.thresholds()
    return ModelInfo(
        name=name,
        dimensions=fields.whole("dimensions"),
        layers=fields.whole("layers"),
        max_tokens=fields.whole("maxTokens", least=8),
        languages=fields.languages(),
        pooling=pooling,
        query_instruction=fields.text("queryInstruction", empty=True),
        lowercase=fields.flag("lowercase"),
        files=fields.files(),
        licence=fields.text("licence"),
        authors=fields.text("authors"),
        source=fields.text("source"),
        same=same,
        new=new,
        directory=directory,
        origin=origin,
    )


class _Fields:
    """Typed reading of manifest fields, every failure a DamagedError that names the field."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.values: dict[str, Any] = {}

    def wrong(self, what: str) -> DamagedError:
        return DamagedError(
            f"the model manifest {self.path} {what}",
            hint="correct the manifest or remove the model's folder",
            path=self.path,
        )

    def text(self, key: str, *, empty: bool = False) -> str:
        value = self.values.get(key)
        if not isinstance(value, str) or not (value or empty):
            raise self.wrong(f"needs a text in {key!r}")
        return value

    def whole(self, key: str, *, least: int = 1) -> int:
        value = self.values.get(key)
        if type(value) is not int or not least <= value <= 1 << 20:
            raise self.wrong(f"needs a whole number from {least} in {key!r}")
        return value

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if not isinstance(value, bool):
            raise self.wrong(f"needs true or false in {key!r}")
        return value

    def languages(self) -> tuple[str, ...]:
        value = self.values.get("languages")
        if not isinstance(value, list) or not value or not all(isinstance(x, str) for x in value):
            raise self.wrong("needs a list of language codes (or '*') in 'languages'")
        return tuple(code.partition("-")[0].lower() for code in value)

    def thresholds(self) -> tuple[float, float]:
        value = self.values.get("thresholds")
        found = [value.get(key) for key in ("same", "new")] if isinstance(value, dict) else []
        numbers = [float(x) for x in found if isinstance(x, (int, float))]
        if len(numbers) != 2 or not -1.0 <= numbers[1] <= numbers[0] <= 1.0:
            raise self.wrong("needs numbers 'new' <= 'same' between -1 and 1 in 'thresholds'")
        return numbers[0], numbers[1]

    def files(self) -> tuple[ModelFile, ...]:
        value = self.values.get("files")
        files = tuple(self._file(x) for x in value) if isinstance(value, list) else ()
        names = [file.name for file in files]
        graphs = sum(name.endswith(GRAPH_SUFFIX) for name in names)
        if graphs != 1 or names.count(TOKENIZER_NAME) != 1 or len(set(names)) != len(names):
            raise self.wrong(f"must list one {GRAPH_SUFFIX} file and one {TOKENIZER_NAME}")
        return files

    def _file(self, value: object) -> ModelFile:
        raw = value if isinstance(value, dict) else {}
        name, size, digest = raw.get("name"), raw.get("bytes"), raw.get("sha256")
        # A plain name only: a manifest may not point outside its own folder.
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self.wrong(f"lists a file with the name {name!r}")
        if type(size) is not int or size < 0:
            raise self.wrong(f"needs the length of {name!r} in 'bytes'")
        if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise self.wrong(f"needs the SHA-256 of {name!r} in 'sha256'")
        return ModelFile(name, size, digest)
