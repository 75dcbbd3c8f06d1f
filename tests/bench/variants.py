"""The program with one part exchanged: ``python -m tests.bench.variants VARIANT ARGUMENTS…``

``stand-in``: random unit vectors in place of the models'. ``fsyncs``: every fsync is counted; how
many were of the log and of other files is the last line on standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from zlib import crc32

from openclaw_cli.__main__ import main
from tests.bench.stores import memory


def stand_in() -> int:
    """Run the program with vectors that look like a model's and cost nothing."""
    import numpy as np

    from openclaw_cli.embed.onnx import OnnxEmbedder, Task
    from openclaw_cli.embed.protocol import Embedded

    def prepare(self, texts, *, query=False):
        chance = np.random.default_rng(crc32("\n".join(texts).encode()))
        rows = chance.standard_normal((len(texts), self.model.dimensions), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return Task(Embedded(rows, (False,) * len(texts)), [], 1)

    OnnxEmbedder.prepare = prepare
    return main()


def fsyncs() -> int:
    """Run the program and tell how often it forced the log and other files to disk."""
    from openclaw_cli.store import fsio

    log = memory(Path(os.environ["OPENCLAW_STATE_DIR"])) / "wal.jsonl"
    counts: Counter[str] = Counter()

    class Counting(fsio.Disk):
        def fsync(self, fd: int) -> None:
            is_log = log.exists() and os.path.samestat(os.fstat(fd), log.stat())
            counts["log" if is_log else "others"] += 1
            super().fsync(fd)

    fsio.disk = Counting()
    status = main()
    print(json.dumps(counts), file=sys.stderr)
    return status


if __name__ == "__main__":
    variant = {"stand-in": stand_in, "fsyncs": fsyncs}[sys.argv.pop(1)]
    sys.exit(variant())
