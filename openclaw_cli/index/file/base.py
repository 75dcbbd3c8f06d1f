"""A generation as it is read: each file is believed once its fingerprint agrees, and not before."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

from openclaw_cli.errors import DamagedError
from openclaw_cli.index.file import generation as layout
from openclaw_cli.index.file.checksum import full_digest, sample_digest
from openclaw_cli.index.file.lines import SortedLines, key_of
from openclaw_cli.index.file.metadata import CODED, PLAIN, MetadataFile
from openclaw_cli.index.file.postings import PostingsFile
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import files, generations

if TYPE_CHECKING:
    from openclaw_cli.index.file.hnsw import HnswIndex
    from openclaw_cli.index.file.vectors import Matrix

_REPAIR = "openclaw memory index"


class Base:
    """One opened generation.

    All its files are mapped at once, for they are removed when a later generation is put in place.
    One that is missing or does not fit its fingerprint raises `DamagedError` when it is first
    needed; the others go on being used.
    """

    def __init__(self, folder: generations.Generation, config: layout.GenerationConfig) -> None:
        self.folder = folder
        self.config = config
        self._held: dict[str, mmap.mmap | bytes] = {}
        self._unheld: dict[str, str] = {}
        for name in config.files:
            try:
                self._held[name] = folder.map(name)
            except (OSError, ValueError) as error:
                self._unheld[name] = f"cannot be opened: {error}"
        self._metadata: MetadataFile | None = None
        self._postings: PostingsFile | None = None
        self._lookup: SortedLines | None = None
        self._matrices: dict[str, Matrix] = {}

    @property
    def is_whole(self) -> bool:
        """Whether every file was there to be opened."""
        return not self._unheld

    @property
    def count(self) -> int:
        """How many documents the generation holds."""
        return self.config.records

    def trusted(self, name: str) -> mmap.mmap | bytes:
        """Return the bytes of a file; raises `DamagedError` when they are not those written."""
        data = self._held.get(name)
        if data is None:
            raise self.damaged(name, self._unheld.get(name, "is not recorded"))
        mark = self.config.files[name]
        if len(data) != mark.bytes:
            raise self.damaged(name, f"has {len(data)} bytes, expected {mark.bytes}")
        if sample_digest(data) != mark.sample:
            raise self.damaged(name, "does not have the content that was written")
        return data

    def damaged(self, name: str, reason: str) -> DamagedError:
        """Return the error that tells which index file is not sound."""
        path = self.folder.path / name
        return DamagedError(
            f"index file {name} {reason}",
            path=str(path),
            hint=f"nothing is lost: the index is rebuilt from the records by: {_REPAIR}",
        )

    @property
    def metadata(self) -> MetadataFile:
        """The columns of ``metadata.json``."""
        if self._metadata is None:
            found = MetadataFile(self.trusted(layout.METADATA))
            if found.count != self.count:
                raise self.damaged(layout.METADATA, f"has {found.count} documents")
            self._metadata = found
        return self._metadata

    @property
    def postings(self) -> PostingsFile:
        """The terms of ``bm25.idx``."""
        if self._postings is None:
            self._postings = PostingsFile(self.trusted(layout.POSTINGS))
        return self._postings

    def release(self) -> None:
        """Let go of the pages of the files, for a run that reads all of them, one after another."""
        for data in self._held.values():
            files.release(data)

    def check(self) -> None:
        """Raise `DamagedError` unless everything that the next generation takes over is sound.

        The lookup is written anew, but only a new generation mends it.
        """
        self.trusted(layout.LOOKUP)
        self.release()
        try:
            for name in (*PLAIN, *CODED):
                length = len(self.metadata.take(name))
                if length != self.count:
                    raise ValueError(f"column {name} has {length} values")
                self.release()
            for bucket in self.postings.buckets:
                self.metadata.take_lengths(bucket)
            self.release()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self.damaged(layout.METADATA, f"is not sound: {error}") from error
        held = self.metadata.coded("space")
        for model, space in self.config.spaces.items():
            size = len(self.trusted(layout.vectors_name(model)))
            rows = sum(map(held.codes.count, held.matching([model])))
            if rows != space.info.vectors or size != space.bytes:
                raise self.damaged(layout.METADATA, f"does not fit the vectors of {model}")

    def lookup(self, kind: str, text: str) -> list[int]:
        """Return the ordinals under a key of ``lookup.idx``; kinds are "hash" and "slot"."""
        if self._lookup is None:
            self._lookup = SortedLines(self.trusted(layout.LOOKUP))
        line = self._lookup.find(key_of(kind, text))
        if line is None:
            return []
        import orjson

        ordinals: list[int] = orjson.loads(line)[2]
        return ordinals

    def rows(self, model: str) -> list[int]:
        """Return the ordinal of each row of a space's matrix, ascending."""
        spaces = self.metadata.coded("space")
        wanted = spaces.matching([model])
        return [n for n, code in enumerate(spaces.codes) if code in wanted]

    def matrix(self, model: str) -> Matrix:
        """Return the vectors of one space, shape (rows, dimensions), mapped into memory."""
        if model not in self._matrices:
            from openclaw_cli.index.file.vectors import matrix_of

            info = self.config.spaces[model].info
            name = layout.vectors_name(model)
            data = self.trusted(name)
            try:
                self._matrices[model] = matrix_of(data, info.vectors, info.dimensions)
            except ValueError as error:
                raise self.damaged(name, str(error)) from error
        return self._matrices[model]

    def graph(self, model: str) -> HnswIndex | None:
        """Return the HNSW graph of a space, or None when there is none that can be used.

        The graph only repeats what the matrix says, so one that is not sound is passed over.
        """
        recorded = self.config.spaces[model].hnsw
        if recorded is None:
            return None
        from openclaw_cli.index.file import hnsw

        if not hnsw.available():
            return None
        name = str(recorded.get("file"))
        if name not in self.config.files:
            return None
        key = layout.graph_key(self.config.spaces[model].info)
        try:
            meta = hnsw.HnswMeta.from_dict(recorded)
            path = str(self.folder.path / name)
            return hnsw.open_index(path, meta, self.matrix(model), model=key)
        except DamagedError:
            return None

    def verify(self) -> list[tuple[str, str]]:
        """Compare every file with its full SHA-256; return (path, reason) of those that differ."""
        bad = list(self._unheld.items())
        for name, data in self._held.items():
            mark = self.config.files[name]
            if len(data) != mark.bytes or full_digest(data) != mark.sha256:
                bad.append((name, "does not have the content that was written"))
        return [(str(self.folder.path / name), reason) for name, reason in bad]


def open_base(paths: MemoryPaths) -> tuple[Base | None, str | None]:
    """Open the current generation; return it, or None and the reason why there is none to use."""
    folder = generations.open_current(paths)
    if folder is None:
        return None, None if not paths.index.is_symlink() else "the index link leads nowhere"
    base: Base | None = None
    problem: str | None = None
    try:
        base = Base(folder, layout.decode(folder.read(layout.CONFIG)))
        if base.is_whole:
            return base, None
    except FileNotFoundError:
        problem = f"{layout.CONFIG} is missing"
    except ValueError as error:
        problem = str(error)
    if generations.current_number(paths) != folder.number:
        folder.close()
        return open_base(paths)  # switched and swept while it was opened
    if base is None:
        folder.close()
    return base, problem
