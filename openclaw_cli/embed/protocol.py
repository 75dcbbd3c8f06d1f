"""What every embedder offers, whatever computes the vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from openclaw_cli.embed.manifest import ModelInfo


@dataclass(frozen=True, slots=True, eq=False)
class Embedded:
    """Vectors of a list of texts, in the order of the texts.

    ``vectors`` is float32 of shape (texts, dimensions), every row of length 1; ``truncated[i]``
    says that text ``i`` had more tokens than the model reads.
    """

    vectors: npt.NDArray[np.float32]
    truncated: tuple[bool, ...]


class Embedder(Protocol):
    """Turns texts into vectors of one embedding space."""

    @property
    def model(self) -> ModelInfo:
        """The model whose space the vectors belong to."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Embedded:
        """Embed ``texts`` in their order; ``query`` puts the model's query instruction first.

        Raises UnavailableError when the model cannot be used.
        """
