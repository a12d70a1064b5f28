"""Functions and LangChain objects that turn texts into vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import rows_of
from vecveil.core.errors import InvalidInputError
from vecveil.embedders.embedder import Fingerprint, check_texts
from vecveil.embedders.probes import PROBES, have_length_one, sign_bits


@dataclass(frozen=True, eq=False)
class FunctionEmbedder:
    """A function from a list of texts to one vector for each; known by its vectors of public sentences.

    Attributes:
        function: Returns anything that NumPy can read as one row per text.
        name: What the fingerprint calls the model.
    """

    function: Callable[[list[str]], Any]
    name: str

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """The name, and what its vectors look like; the first use embeds four public sentences."""
        probes = self._call(list(PROBES))
        return Fingerprint(
            model=self.name,
            revision=f"probes:{sign_bits(probes)}",
            dimensions=probes.shape[1],
            normalized=have_length_one(probes),
        )

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one float32 row per text, in order."""
        rows, dimensions = check_texts(texts), self.fingerprint.dimensions
        return self._call(rows, dimensions) if rows else np.empty((0, dimensions), dtype=np.float32)

    def _call(self, texts: list[str], dimensions: int | None = None) -> Embeddings:
        values = self.function(texts)
        if hasattr(values, "detach"):
            # A tensor may have a gradient, or lie on an accelerator, where NumPy can't read it.
            values = values.detach().cpu()
        vectors = rows_of(values, dimensions=dimensions, name=f"vectors of the embedder {self.name}")
        if len(vectors) != len(texts):
            raise InvalidInputError(f"the embedder {self.name} returned {len(vectors)} vectors for {len(texts)} texts")
        return vectors.astype(np.float32)
