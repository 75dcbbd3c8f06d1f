"""Small documents and stores for the tests of the index; no text, no model."""

from __future__ import annotations

import struct
from pathlib import Path

from openclaw_cli.index.file.base import open_base
from openclaw_cli.index.file.builder import Builder, Plan
from openclaw_cli.index.file.statcache import Stats, read_stats
from openclaw_cli.index.protocol import Document, Vector
from openclaw_cli.paths import MemoryPaths
from openclaw_cli.store import generations


def document(name, terms, **changes):
    """Return a document; ``terms`` maps bucket -> list of terms, repeated ones counted."""
    counted = {
        bucket: {term: words.count(term) for term in dict.fromkeys(words)}
        for bucket, words in terms.items()
        if words
    }
    plain = Document(
        id=name, scope="user", category="event", user=None, key=None, language="en", tags=(),
        content_hash=f"h-{name}", created=0, updated=0, stability=14.0, review=0, pending=False,
        terms=counted,
    )  # fmt: skip
    return plain._replace(**changes)


def vector(*values, model="toy"):
    """Return a unit vector of the model."""
    length = sum(value * value for value in values) ** 0.5
    data = struct.pack(f"<{len(values)}f", *(value / length for value in values))
    return Vector(model, f"digest-of-{model}", data)


def paths_in(folder: Path) -> MemoryPaths:
    """Return the memory paths below ``folder``, made."""
    paths = MemoryPaths(folder, folder / "memory")
    paths.root.mkdir(exist_ok=True, mode=0o700)
    return paths


def publish(paths, documents, dropped=(), seq=0, threshold=200_000):
    """Build the next generation of ``documents`` on top of the current one and return it."""
    base, _problem = open_base(paths)
    number, folder = generations.prepare(paths)
    plan = Plan(number, "test/1", folder, base, frozenset(dropped), threshold)
    stats = Stats() if base is None else read_stats(base)[0]
    with Builder(plan) as builder:
        for item in documents:
            builder.add(item, (1, 2, 3, 4))
        config = builder.finish(stats, 0)
        builder.seal(config, seq, 0)
    generations.publish(paths, number)
    generations.sweep(paths)
    opened, problem = open_base(paths)
    assert opened is not None, problem
    return opened
