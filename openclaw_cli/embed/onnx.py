"""Local embedding models, run by onnxruntime on the CPU.

Texts are run in batches of similar length, several batches side by side: 1.3 to 1.6 times as fast
as one by one. The shipped graphs quantise activations with one scale for a whole batch, so the
vector of a text depends a little on the texts beside it (median cosine to the vector made alone:
.997), which retrieval does not notice. What is batched with what follows from the list of texts and
from nothing else, so the same list gives the same vectors again.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

from openclaw_cli.embed.catalog import require_sound
from openclaw_cli.embed.manifest import TOKENIZER_NAME
from openclaw_cli.embed.protocol import Embedded
from openclaw_cli.errors import InvalidTextError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import ThreadPoolExecutor
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from openclaw_cli.embed.manifest import ModelInfo

_HEAD_CHARS_PER_TOKEN = 32
_LOG_FATAL = 4
# Tokens and texts a run: more fill the processor no better, and need more padding and memory.
_BATCH_TOKENS = 320
_BATCH_TEXTS = 16


class OnnxEmbedder:
    """Embeds with one local model; graph and tokenizer are loaded when first needed.

    The same list of texts always gives the same vectors. The same text in another list gives
    nearly the same vector, with a cosine of about .99 or more.
    """

    def __init__(self, model: ModelInfo, threads: int = 1) -> None:
        """Prepare to embed with ``model``; nothing is opened yet.

        ``threads`` is the number of batches run side by side: 1 for a query, the number of cores
        for bulk work. The vectors do not depend on it.
        """
        self._model = model
        self._threads = max(1, threads)
        self._runtime: _Runtime | None = None

    @property
    def model(self) -> ModelInfo:
        """The model whose space the vectors belong to."""
        return self._model

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Embedded:
        """Embed ``texts`` in their order; ``query`` puts the model's query instruction first.

        UnavailableError (exit 15) when a file of the model is missing or damaged, when
        onnxruntime is not installed, or when a text gets no usable vector; InvalidTextError for
        a text that is not Unicode. No texts give an array of shape (0, dimensions).
        """
        task = self.prepare(texts, query=query)
        task.start()
        return task.result()

    def prepare(self, texts: Sequence[str], *, query: bool = False) -> Task:
        """Cut texts into tokens; the task that is returned makes the vectors of `embed`."""
        _tame_libraries()
        import numpy as np

        vectors = np.zeros((len(texts), self._model.dimensions), dtype=np.float32)
        if not texts:
            return Task(Embedded(vectors, ()), [], 1)
        runtime = self._load()
        prefix = self._model.query_instruction if query else ""
        encoded = [runtime.encode(index, prefix + text) for index, text in enumerate(texts)]

        def fill(batch: list[int]) -> None:
            vectors[batch] = runtime.vectors(batch, [encoded[index][0] for index in batch])

        # The longest first: they set the size of the runtime's buffers once, and the short ones
        # at the end keep the threads evenly busy. Neighbours in length need little padding.
        order = sorted(range(len(texts)), key=lambda index: -len(encoded[index][0]))
        batches = _batches(order, [len(ids) for ids, _ in encoded])
        steps = [partial(fill, batch) for batch in batches]
        return Task(Embedded(vectors, tuple(cut for _, cut in encoded)), steps, self._threads)

    def _load(self) -> _Runtime:
        if self._runtime is None:
            self._runtime = _Runtime(self._model)
        return self._runtime


def _tame_libraries() -> None:
    """Set what the native libraries read before they are first imported.

    Official onnxruntime builds report to their maker and keep a device id under ~/.cache; only
    this variable keeps all of it from starting. And OpenBLAS starts a thread for each core, which
    spins for longer than a search lasts.
    """
    os.putenv("ORT_DISABLE_TELEMETRY", "1")
    os.putenv("OPENBLAS_NUM_THREADS", "1")


def _batches(order: list[int], lengths: list[int]) -> list[list[int]]:
    """Cut ``order`` (by falling length) into batches whose padded size stays within the budget."""
    batches: list[list[int]] = []
    begin = 0
    while begin < len(order):
        fitting = _BATCH_TOKENS // max(1, lengths[order[begin]])
        end = begin + min(_BATCH_TEXTS, max(1, fitting))
        batches.append(order[begin:end])
        begin = end
    return batches


class Task:
    """Texts on their way to vectors, with several threads beside the one that goes on."""

    def __init__(
        self, embedded: Embedded, steps: Sequence[Callable[[], None]], threads: int
    ) -> None:
        """Take what the ``steps`` will fill in, in any order, ``threads`` of them at a time."""
        self._embedded = embedded
        self._steps = steps
        self._threads = min(threads, len(steps))
        self._pool: ThreadPoolExecutor | None = None

    def start(self) -> None:
        """Begin, where there is more than one thread and one step; else `result` does it all."""
        if self._threads > 1:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(self._threads)
            self._steps = [self._pool.submit(step).result for step in self._steps]

    def result(self) -> Embedded:
        """Return the vectors as soon as all are there; raises as `OnnxEmbedder.embed` does."""
        try:
            for step in self._steps:
                step()
        finally:
            self.cancel()
        return self._embedded

    def cancel(self) -> None:
        """Give up: after Ctrl-C or an error what has not begun does not begin."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


class _Runtime:
    """A loaded graph with its tokenizer."""

    def __init__(self, model: ModelInfo) -> None:
        require_sound(model)
        self._model = model
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise UnavailableError(
                f"the embedding model {model.name} needs the package {error.name}",
                hint="reinstall the program with its dependencies",
            ) from error
        try:
            self._session = _session(onnxruntime, str(model.path(model.graph)))
            self._tokenizer = _tokenizer(tokenizers, model)
        # Both libraries raise bare Exception (and subclasses of it) for whatever is wrong.
        except Exception as error:
            raise self._failed("cannot be loaded", error) from error
        self._pad = self._tokenizer.token_to_id("[PAD]") or 0
        self._inputs = {node.name for node in self._session.get_inputs()}

    def encode(self, index: int, text: str) -> tuple[list[int], bool]:
        """Return the token ids of ``text``, at most ``max_tokens``, and whether some were cut."""
        head = text[: self._model.max_tokens * _HEAD_CHARS_PER_TOKEN]
        try:
            # One by one, not encode_batch: that starts threads which warn after a fork.
            encoding = self._tokenizer.encode(head)
            # A very long text is cut before it is tokenised, unless the head was mostly blank.
            if len(head) < len(text) and not encoding.overflowing:
                encoding = self._tokenizer.encode(text)
        except (TypeError, UnicodeError) as error:
            raise InvalidTextError(f"text {index} cannot be embedded: it is not Unicode") from error
        return encoding.ids, bool(encoding.overflowing)

    def vectors(self, batch: list[int], ids: list[list[int]]) -> npt.NDArray[np.float32]:
        """Return the vectors of length 1 for the token ``ids`` of some texts.

        Shape (texts, dimensions); shorter texts are padded to the longest and the padding masked.
        ``batch`` names the texts in errors.
        """
        import numpy as np

        if not all(ids):
            raise self._failed(f"gives no vector for text {batch[ids.index([])]}", "no tokens")
        tokens = np.full((len(ids), max(map(len, ids))), self._pad, dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, known in enumerate(ids):
            tokens[row, : len(known)] = known
            mask[row, : len(known)] = 1
        feeds = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
        }
        try:
            hidden = self._session.run(
                None, {name: array for name, array in feeds.items() if name in self._inputs}
            )[0]
        except Exception as error:
            raise self._failed(f"failed on a batch with text {batch[0]}", error) from error
        if hidden.ndim != 3 or hidden.shape[2] != self._model.dimensions:
            raise self._failed("does not have the manifest's dimensions", hidden.shape)
        return self._pooled(hidden, mask, batch)

    def _pooled(
        self, hidden: npt.NDArray[np.float32], mask: npt.NDArray[np.int64], batch: list[int]
    ) -> npt.NDArray[np.float32]:
        import numpy as np

        if self._model.pooling == "cls":
            rows = hidden[:, 0]
        else:
            weights = mask[:, :, None].astype(np.float32)
            rows = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        norms = np.linalg.norm(rows, axis=1)
        for index, norm in zip(batch, norms.tolist(), strict=True):
            if not 0.0 < norm < float("inf"):
                raise self._failed(f"gives no usable vector for text {index}", f"length {norm}")
        found: npt.NDArray[np.float32] = rows / norms[:, None]
        return found

    def _failed(self, what: str, why: object) -> UnavailableError:
        reason = (str(why) or "no reason given").splitlines()[0]
        return UnavailableError(
            f"the embedding model {self._model.name} {what}: {reason}",
            hint="`openclaw model verify` checks its files",
            path=str(self._model.path(self._model.graph)),
        )


def _tokenizer(tokenizers: Any, model: ModelInfo) -> Any:
    tokenizer = tokenizers.Tokenizer.from_file(str(model.directory / TOKENIZER_NAME))
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.max_tokens)
    if model.lowercase:
        # A tokenizer file may say "keep capitals and accents" although its vocabulary has none:
        # then TypeScript and Java, Müller and Möller are all the one unknown token.
        normalizers = tokenizers.normalizers
        fold = [normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]
        own = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
        tokenizer.normalizer = normalizers.Sequence(fold + own)
    return tokenizer


def _session(onnxruntime: Any, path: str) -> Any:
    onnxruntime.set_default_logger_severity(_LOG_FATAL)
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _LOG_FATAL
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
