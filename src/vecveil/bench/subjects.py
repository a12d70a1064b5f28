"""Vectors and veils to time things with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.embedders import Fingerprint
from vecveil.shapes import NoiseShape
from vecveil.veil import Veil
from vecveil.veil.provenance import Provenance
from vecveil.veil.typical import TypicalLengths

DIMENSIONS = 768
SEED = 0
LEFT_OUT = 30
"""Directions that the default shape leaves out of 768, about as many as it does of real corpora."""

NOISE_RATIO = 0.5


def unit_vectors(rows: int, dimensions: int = DIMENSIONS) -> Embeddings:
    """Return random vectors of length one."""
    vectors = np.random.default_rng(SEED).standard_normal((rows, dimensions), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def veil_of(mechanism: str, shape: NoiseShape) -> Veil:
    """Return a veil that nothing was learned for, with its budget."""
    veil = Veil(
        shape=shape,
        mechanism=mechanism,
        fingerprint=Fingerprint(model="none", revision="none", dimensions=shape.dimensions, normalised=True),
        typical=TypicalLengths(signal=1.0, pair=0.5, euclidean_pair=0.5),
        provenance=Provenance(
            concept={}, contrast="removal", pairs=2, embedder=None, learner={"name": "none"}, facts={}, seed=SEED
        ),
    )
    return replace(veil, epsilon=veil.epsilon_for(noise_ratio=NOISE_RATIO))


def left_out(dimensions: int) -> int:
    """Return how many directions of so many the default shape leaves out here."""
    return max(1, LEFT_OUT * dimensions // DIMENSIONS)


def veils(dimensions: int = DIMENSIONS) -> dict[str, Veil]:
    """Return a veil of each kind that takes another way to its noise."""
    uneven = np.geomspace(0.05, 5.0, dimensions)
    erased = np.ones(dimensions)
    erased[: left_out(dimensions)] = np.inf
    axes, _ = np.linalg.qr(np.random.default_rng(SEED).standard_normal((dimensions, dimensions)))
    round_shape = NoiseShape(variances=np.ones(dimensions))
    return {
        "Laplace": veil_of("laplace", round_shape),
        "Mahalanobis, diagonal": veil_of("mahalanobis", NoiseShape(variances=uneven)),
        "Mahalanobis, rotated, the default's shape": veil_of("mahalanobis", NoiseShape(variances=erased, axes=axes)),
        "Mahalanobis, rotated, all axes different": veil_of("mahalanobis", NoiseShape(variances=uneven, axes=axes)),
        "Purkayastha": veil_of("purkayastha", round_shape),
    }
