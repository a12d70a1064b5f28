"""Subjects of the self-test: mechanisms with shapes and budgets."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vecveil.core.arrays import Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import KEY_BYTES, START_BYTES, FreshRows, KeyedRows, RandomRows
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.mechanisms.grid import Grid
from vecveil.shapes import NoiseShape

DIMENSIONS = (2, 16, 384)
MORE_DIMENSIONS = (768, 1536, 4096)

MANY = 64
"""With more dimensions than this, what a shape or a pair adds to the others is left to fewer dimensions."""

EPSILON_PER_DIMENSION = 2.0
"""Noise half as long as a unit vector."""

SIGNAL = 1.0
"""Length of vectors that the grid is made for."""

STRENGTHS = {"strong noise": 0.05, "weak noise": 50.0}
"""Epsilon per dimension of other budgets. Elliptical noise is the same at each but for its unit; angles are not."""

Law = Literal["elliptical", "angular"]

LAWS: dict[str, Law] = {"laplace": "elliptical", "mahalanobis": "elliptical", "purkayastha": "angular"}
"""Whose noise has which law. Mechanisms of other packages are held against their own log density alone."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A mechanism with a shape and a budget.

    Attributes:
        name: Of the mechanism.
        variant: What is particular about its shape or budget.
        mechanism: The mechanism itself.
        shape: Where its noise should go.
        law: What its noise is held against beside its own density; None where that is all there is.
        paired: Whether its privacy loss is bounded too.
        keyed: Whether rows begin anywhere in a stream, as those of an owner's key do, and not one after the other.
    """

    name: str
    variant: str
    mechanism: Mechanism
    shape: NoiseShape
    law: Law | None
    paired: bool = True
    keyed: bool = False

    @property
    def title(self) -> str:
        """The subject in words."""
        return f"{self.name}, {self.variant}, n = {self.shape.dimensions}"

    def perturb(self, vectors: Matrix, rng: np.random.Generator) -> Matrix:
        """Return noisy vectors as a release has them: numbers from secure streams, on a grid.

        The generator gives the key of the streams and nothing else, so that a run can be repeated.
        """
        rows: RandomRows = FreshRows(len(vectors), key=rng.bytes(KEY_BYTES))
        if self.keyed:
            starts = np.frombuffer(rng.bytes(START_BYTES * len(vectors)), dtype="<u8").reshape(-1, 2)
            rows = KeyedRows(rng.bytes(KEY_BYTES), starts)
        noisy = self.mechanism.perturb(vectors, rows)
        # Without the grid, the last bits of a double tell of what was taken away along axes that are not released.
        coordinate = self.mechanism.released_length(SIGNAL) / math.sqrt(self.shape.dimensions)
        return Grid.for_coordinate("float32", coordinate).round(noisy).astype(np.float64)


def subjects_of(name: str, dimensions: tuple[int, ...]) -> Iterator[Subject]:
    """Yield the subjects of the mechanism registered as `name`."""
    kind, law = MECHANISMS.load(name), LAWS.get(name)
    for size in dimensions:
        plain = NoiseShape(variances=np.ones(size))
        if not kind.takes_shape or size <= MANY:
            yield subject_of(kind, plain, name=name, variant="uniform", law=law)
        for variant, shape in uneven_shapes(size).items() if kind.takes_shape else ():
            try:
                yield subject_of(kind, shape, name=name, variant=variant, law=law)
            except InvalidInputError:
                # A mechanism may refuse a shape that it can't follow.
                continue
        for variant, per_dimension in STRENGTHS.items() if law == "angular" else ():
            budget = per_dimension * size
            yield subject_of(kind, plain, name=name, variant=variant, law=law, epsilon=budget, paired=False)


def subject_of(
    kind: type[Mechanism],
    shape: NoiseShape,
    *,
    name: str,
    variant: str,
    law: Law | None,
    epsilon: float | None = None,
    paired: bool = True,
    keyed: bool = False,
) -> Subject:
    """Return a mechanism of that kind for a shape, at a budget that makes noise about as long as the vectors."""
    budget = EPSILON_PER_DIMENSION * shape.dimensions if epsilon is None else epsilon
    made = kind.for_shape(epsilon=budget, variances=shape.variances, axes=shape.axes, center=shape.center)
    return Subject(name=name, variant=variant, mechanism=made, shape=shape, law=law, paired=paired, keyed=keyed)


def uneven_shapes(dimensions: int) -> dict[str, NoiseShape]:
    """Return a diagonal shape, a rotated one, one with axes that are not released, and one with all but two alike."""
    variances = uneven_variances(dimensions)
    erased = variances.copy()
    erased[: max(1, dimensions // 8)] = np.inf
    few = np.full(dimensions, 0.5)
    few[:2] = np.inf, 5.0
    return {
        "diagonal": NoiseShape(variances=variances),
        "rotated": NoiseShape(variances=variances, axes=rotated_axes(dimensions)),
        "partly unreleased": NoiseShape(variances=erased, center=np.full(dimensions, 0.1)),
        "few uneven axes": NoiseShape(variances=few, axes=rotated_axes(dimensions), center=np.full(dimensions, 0.1)),
    }


def uneven_variances(dimensions: int) -> Vector:
    """Return variances from a twentieth to five."""
    return np.geomspace(0.05, 5.0, dimensions)


def rotated_axes(dimensions: int) -> Matrix:
    """Return a reflection with its columns shifted: orthonormal, dense, quick to make, far from its transpose."""
    normal = np.cos(1 + np.arange(dimensions) ** 1.5)
    normal /= np.linalg.norm(normal)
    return np.roll(np.eye(dimensions) - 2 * np.outer(normal, normal), max(1, dimensions // 3), axis=1)
