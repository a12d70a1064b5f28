"""Embedding of many texts, with progress and checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from vecveil.concepts import Passage
from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidRowError
from vecveil.core.progress import Progress, silent
from vecveil.core.texts import to_texts
from vecveil.embedders import Embedder

CHUNK = 256
"""Texts per call: enough for an embedder to sort by length, few enough for a bar to move."""


def check_texts(texts: Iterable[str | Passage], *, first_row: int = 0) -> list[str]:
    """Return one column of texts, or raise with the row at fault unless there is something to embed in each."""
    found = [text.text if isinstance(text, Passage) else text for text in to_texts(texts)]
    for row, text in enumerate(found, start=first_row):
        if not isinstance(text, str):
            raise InvalidRowError(row, f"has no text, but {type(text).__name__}; vectors are protected by perturb")
        if not text.strip():
            raise InvalidRowError(row, "has no text")
    return found


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    label: str = "embedding",
    first_row: int = 0,
    progress: Progress = silent,
) -> Embeddings:
    """Return one checked row per text.

    Args:
        embedder: Makes the vectors.
        texts: What to embed: a list, or one column of a table.
        label: What to call the work.
        first_row: Number of the first text in errors.
        progress: Told after each chunk.
    """
    texts = check_texts(texts, first_row=first_row)
    dimensions = embedder.fingerprint.dimensions
    vectors = np.empty((len(texts), dimensions), dtype=np.float32)
    starts = range(0, len(texts), CHUNK)
    for start in progress(starts, label=label, total=len(texts), weigh=lambda at: min(CHUNK, len(texts) - at)):
        try:
            chunk = embedder.embed(texts[start : start + CHUNK])
        except InvalidRowError as error:
            raise error.shift(first_row + start) from None
        vectors[start : start + CHUNK] = embeddings(
            chunk, dimensions=dimensions, name="embeddings", first_row=first_row + start
        )
    return vectors
