"""Veils and vectors to try things on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from support.embedders import DIMENSIONS, WordEmbedder
from vecveil.concepts import Concept
from vecveil.core.arrays import Embeddings
from vecveil.embedders import Fingerprint
from vecveil.shapes import NoiseShape
from vecveil.substitutions import Substitution, build_substitution
from vecveil.veil import Veil
from vecveil.veil.budget import TypicalLengths
from vecveil.veil.provenance import Provenance

PRIVATE_WORD = "zanzibarium"
"""The private word of every test text; it must not turn up in an error or in a veil."""


def unit_vectors(rows: int, dimensions: int = DIMENSIONS, *, seed: int = 0, dtype: str = "float32") -> Embeddings:
    """Return random vectors of length one."""
    vectors = np.random.default_rng(seed).standard_normal((rows, dimensions))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.dtype(dtype))


def rotated_shape(dimensions: int = DIMENSIONS) -> NoiseShape:
    """Return a shape that has everything a shape can have: axes, a center, and an axis that is not released."""
    axes, _ = np.linalg.qr(np.random.default_rng(5).standard_normal((dimensions, dimensions)))
    variances = np.linspace(0.5, 2.0, dimensions)
    variances[0] = np.inf
    return NoiseShape(variances=variances, axes=axes, center=np.linspace(-0.1, 0.1, dimensions))


def made_veil(
    *,
    epsilon: float | None = None,
    dimensions: int = DIMENSIONS,
    shape: NoiseShape | None = None,
    mechanism: str = "mahalanobis",
    embedder: str | None = None,
    fingerprint: Fingerprint | None = None,
) -> Veil:
    """Return a veil that nothing had to be learned for; unless told otherwise, for the vectors of `WordEmbedder`."""
    words = WordEmbedder().fingerprint
    default = Fingerprint(
        model=words.model, revision=words.revision, dimensions=dimensions, normalized=words.normalized
    )
    return Veil(
        shape=shape or NoiseShape(variances=np.linspace(0.5, 1.5, dimensions)),
        mechanism=mechanism,
        fingerprint=fingerprint or default,
        typical=TypicalLengths(signal=1.0, pair=0.5, euclidean_pair=0.4, high_pair=0.9),
        provenance=Provenance(
            concept={"kind": "terms", "terms": 1},
            contrast="removal",
            pairs=20,
            embedder=embedder,
            learner={"name": "hard-concrete", "hidden": (8, 4)},
            facts={"mean_gate": 0.25},
            seed=0,
        ),
        epsilon=epsilon,
    )


def with_words(veil: Veil, concept: Concept, substitution: Substitution | None = None) -> Veil:
    """Return the veil as learned for another concept, whose words are removed unless told otherwise."""
    provenance = replace(veil.provenance, concept=dict(concept.summary()))
    law = build_substitution("remove") if substitution is None else substitution
    return replace(veil, concept=concept, provenance=provenance, substitution=law)
