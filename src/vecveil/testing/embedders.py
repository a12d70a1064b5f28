"""Contract that every embedder keeps."""

from collections.abc import Sequence

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.embedders.embedder import Embedder, have_length_one

SENTENCES = (
    "The patient was sent home with metformin.",
    "Rain is expected in the north.",
    "A",
    "The committee will meet again in spring, when the report on the bridge, the harbour and the old town is ready.",
    "naïve café – 東京 👩‍⚕️",
)
"""Short and long, plain and not: what `check_embedder` asks an embedder for."""

_TOLERANCE = 1e-5


def check_embedder(embedder: Embedder, *, texts: Sequence[str] = SENTENCES) -> None:
    """Raise AssertionError unless `embedder` keeps the contract of embedders.

    Args:
        embedder: The embedder to check.
        texts: Texts to ask it for, none twice; give your own where it cannot embed any text.
    """
    vectors = embedder.embed(texts)
    _check_form(embedder, texts, vectors)
    _check_that_neighbors_do_not_matter(embedder, texts, vectors)
    assert embedder.fingerprint == embedder.fingerprint, "the fingerprint stays the same"
    assert isinstance(embedder, Embedder), "it has a fingerprint and can embed"


def _check_form(embedder: Embedder, texts: Sequence[str], vectors: Embeddings) -> None:
    fingerprint = embedder.fingerprint
    assert isinstance(vectors, np.ndarray), "vectors are a NumPy array"
    assert vectors.dtype == np.float32, "vectors are float32"
    assert vectors.shape == (len(texts), fingerprint.dimensions), "one row per text, as long as the fingerprint says"
    assert np.isfinite(vectors).all(), "vectors are finite"
    assert have_length_one(vectors) == fingerprint.normalized, "vectors have length one as the fingerprint says"
    nothing = embedder.embed([])
    assert nothing.shape == (0, fingerprint.dimensions), "no texts give no rows, of the right length"
    assert nothing.dtype == np.float32, "no texts give float32 too"
    assert len(np.unique(vectors, axis=0)) == len(texts), "different texts have different vectors"


def _check_that_neighbors_do_not_matter(embedder: Embedder, texts: Sequence[str], vectors: Embeddings) -> None:
    assert _same(embedder.embed(texts), vectors), "the same texts have the same vectors again"
    assert _same(embedder.embed(texts[::-1])[::-1], vectors), "rows follow the order of the texts"
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    assert _same(alone, vectors), "a text has the same vector alone and among others"
    crowd = [text for text in texts for _ in range(30)]
    assert _same(embedder.embed(crowd)[::30], vectors), "a text has the same vector in a batch of any size"
    assert _same(embedder.embed(tuple(texts)), vectors), "any sequence of texts will do"


def _same(found: Embeddings, expected: Embeddings) -> bool:
    return found.shape == expected.shape and bool(np.allclose(found, expected, rtol=0, atol=_TOLERANCE))
