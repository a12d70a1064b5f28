"""A broken mechanism of unknown law: all that can be held against it is its own density."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.mechanisms.laplace import LaplaceMechanism


class NormalNoise(LaplaceMechanism):
    """Adds normal noise with a deviation of 1/epsilon, and promises what another law would keep."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        return embeddings + rng.standard_normal(embeddings.shape) / self.epsilon
