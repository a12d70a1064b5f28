"""References for noise: the paper's Algorithm 1, diffprivlib, ironcore-alloy."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.measurement import Work
from vecveil.core.arrays import Embeddings, Matrix, Vector

ProtectOne = Callable[[Embeddings], Vector]


def make_algorithm_one(root: Matrix | Vector, epsilon: float, rng: np.random.Generator) -> ProtectOne:
    """Return Algorithm 1 of the paper for one vector, in plain NumPy.

    Args:
        root: Σ^½ as a matrix, as the paper prints it, or its diagonal.
        epsilon: Privacy loss per unit of Mahalanobis distance.
        rng: Draws the noise; one that is seeded is fast and not private.
    """
    dimensions = len(root)

    def protect(vector: Embeddings) -> Vector:
        normals = rng.standard_normal(dimensions)
        direction = normals / np.linalg.norm(normals)
        stretched = root @ direction if root.ndim == 2 else root * direction
        return np.asarray(vector + rng.gamma(dimensions, 1 / epsilon) * stretched)

    return protect


def make_diffprivlib(dimensions: int, epsilon: float) -> ProtectOne | None:
    """Return diffprivlib's vector mechanism with the system's random numbers; None where it is not installed."""
    found = find_spec("diffprivlib")
    if found is None or found.origin is None:
        return None
    # Its models need an older scikit-learn; its mechanisms load without them, from a package that is empty.
    package = ModuleType("diffprivlib")
    package.__path__ = [str(Path(found.origin).parent)]
    package.__spec__ = found
    sys.modules.setdefault("diffprivlib", package)
    from diffprivlib.mechanisms.vector import Vector as VectorMechanism

    mechanism: Any = VectorMechanism(
        epsilon=epsilon, function_sensitivity=1.0, data_sensitivity=1.0, dimension=dimensions
    )
    origin = np.zeros(dimensions)

    def protect(vector: Embeddings) -> Vector:
        # It perturbs functions: the gradient of this one is the vector.
        return np.asarray(mechanism.randomise(lambda _: (0.0, vector.copy()))(origin)[1])

    return protect


def make_alloy(vectors: Embeddings) -> Work | None:
    """Return the encryption of vectors by ironcore-alloy, all at once; None where it is not installed."""
    if find_spec("ironcore_alloy") is None:
        return None
    import ironcore_alloy

    alloy: Any = ironcore_alloy
    secret = alloy.RotatableSecret(alloy.StandaloneSecret(1, alloy.Secret(os.urandom(64))), None)
    secrets = {"notes": alloy.VectorSecret(approximation_factor=2.0, secret=secret)}
    sdk = alloy.Standalone(alloy.StandaloneConfiguration(alloy.StandardSecrets(None, []), {}, secrets))
    tenant = alloy.AlloyMetadata.new_simple("tenant")
    path = next(iter(secrets))
    plain = {
        str(row): alloy.PlaintextVector(plaintext_vector=vector.tolist(), secret_path=path, derivation_path="")
        for row, vector in enumerate(vectors)
    }

    async def encrypt() -> object:
        return await sdk.vector().encrypt_batch(plain, tenant)

    return lambda: asyncio.run(encrypt())
