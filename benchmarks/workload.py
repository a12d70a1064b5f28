"""Sizes of a run; vectors, veils and evidence to time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.embedders import Fingerprint
from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings, NoiseShape
from vecveil.veil import Veil
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance

DIMENSIONS, NARROW = 768, 64
"""Length of a vector, and of those of which there are very many."""

UNRELEASED = 0.13
"""Share of the axes that the default shape does not release on the bundled corpus."""

NOISE_RATIO, SEED, WORDS = 0.5, 0, 50

LAPLACE, PURKAYASTHA = "Laplace", "Purkayastha"
DIAGONAL, DEFAULT, ROTATED = "Mahalanobis, diagonal", "the default's shape", "rotated, all axes different"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Sizes of one run.

    Attributes:
        rounds: How often each thing is timed; the shortest time counts.
        rows: Vectors of a batch.
        singles: Vectors that are protected one at a time.
        texts: Texts that are embedded and protected.
        file_rows: Vectors of the file that is read and written.
        memory_rows: Vectors of the files whose protection is looked at for memory.
        pairs: Contrast pairs to learn from.
        epochs: Passes of training that are timed.
        growing_rows: Sizes of batches, for growth.
        growing_dimensions: Lengths of vectors, for growth.
        growing_pairs: Contrast pairs, for growth.
    """

    rounds: int
    rows: int
    singles: int
    texts: int
    file_rows: int
    memory_rows: tuple[int, ...]
    pairs: int
    epochs: int
    growing_rows: tuple[int, ...]
    growing_dimensions: tuple[int, ...]
    growing_pairs: tuple[int, ...]


FULL = Workload(
    rounds=7,
    rows=10_000,
    singles=1000,
    texts=1000,
    file_rows=100_000,
    memory_rows=(100_000, 1_000_000, 5_000_000),
    pairs=10_000,
    epochs=5,
    growing_rows=(1000, 10_000, 100_000, 1_000_000),
    growing_dimensions=(256, 1024, 4096),
    growing_pairs=(1000, 10_000, 100_000),
)
QUICK = Workload(
    rounds=2,
    rows=1000,
    singles=100,
    texts=100,
    file_rows=5000,
    memory_rows=(5000, 20_000),
    pairs=300,
    epochs=1,
    growing_rows=(1000, 10_000),
    growing_dimensions=(128, 512),
    growing_pairs=(200, 400),
)


def make_vectors(rows: int, dimensions: int = DIMENSIONS) -> Embeddings:
    """Return random vectors of length one."""
    vectors = np.random.default_rng(SEED).standard_normal((rows, dimensions), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@lru_cache(maxsize=4)
def make_veils(dimensions: int = DIMENSIONS) -> dict[str, Veil]:
    """Return a veil of each kind, by name; the shape of the default is as on the bundled corpus."""
    hidden = max(1, round(UNRELEASED * dimensions))
    uneven, even = np.geomspace(0.05, 5.0, dimensions), np.ones(dimensions)
    erased = np.where(np.arange(dimensions) < hidden, np.inf, 1.0)
    axes, _ = np.linalg.qr(np.random.default_rng(SEED).standard_normal((dimensions, dimensions)))
    return {
        LAPLACE: _make_veil("laplace", NoiseShape(variances=even)),
        DIAGONAL: _make_veil("mahalanobis", NoiseShape(variances=uneven)),
        DEFAULT: _make_veil("mahalanobis", NoiseShape(variances=erased, axes=axes)),
        ROTATED: _make_veil("mahalanobis", NoiseShape(variances=uneven, axes=axes)),
        PURKAYASTHA: _make_veil("purkayastha", NoiseShape(variances=even)),
    }


def make_evidence(count: int, dimensions: int = DIMENSIONS) -> Evidence:
    """Return pairs that differ along eight directions; one text of each has a word, the other has none."""
    rng = np.random.default_rng(SEED)
    first = make_vectors(count, dimensions)
    second = first - 0.1 * rng.standard_normal((count, 8), dtype=np.float32) @ make_vectors(8, dimensions)
    words = [(f"word {number}",) for number in rng.integers(0, WORDS, count)]
    corpus = LabeledEmbeddings(vectors=np.concatenate([first, second]), words=(*words, *((),) * count))
    return Evidence(ContrastPairs(first, second), corpus)


def _make_veil(mechanism: str, shape: NoiseShape) -> Veil:
    veil = Veil(
        shape=shape,
        mechanism=mechanism,
        fingerprint=Fingerprint(model="none", revision="none", dimensions=shape.dimensions, normalized=True),
        typical=TypicalLengths(signal=1.0, pair=0.5, euclidean_pair=0.5, high_pair=0.9),
        provenance=Provenance(
            concept={}, contrast="removal", pairs=2, embedder=None, learner={"name": "none"}, facts={}, seed=SEED
        ),
    )
    return replace(veil, epsilon=veil.epsilon_for(noise_ratio=NOISE_RATIO))
