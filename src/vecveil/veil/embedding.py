"""Many texts through an embedder, with progress and checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError, InvalidRowError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder

CHUNK = 256
"""Texts per call: enough for an embedder to sort by length, few enough for a bar to move."""


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    label: str = "embedding",
    first_row: int = 0,
    alone: bool = False,
    progress: Progress = silent,
) -> Embeddings:
    """Return one checked row per text.

    Args:
        embedder: Makes the vectors.
        texts: What to embed.
        label: What to call the work.
        first_row: Number of the first text in errors.
        alone: Give each text to the model by itself, unless the embedder calls itself steady. The last bits of a vector
            depend on the texts that a model gets together; this way they don't.
        progress: Told after each chunk.
    """
    if isinstance(texts, str):
        raise InvalidInputError("texts must be a list of texts, got one string; put it into a list")
    for row, text in enumerate(texts, start=first_row):
        if not isinstance(text, str):
            raise InvalidRowError(row, f"has no text, but {type(text).__name__}; vectors are protected by perturb")
        if not text.strip():
            raise InvalidRowError(row, "has no text")
    dimensions = embedder.fingerprint.dimensions
    vectors = np.empty((len(texts), dimensions), dtype=np.float32)
    size = 1 if alone and not getattr(embedder, "steady", False) else CHUNK
    starts = range(0, len(texts), size)
    for start in progress(starts, label=label, total=len(texts), weigh=lambda at: min(size, len(texts) - at)):
        try:
            chunk = embedder.embed(texts[start : start + size])
        except InvalidRowError as error:
            raise error.moved(first_row + start) from None
        vectors[start : start + size] = embeddings(
            chunk, dimensions=dimensions, name="embeddings", first_row=first_row + start
        )
    return vectors
