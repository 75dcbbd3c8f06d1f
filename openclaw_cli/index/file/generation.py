"""``config.json``: of what a generation was made, and the fingerprint of each of its files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from openclaw_cli.index.protocol import SpaceInfo
from openclaw_cli.store import wal

FORMAT = 2
CONFIG = "config.json"
POSTINGS = "bm25.idx"
METADATA = "metadata.json"
LOOKUP = "lookup.idx"
STAT_CACHE = "files.json"


def vectors_name(model: str) -> str:
    """Return the name of the matrix file of one embedding space."""
    return f"vectors.{model}.f32"


def graph_name(model: str, *, first: bool) -> str:
    """Return the name of the HNSW file of one embedding space; the first one's is the short one."""
    return "vector.idx" if first else f"vector.{model}.idx"


def graph_key(info: SpaceInfo) -> str:
    """Return what an HNSW file is bound to: the model and its digest."""
    return f"{info.model}@{info.digest}"


class Fingerprint(NamedTuple):
    """Byte length, full SHA-256, and the sampled checksum that is verified at every open."""

    bytes: int
    sha256: str
    sample: str


class Space(NamedTuple):
    """An embedding space as recorded: its info, its mean vector, and its HNSW graph if any."""

    info: SpaceInfo
    mean: tuple[float, ...]
    hnsw: dict[str, Any] | None = None

    @property
    def bytes(self) -> int:
        """The length of the matrix file: float32, one row a vector."""
        return self.info.vectors * self.info.dimensions * 4


class GenerationConfig(NamedTuple):
    """Everything that must agree before the other files are believed.

    ``unindexed`` counts the record files that were damaged, and so are in no index; ``scanned`` is
    when (ns) all record files were looked at last, 0 when that is not known.
    """

    generation: int
    seq: int
    tokenizer: str
    records: int
    unindexed: int
    spaces: Mapping[str, Space]
    files: Mapping[str, Fingerprint]
    scanned: int = 0

    def encode(self) -> bytes:
        """Return the bytes of ``config.json``: one object that carries its own checksum."""
        document = {
            "format": FORMAT,
            "generation": self.generation,
            "seq": self.seq,
            "tokenizer": self.tokenizer,
            "records": self.records,
            "unindexed": self.unindexed,
            "scanned": self.scanned,
            "spaces": {
                name: {
                    "digest": space.info.digest,
                    "dimensions": space.info.dimensions,
                    "vectors": space.info.vectors,
                    "hnsw": space.hnsw,
                    "mean": space.mean,
                }
                for name, space in self.spaces.items()
            },
            "files": {
                name: {"bytes": mark.bytes, "sha256": mark.sha256, "sample": mark.sample}
                for name, mark in self.files.items()
            },
        }
        return wal.encode_line(document)


def decode(data: bytes) -> GenerationConfig:
    """Return the configuration in ``data``; ``ValueError`` tells why there is none."""
    document, problem = wal.decode_line(data.removesuffix(b"\n"))
    if document is None:
        raise ValueError(f"{CONFIG}: {problem}")
    try:
        if document["format"] != FORMAT:
            raise ValueError(f"the index has format {document['format']}, not {FORMAT}")
        return GenerationConfig(
            generation=_count(document["generation"]),
            seq=_count(document["seq"]),
            tokenizer=str(document["tokenizer"]),
            records=_count(document["records"]),
            unindexed=_count(document["unindexed"]),
            spaces={name: _space(name, body) for name, body in document["spaces"].items()},
            files={
                name: Fingerprint(int(body["bytes"]), str(body["sha256"]), str(body["sample"]))
                for name, body in document["files"].items()
            },
            scanned=int(document.get("scanned", 0)),
        )
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{CONFIG} lacks a field or has one of the wrong type: {error}") from error


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < wal.SEQ_LIMIT:
        raise TypeError(f"{value!r:.40} is not a count")
    return value


def _space(name: str, body: dict[str, Any]) -> Space:
    dimensions, vectors = _count(body["dimensions"]), _count(body["vectors"])
    info = SpaceInfo(name, str(body["digest"]), dimensions, vectors)
    mean = tuple(float(value) for value in body["mean"])
    if len(mean) != info.dimensions:
        raise ValueError(f"{CONFIG}: the mean vector of {name} has the wrong length")
    graph = body.get("hnsw")
    return Space(info, mean, graph if isinstance(graph, dict) else None)
