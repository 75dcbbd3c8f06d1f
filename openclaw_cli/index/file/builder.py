"""Writes the files of the next generation: what is kept of the base, and new documents after it."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file import postings
from openclaw_cli.index.file.base import Base
from openclaw_cli.index.file.checksum import sample_digest_of
from openclaw_cli.index.file.lookups import lookup_lines
from openclaw_cli.index.file.metadata import Columns
from openclaw_cli.index.file.runs import SortedRuns
from openclaw_cli.index.file.statcache import Stat, Stats
from openclaw_cli.index.protocol import Document, SpaceInfo, Vector
from openclaw_cli.store import files, fsio
from openclaw_cli.store.newfile import NewFile

_COPY_ROWS = 2048
_PIECES = 256
_ROWS = 1024


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
        self._scratch = ExitStack()
        self._columns = Columns()
        self._postings = postings.PostingsBuilder(self._runs())
        self._spaces: dict[str, _SpaceWriter] = {}
        self._kept = self._kept_ordinals()
        self._files: dict[str, layout.Fingerprint] = {}
        self._graphs: list[str] = []
        self._rows: list[tuple[Any, ...]] = []
        self._stats = Stats()

    def __enter__(self) -> Builder:
        base = self._plan.base
        if base is not None:
            self._columns.copy(base.metadata, self._kept)
            for model in base.config.spaces:
                self._copy_vectors(base, model)
            base.release()
        self._old = len(self._columns)
        return self

    def __exit__(self, *failure: object) -> None:
        self._stack.close()
        self._scratch.close()

    def _runs(self) -> SortedRuns:
        return self._scratch.enter_context(SortedRuns(self._plan.folder))

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
        if len(self._rows) >= _ROWS:
            self._flush_rows()
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

    def _flush_rows(self) -> None:
        if self._rows:
            self._columns.extend(self._rows)
            self._rows.clear()

    def finish(self, known: Stats, scanned: int) -> layout.GenerationConfig:
        """Write every file but ``config.json``, synced.

        ``known`` are the stats of the base's documents, those to drop included, ``scanned`` is
        when (ns) the oldest of all stats was taken.
        """
        self._stack.close()
        self._flush_rows()
        lengths = self._lengths()
        self._write(layout.POSTINGS, self._posting_lines(lengths))
        self._write(layout.METADATA, self._columns.encoded(lengths))
        self._write(layout.LOOKUP, lookup_lines(self._columns.lookups(), self._runs()))
        stats = known.of(self._kept)
        stats.extend(self._stats)
        self._write(layout.STAT_CACHE, stats.encoded(scanned))
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

    @property
    def pending(self) -> int:
        """How many of the documents wait for a vector."""
        return self._columns.pending()

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
        sample = sample_digest_of(target.path)
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
        sample = sample_digest_of(path)
        self._files[name] = layout.Fingerprint(meta.length, meta.sha256, sample)
        self._graphs.append(name)
        return {"file": name, **meta.as_dict()}

    def _lengths(self) -> dict[str, array[int]]:
        """Return the document lengths per bucket, kept and new documents together."""
        base = self._plan.base
        total, old = len(self._columns), self._old
        joined: dict[str, array[int]] = {}
        for bucket in base.metadata.buckets if base is not None else ():
            assert base is not None
            column = base.metadata.take_lengths(bucket)
            kept = column if self._kept is None else [column[n] for n in self._kept]
            joined[bucket] = array("I", kept)
        for bucket, fresh in self._postings.lengths.items():
            joined.setdefault(bucket, array("I", bytes(4 * old))).extend(fresh[old:])
        for filled in joined.values():
            filled.frombytes(bytes(filled.itemsize * (total - len(filled))))
        return {bucket: column for bucket, column in joined.items() if any(column)}

    def _posting_lines(self, lengths: Mapping[str, array[int]]) -> Iterator[bytes]:
        stats = {name: (sum(map(bool, held)), sum(held)) for name, held in lengths.items()}
        yield postings.header(self._plan.tokenizer, stats)
        base, fresh = self._plan.base, self._postings.take_blocks()
        if base is None:
            yield from fresh
        else:
            yield from postings.merged_lines(base.postings, self._remap(), fresh)

    def _remap(self) -> list[int] | None:
        if self._kept is None or self._plan.base is None:
            return None
        remap = [-1] * self._plan.base.count
        for new, ordinal in enumerate(self._kept):
            remap[ordinal] = new
        return remap


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
