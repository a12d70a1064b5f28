"""What others do for the same end, one vector at a time, and what nobody can do without."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import MissingExtraError
from vecveil.core.randomness import WORDS_IN_BLOCK, fresh_streams, standard_normals
from vecveil.core.room import KeptRoom
from vecveil.core.threads import in_blocks
from vecveil.mechanisms.mahalanobis import times_triangle
from vecveil.veil.protection import BLOCK_NUMBERS

OneVector = Callable[[Vector], Vector]

BISECTIONS = 52
"""Steps until an angle is known to the last digit of a double."""


def algorithm_one(root: Matrix, epsilon: float, rng: np.random.Generator) -> OneVector:
    """Return Algorithm 1 of the paper in NumPy, for one vector, with Σ^½ as a matrix, as it is printed."""
    dimensions = len(root)

    def release(vector: Vector) -> Vector:
        normals = rng.standard_normal(dimensions)
        direction = normals / np.linalg.norm(normals)
        return np.asarray(vector + rng.gamma(dimensions, 1 / epsilon) * (root @ direction))

    return release


def algorithm_one_diagonal(deviations: Vector, epsilon: float, rng: np.random.Generator) -> OneVector:
    """Return the same, with the diagonal of Σ^½ in place of the matrix."""
    dimensions = len(deviations)

    def release(vector: Vector) -> Vector:
        normals = rng.standard_normal(dimensions)
        direction = normals / np.linalg.norm(normals)
        return np.asarray(vector + rng.gamma(dimensions, 1 / epsilon) * (deviations * direction))

    return release


def purkayastha_by_bisection(dimensions: int, epsilon: float, rng: np.random.Generator) -> OneVector:
    """Return a sampler that finds its angle by bisection of the distribution function, which is integrated each time.

    That is how a published sampler is described; this one is written from that description.
    """
    from scipy.integrate import quad

    mode = math.atan2(dimensions - 2, epsilon)
    peak = (dimensions - 2) * math.log(math.sin(mode)) - epsilon * mode

    def weight(angle: float) -> float:
        if not 0 < angle < math.pi:
            return 0.0
        return math.exp((dimensions - 2) * math.log(math.sin(angle)) - epsilon * angle - peak)

    def area(angle: float) -> float:
        return float(quad(weight, 0.0, angle, points=[min(mode, angle)], limit=200)[0])

    total = area(math.pi)

    def release(vector: Vector) -> Vector:
        wanted, low, high = rng.random() * total, 0.0, math.pi
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if area(middle) < wanted else (low, middle)
        normals = rng.standard_normal(dimensions)
        sideways = normals - (normals @ vector) * vector
        sideways /= np.linalg.norm(sideways)
        return np.asarray(math.cos(low) * vector + math.sin(low) * sideways)

    return release


def diffprivlib_vector(dimensions: int, epsilon: float, seed: int | None) -> OneVector:
    """Return diffprivlib's vector mechanism: from a seed, or from the system's own numbers, as it is by default."""
    mechanism = _diffprivlib_mechanism()(
        epsilon=epsilon, function_sensitivity=1.0, data_sensitivity=1.0, dimension=dimensions, random_state=seed
    )
    origin = np.zeros(dimensions)

    def release(vector: Vector) -> Vector:
        # It perturbs functions: the gradient of this one is the vector.
        return np.asarray(mechanism.randomise(lambda _: (0.0, vector.copy()))(origin)[1])

    return release


def alloy_encryption(vectors: Embeddings) -> Callable[[], object]:
    """Return the encryption of all vectors by ironcore-alloy, in one batch."""
    try:
        import ironcore_alloy as alloy
    except ImportError:
        raise MissingExtraError("ironcore-alloy", "bench") from None

    held: Any = alloy
    secret = held.RotatableSecret(held.StandaloneSecret(1, held.Secret(os.urandom(64))), None)
    secrets = {"notes": held.VectorSecret(approximation_factor=2.0, secret=secret)}
    sdk = held.Standalone(held.StandaloneConfiguration(held.StandardSecrets(None, []), {}, secrets))
    path = next(iter(secrets))
    plain = {
        str(row): held.PlaintextVector(plaintext_vector=vector.tolist(), secret_path=path, derivation_path="")
        for row, vector in enumerate(vectors)
    }
    who = held.AlloyMetadata.new_simple("tenant")

    async def encrypted() -> object:
        return await sdk.vector().encrypt_batch(plain, who)

    return lambda: asyncio.run(encrypted())


def drawn_normals(rows: int, dimensions: int) -> Matrix:
    """Return as many standard normals as the noise of so many vectors is made of, drawn as it is."""
    normals, room = np.empty((rows, dimensions)), KeptRoom()

    def work(part: slice) -> None:
        count = part.stop - part.start
        words = fresh_streams(count).words(0, -(-dimensions // WORDS_IN_BLOCK), room=room)
        normals[part] = standard_normals(words, dimensions, room=room)[0]

    in_blocks(rows, max(1, BLOCK_NUMBERS // dimensions), work)
    return normals


def triangle_products(rows: int, triangle: Matrix) -> Callable[[], object]:
    """Return the products of so many normals with a triangular matrix, in blocks and on cores as noise is made."""
    normals, room = drawn_normals(rows, len(triangle)), KeptRoom()

    def work(part: slice) -> None:
        times_triangle(normals[part], triangle, room("product", normals[part].shape))

    return lambda: in_blocks(rows, max(1, BLOCK_NUMBERS // len(triangle)), work)


def thin_products(rows: int, axes: Matrix) -> Callable[[], object]:
    """Return the products that find and take away what so many vectors have along some axes, which are rows."""
    vectors, room = drawn_normals(rows, axes.shape[1]), KeptRoom()

    def work(part: slice) -> None:
        found = np.matmul(vectors[part], axes.T, out=room("found", (part.stop - part.start, len(axes))))
        np.matmul(found, axes, out=room("product", vectors[part].shape))

    return lambda: in_blocks(rows, max(1, BLOCK_NUMBERS // axes.shape[1]), work)


def _diffprivlib_mechanism() -> Any:
    try:
        root = next(Path(str(one.locate())).parent for one in files("diffprivlib") or () if one.name == "__init__.py")
    except (PackageNotFoundError, StopIteration):
        raise MissingExtraError("diffprivlib", "bench") from None
    if "diffprivlib" not in sys.modules:
        # Its models want an older scikit-learn than others here; its mechanisms can be had without them.
        package = ModuleType("diffprivlib")
        package.__path__ = [str(root)]
        sys.modules["diffprivlib"] = package
    from diffprivlib.mechanisms.vector import Vector as Mechanism

    return Mechanism
