"""Many texts through an embedder, with progress and checks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.checks import embeddings
from vecveil.core.errors import InvalidInputError
from vecveil.core.progress import Progress, silent
from vecveil.embedders import Embedder

CHUNK = 512
"""Texts per call: enough for an embedder to sort by length, few enough for a bar to move."""


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    label: str = "embedding",
    first_row: int = 0,
    progress: Progress = silent,
) -> Embeddings:
    """Return one checked row per text; `first_row` numbers the texts in errors."""
    for row, text in enumerate(texts, start=first_row):
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError(f"row {row} has no text")
    starts = range(0, len(texts), CHUNK)
    parts = [embedder.embed(texts[start : start + CHUNK]) for start in progress(starts, label=label, total=len(starts))]
    if not parts:
        return np.empty((0, embedder.fingerprint.dimensions), dtype=np.float32)
    return embeddings(np.concatenate(parts), dimensions=embedder.fingerprint.dimensions, name="embeddings")
