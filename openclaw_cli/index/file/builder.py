"""Writes the files of the next generation: what is kept of the base, and new documents after it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from openclaw_cli.errors import DamagedError
from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file import postings
from openclaw_cli.index.file.base import Base
from openclaw_cli.index.file.checksum import sample_digest
from openclaw_cli.index.file.metadata import Columns
from openclaw_cli.index.file.snapshot import slot_of
from openclaw_cli.index.protocol import Document, SpaceInfo, Vector
from openclaw_cli.store import files, fsio
from openclaw_cli.store.newfile import NewFile

_COPY_ROWS = 2048
_PIECES = 1024
_STAT_NAMES = ("size", "after", "inode", "crc")

#: A record file's size, mtime in ns, inode, and the CRC-32 of its bytes.
Stat = tuple[int, int, int, int]


class Plan(NamedTuple):
    """What a generation is made of: its numbers, the base's documents to keep, HNSW's threshold.

    ``dropped`` are the base's ordinals that do not go over.
    """

    number: int
    tokenizer: str
    folder: Path
    base: Base | None
    dropped: frozenset[int]
    hnsw_threshold: int = 200_000


class Builder:
    """Builds one generation; nobody sees it before it is published.

    `add` takes the new documents one by one in any order, `finish` writes the files. Used as a
    context so that the open files are closed whatever happens.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._stack = ExitStack()
        self._columns = Columns()
        self._postings = postings.PostingsBuilder()
        self._spaces: dict[str, _SpaceWriter] = {}
        self._kept = self._kept_ordinals()
        self._files: dict[str, layout.Fingerprint] = {}
        self._graphs: list[str] = []
        self._rows: list[tuple[Any, ...]] = []
        self._stats: list[Stat] = []

    def __enter__(self) -> Builder:
        base = self._plan.base
        if base is not None:
            self._columns.copy(base.metadata, self._kept)
            for model in base.config.spaces:
                self._copy_vectors(base, model)
        self._old = len(self._columns)
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()

    def _kept_ordinals(self) -> list[int] | None:
        base, dropped = self._plan.base, self._plan.dropped
        if base is None or not dropped:
            return None
        return [ordinal for ordinal in range(base.count) if ordinal not in dropped]

    def _copy_vectors(self, base: Base, model: str) -> None:
        info = base.config.spaces[model].info
        keep = [
            row for row, ordinal in enumerate(base.rows(model)) if ordinal not in self._plan.dropped
        ]
        if keep:
            writer = self._space(info.model, info.digest, info.dimensions)
            writer.copy(base.matrix(model), keep)

    def _space(self, model: str, digest: str, dimensions: int) -> _SpaceWriter:
        if model not in self._spaces:
            path = self._plan.folder / layout.vectors_name(model)
            target = self._stack.enter_context(NewFile(path))
            info = SpaceInfo(model, digest, dimensions, 0)
            self._spaces[model] = _SpaceWriter(info, target)
        return self._spaces[model]

    def add(self, document: Document, stat: Stat) -> None:
        """Add one document; ``stat`` describes its record file."""
        vector = document.vector
        self._rows.append(
            (
                document.id,
                document.content_hash,
                document.created,
                document.updated,
                document.stability,
                document.review,
                int(document.pending),
                document.scope,
                document.category,
                document.user,
                document.key,
                document.language,
                document.tags,
                vector.model if vector else None,
            )
        )
        self._postings.add(self._old + len(self._stats), document.terms)
        self._stats.append(stat)
        if vector is not None:
            space = self._space(vector.model, vector.digest, len(vector.data) // 4)
            space.add(vector)

    def finish(self, kept_stats: Iterable[Stat], scanned: int) -> layout.GenerationConfig:
        """Write every file but ``config.json``, synced.

        ``kept_stats`` are those of the base's kept documents, ``scanned`` is when (ns) the oldest
        of the stats was taken.
        """
        self._stack.close()
        self._columns.extend(self._rows)
        lengths = self._lengths()
        self._write(layout.POSTINGS, self._posting_lines(lengths))
        self._write(layout.METADATA, self._columns.encoded(lengths))
        self._write(layout.LOOKUP, self._lookup_lines())
        self._write(layout.STAT_CACHE, [_encode_stats([*kept_stats, *self._stats], scanned)])
        spaces = {name: self._close_space(writer) for name, writer in self._spaces.items()}
        return layout.GenerationConfig(
            generation=self._plan.number,
            seq=0,
            tokenizer=self._plan.tokenizer,
            records=len(self._columns),
            unindexed=0,
            spaces=spaces,
            files=self._files,
            scanned=scanned,
        )

    def seal(self, config: layout.GenerationConfig, seq: int, unindexed: int) -> None:
        """Write ``config.json``: the generation holds every log entry up to ``seq``.

        ``unindexed`` is how many record files were too damaged to go in.
        """
        with NewFile(self._plan.folder / layout.CONFIG) as target:
            target.write(config._replace(seq=seq, unindexed=unindexed).encode())

    def _write(self, name: str, chunks: Iterable[bytes]) -> None:
        pieces = iter(chunks)
        with NewFile(self._plan.folder / name) as target:
            while block := b"".join(islice(pieces, _PIECES)):
                target.write(block)
        self._note(name, target)

    def _note(self, name: str, target: NewFile) -> None:
        sample = sample_digest(files.mapped(target.path))
        self._files[name] = layout.Fingerprint(target.length, target.sha256, sample)

    def _close_space(self, writer: _SpaceWriter) -> layout.Space:
        name = layout.vectors_name(writer.info.model)
        self._note(name, writer.target)
        graph = self._build_graph(writer) if writer.rows > self._plan.hnsw_threshold else None
        return layout.Space(writer.info._replace(vectors=writer.rows), writer.mean(), graph)

    def _build_graph(self, writer: _SpaceWriter) -> dict[str, Any] | None:
        from openclaw_cli.index.file import hnsw
        from openclaw_cli.index.file.vectors import matrix_of

        if not hnsw.available():
            return None
        info = writer.info
        name = layout.graph_name(info.model, first=not self._graphs)
        path = self._plan.folder / name
        matrix = matrix_of(files.mapped(writer.target.path), writer.rows, info.dimensions)
        meta = hnsw.build(matrix, str(path), model=layout.graph_key(info))
        fsio.adopt(path)
        sample = sample_digest(files.mapped(path))
        self._files[name] = layout.Fingerprint(meta.length, meta.sha256, sample)
        self._graphs.append(name)
        return {"file": name, **meta.as_dict()}

    def _lengths(self) -> dict[str, list[int]]:
        """Return the document lengths per bucket, kept and new documents together."""
        base = self._plan.base
        total, old = len(self._columns), self._old
        joined: dict[str, list[int]] = {}
        for bucket in base.metadata.buckets if base is not None else ():
            assert base is not None
            column = base.metadata.lengths(bucket)
            joined[bucket] = column if self._kept is None else [column[n] for n in self._kept]
        for bucket, fresh in self._postings.lengths.items():
            joined[bucket] = joined.get(bucket, [0] * old) + fresh[old:].tolist()
        for column in joined.values():
            column.extend([0] * (total - len(column)))
        return {bucket: column for bucket, column in joined.items() if any(column)}

    def _posting_lines(self, lengths: dict[str, list[int]]) -> Iterator[bytes]:
        stats = {name: (sum(map(bool, held)), sum(held)) for name, held in lengths.items()}
        yield postings.header(self._plan.tokenizer, stats)
        base = self._plan.base
        old: Iterable[bytes] = () if base is None else base.postings
        yield from postings.merged_lines(old, self._remap(), self._postings.take_lines())

    def _remap(self) -> list[int] | None:
        if self._kept is None or self._plan.base is None:
            return None
        remap = [-1] * self._plan.base.count
        for new, ordinal in enumerate(self._kept):
            remap[ordinal] = new
        return remap

    def _lookup_lines(self) -> Iterator[bytes]:
        yield b'{"format":2}\n'
        lists: dict[tuple[str, str], list[int]] = defaultdict(list)
        for ordinal, digest in enumerate(self._columns.plain["hash"]):
            lists["hash", digest].append(ordinal)
        columns = [self._columns.texts(name) for name in ("key", "scope", "user", "category")]
        for ordinal, (key, scope, user, category) in enumerate(zip(*columns, strict=True)):
            if key is not None:
                lists["slot", slot_of(scope, user, category, key)].append(ordinal)
        yield from sorted(
            orjson.dumps((kind, text, ordinals)) + b"\n" for (kind, text), ordinals in lists.items()
        )


class _SpaceWriter:
    """The matrix file of one space while it grows; keeps the sum of its rows for the mean."""

    def __init__(self, info: SpaceInfo, target: NewFile) -> None:
        self.info = info
        self.target = target
        self.rows = 0
        self._sum: Any = None

    def copy(self, matrix: Any, keep: list[int]) -> None:
        """Copy the rows ``keep`` of an older matrix, in blocks."""
        for begin in range(0, len(keep), _COPY_ROWS):
            self._take(matrix[keep[begin : begin + _COPY_ROWS]])

    def add(self, vector: Vector) -> None:
        """Append one vector."""
        import numpy as np

        self._take(np.frombuffer(vector.data, "<f4").reshape(1, -1))

    def _take(self, block: Any) -> None:
        import numpy as np

        # One row that is no vector must not make the mean, and with it the whole index, unreadable.
        part = block[np.isfinite(block).all(axis=1)].sum(axis=0, dtype=np.float64)
        self._sum = part if self._sum is None else self._sum + part
        self.rows += len(block)
        self.target.write(block.tobytes())

    def mean(self) -> tuple[float, ...]:
        """Return the mean vector of the space."""
        return tuple((self._sum / self.rows).tolist())


def _encode_stats(stats: list[Stat], scanned: int) -> bytes:
    """Return the bytes of the stat cache; times are told from the oldest on, which is shorter."""
    sizes, times, inodes, sums = zip(*stats, strict=True) if stats else ((), (), (), ())
    oldest = min(times, default=0)
    columns = (sizes, [time - oldest for time in times], inodes, sums)
    document = {
        "scanned": scanned,
        "oldest": oldest,
        **dict(zip(_STAT_NAMES, columns, strict=True)),
    }
    return orjson.dumps(document)


def read_stats(base: Base) -> tuple[list[Stat], int]:
    """Return the stat cache of a generation by ordinal, and when (ns) it was taken.

    A cache that is not sound is no loss: then nothing is known, and every file is read.
    """
    try:
        document = orjson.loads(bytes(base.trusted(layout.STAT_CACHE)))
        sizes, after, inodes, sums = (document[name] for name in _STAT_NAMES)
        oldest, scanned = document["oldest"], document["scanned"]
        stats = list(zip(sizes, [oldest + time for time in after], inodes, sums, strict=True))
    except (DamagedError, ValueError, KeyError, TypeError):
        return [(0, 0, 0, 0)] * base.count, 0
    return (stats, scanned) if len(stats) == base.count else ([(0, 0, 0, 0)] * base.count, 0)
