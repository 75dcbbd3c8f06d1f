"""What nothing of the kind can do without: the floors that the program is compared with.

``python -m tests.bench.floors COUNT [CELL]`` is F3: it embeds the English and Chinese texts of a
store with bare loops over the models, in the given cell of the grid or, without one, searches it.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product
from pathlib import Path

from tests.bench.measure import Sample, process
from tests.bench.stores import ROOT, Stores, texts

MODELS = ROOT / "openclaw_cli" / "embed" / "data"
EMBED_ONE = """
import numpy, onnxruntime, tokenizers
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
model = onnxruntime.InferenceSession("model_quantized.onnx", options, ["CPUExecutionProvider"])
ids = tokenizers.Tokenizer.from_file("tokenizer.json").encode("what did she say about it").ids
tokens = numpy.array([ids])
feeds = {"input_ids": tokens, "attention_mask": tokens * 0 + 1, "token_type_ids": tokens * 0}
model.run(None, feeds)
"""
#: (texts, tokens) of a batch at most, and (threads in a run, runs side by side).
BATCHES = ((1, 512), (8, 320), (16, 320), (16, 640), (32, 640), (32, 1280))
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
THREADS = ((CORES, 1), (1, CORES))
_SEARCHED = 384


def floors(stores: Stores, count: int) -> dict[str, Callable[[int], Sample]]:
    """Return the floors by name; F3 embeds the texts of the store of ``count`` records."""
    env = stores.env()
    english = "import os; os.chdir({!r}){}".format(str(MODELS / "bge-small-en-v1.5"), EMBED_ONE)
    loop = ["-m", "tests.bench.floors", str(count)]
    won: list[str] = []

    def bare_loop(_number: int) -> Sample:
        if not won:
            won.append(process(loop, env).out.decode().strip())
        sample = process([*loop, won[0]], env)
        return Sample({**sample.figures, **json.loads(sample.out)}, won[0].encode())

    return {
        "F0": lambda _number: process(["-c", "pass"], env),
        "F1": lambda _number: process(["-c", "import typer, orjson"], env),
        "F2": lambda _number: process(["-c", english], env),
        "F3": bare_loop,
    }


class _Loop:
    """A model and its texts as tokens, longest first."""

    def __init__(self, folder: Path, threads: int) -> None:
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(
            str(folder / "model_quantized.onnx"), options, ["CPUExecutionProvider"]
        )
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(512)

    def run(self, batch: tuple[int, int], side_by_side: int, words: list[str]) -> None:
        """Tokenise and embed all texts."""
        rows = sorted((self._tokenizer.encode(text).ids for text in words), key=len, reverse=True)
        batches, begin = [], 0
        while begin < len(rows):
            size = max(1, min(batch[0], batch[1] // len(rows[begin])))
            batches.append(rows[begin : begin + size])
            begin += size
        with ThreadPoolExecutor(side_by_side) as pool:
            list(pool.map(self._embed, batches))

    def _embed(self, rows: list[list[int]]) -> None:
        import numpy as np

        tokens = np.zeros((len(rows), len(rows[0])), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for number, row in enumerate(rows):
            tokens[number, : len(row)] = row
            mask[number, : len(row)] = 1
        feeds = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
        }
        self._session.run(None, feeds)


def _timed(words: dict[str, list[str]], cell: tuple) -> dict[str, float]:
    batch, (threads, side_by_side) = cell
    loops = {name: _Loop(MODELS / f"bge-small-{name}-v1.5", threads) for name in words}
    for name, loop in loops.items():
        loop.run(batch, side_by_side, words[name][:1])
    began, spent = time.perf_counter(), _spent()
    for name, loop in loops.items():
        loop.run(batch, side_by_side, words[name])
    wall, cpu = time.perf_counter() - began, _spent() - spent
    count = sum(map(len, words.values()))
    return {"rate": count / wall, "cpu_rate": count / cpu, "cores": cpu / wall}


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _main(count: str, cell: str | None = None) -> None:
    words: dict[str, list[str]] = {"en": [], "zh": []}
    for text, language in texts(int(count)):
        words.get(language, []).append(text)
    if cell is not None:
        print(json.dumps(_timed(words, json.loads(cell))))
        return
    few = {name: list(islice(found, _SEARCHED // 2)) for name, found in words.items()}
    grid = {cell: _timed(few, cell)["rate"] for cell in product(BATCHES, THREADS)}
    print(json.dumps(max(grid, key=grid.__getitem__)))
    print(json.dumps(list(grid.items())), file=sys.stderr)


if __name__ == "__main__":
    _main(*sys.argv[1:])
