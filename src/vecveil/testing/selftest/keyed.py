"""Noise that is derived from a key for each record, tested as the noise that is drawn afresh."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings
from vecveil.core.key import KEY_BYTES
from vecveil.mechanisms.draws import keyed_draws
from vecveil.mechanisms.laplace import LaplaceMechanism


class KeyedLaplace(LaplaceMechanism):
    """Laplace noise, each row's from a random key of its own."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a noisy copy of `embeddings`."""
        keys = [rng.bytes(KEY_BYTES) for _ in range(len(embeddings))]
        return self.release(embeddings, keyed_draws(self, keys))
