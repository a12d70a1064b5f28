"""Rotated shapes that leave axes out keep their promise, and mechanisms that only seem to do so are caught.

Every test draws with a fixed seed, so it passes or fails for good. With fresh seeds a right mechanism would have faults
with a probability of about FALSE_ALARM.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import norm

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.randomness import RandomRows, SeededRows
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import NoiseShape
from vecveil.shapes.erasure import erase, left_over
from vecveil.testing.mechanisms import perturb_with_seed

DIMENSIONS = (2, 8, 384)
EPSILON = 9.0
FALSE_ALARM = 1e-3


@dataclass(frozen=True, eq=False)
class Case:
    """A rotated shape that leaves axes out, with what the promise is stated in, made from its parts by hand."""

    shape: NoiseShape

    @property
    def whitener(self) -> Matrix:
        """A: the projection on the released axes, each over its standard deviation."""
        finite = np.isfinite(self.shape.variances)
        return np.asarray((np.asarray(self.shape.axes)[:, finite] / np.sqrt(self.shape.variances[finite])).T)

    @property
    def unreleased(self) -> Matrix:
        return np.asarray(np.asarray(self.shape.axes)[:, ~np.isfinite(self.shape.variances)])

    @property
    def center(self) -> Vector:
        return np.asarray(self.shape.center)

    def mechanism(self, kind: type[MahalanobisMechanism] = MahalanobisMechanism) -> MahalanobisMechanism:
        shape = self.shape
        return kind(epsilon=EPSILON, variances=shape.variances, axes=shape.axes, center=shape.center)

    def distances(self, first: Matrix, second: Matrix) -> Vector:
        return np.asarray(np.linalg.norm((first - second) @ self.whitener.T, axis=1))


def case(dimensions: int, *, uneven: bool) -> Case:
    """Return a shape that leaves a quarter of the dimensions out, along none of the coordinates."""
    rng = np.random.default_rng(dimensions)
    directions = rng.standard_normal((dimensions, max(1, dimensions // 4)))
    shape = erase(directions, center=rng.standard_normal(dimensions))
    return Case(replace(shape, variances=shape.variances * np.geomspace(0.05, 5.0, dimensions)) if uneven else shape)


every_case = pytest.mark.parametrize(
    "known",
    [case(dimensions, uneven=uneven) for dimensions in DIMENSIONS for uneven in (False, True)],
    ids=[f"{dimensions}-{name}" for dimensions in DIMENSIONS for name in ("even", "uneven")],
)


def pairs_of_inputs(known: Case, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """Return inputs that nearly touch to inputs far apart: in any direction, and along unreleased axes alone."""
    dimensions, gone = known.unreleased.shape
    first = rng.standard_normal((200, dimensions))
    anywhere, hidden = rng.standard_normal((100, dimensions)), rng.standard_normal((100, gone)) @ known.unreleased.T
    sizes = np.tile(np.geomspace(1e-4, 10, 100), 2)
    return first, first + np.concatenate([anywhere, hidden]) * sizes[:, np.newaxis]


def keeps_the_promise(mechanism: MahalanobisMechanism, known: Case) -> bool:
    """Return whether no release tells any two inputs apart by more than epsilon times ‖A(x − x′)‖."""
    rng = np.random.default_rng(31)
    first, second = pairs_of_inputs(known, rng)
    released = mechanism.perturb(first, SeededRows(rng, len(first)))
    loss = mechanism.log_density(released, first) - mechanism.log_density(released, second)
    bound = EPSILON * known.distances(first, second)
    return bool((np.abs(loss) <= bound * (1 + 1e-9) + 1e-7).all())


def faults(mechanism: MahalanobisMechanism, known: Case) -> set[str]:
    """Return what is wrong with the releases themselves, by name."""
    dimensions, gone = known.unreleased.shape
    rng = np.random.default_rng(32)
    rows = 20_000 if dimensions <= 8 else 4_000
    first = rng.standard_normal((rows, dimensions))
    second = first + rng.standard_normal((rows, gone)) @ known.unreleased.T
    released, twin = (perturb_with_seed(mechanism, side, 33) for side in (first, second))
    found = set()
    if np.abs((released - known.center) @ known.unreleased).max() > 1e-9:
        found.add("unreleased axes are not at the center")
    if np.abs(released - twin).max() > 1e-9:
        found.add("what is not released makes a difference")
    if not has_its_moments((released - first) @ known.whitener.T):
        found.add("noise of another size or shape")
    return found


def has_its_moments(noise: Matrix) -> bool:
    """Return whether whitened noise has the mean and covariance of the density that is proportional to exp(-ε‖w‖).

    In m dimensions the covariance is (m + 1)/ε² times the identity; the fourth moments, which say how far a sample's
    covariance may be from it, follow from E[r⁴] = m(m + 1)(m + 2)(m + 3)/ε⁴.
    """
    rows, size = noise.shape
    scaled = noise * EPSILON
    squares = np.full((size, size), (size + 1.0) * (size + 3))
    np.fill_diagonal(squares, (size + 1) * (2 * size + 8))
    off = (scaled.T @ scaled / rows - (size + 1) * np.eye(size)) / np.sqrt(squares / rows)
    scores = np.concatenate([off[np.triu_indices(size)], scaled.mean(axis=0) / np.sqrt((size + 1) / rows)])
    return bool(np.abs(scores).max() < norm.isf(FALSE_ALARM / 2 / scores.size))


class CleanCoordinateLeft(MahalanobisMechanism):
    """Adds no noise along unreleased axes, and forgets to take out what lies there."""

    share: ClassVar[float] = 1.0

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        gone = np.asarray(self.axes)[:, ~np.isfinite(self.variances)]
        left = (embeddings - np.asarray(self.center)) @ gone @ gone.T
        return np.asarray(super().perturb(embeddings, random) + self.share * left)


class TraceLeft(CleanCoordinateLeft):
    """Leaves a millionth of it."""

    share: ClassVar[float] = 1e-6


class NoiseNotProjected(MahalanobisMechanism):
    """Draws noise along every axis, also where nothing is released."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        gone = np.asarray(self.axes)[:, ~np.isfinite(self.variances)]
        released = super().perturb(embeddings, random)
        return np.asarray(released + random.normals(gone.shape[1]) / self.epsilon @ gone.T)


class ForgottenCenter(MahalanobisMechanism):
    """Releases the origin where the public center should stand."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        without = MahalanobisMechanism(epsilon=self.epsilon, variances=self.variances, axes=self.axes)
        return without.perturb(embeddings, random)


class RadiusOfAllAxes(MahalanobisMechanism):
    """Draws radii as long as if every axis were released."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        share = float(np.isfinite(self.variances).mean())
        longer = MahalanobisMechanism(
            epsilon=share * self.epsilon, variances=self.variances, axes=self.axes, center=self.center
        )
        return longer.perturb(embeddings, random)


@every_case
def test_no_release_loses_more_than_promised(known: Case) -> None:
    assert keeps_the_promise(known.mechanism(), known)


@every_case
def test_much_noise_is_not_the_same_as_nothing_released(known: Case) -> None:
    """A mechanism that releases every axis, some with noise a thousand times as long, breaks the promise."""
    variances = np.where(np.isfinite(known.shape.variances), known.shape.variances, 1e6)
    assert not keeps_the_promise(replace(known.mechanism(), variances=variances), known)


@every_case
def test_the_promise_is_no_larger_than_it_must_be(known: Case) -> None:
    """A release straight behind one input, seen from the other, loses epsilon times the distance."""
    first, second = np.random.default_rng(34).standard_normal((2, 50, known.shape.dimensions))
    behind = left_over(known.shape, first + 2 * (first - second))
    mechanism = known.mechanism()
    loss = mechanism.log_density(behind, first) - mechanism.log_density(behind, second)
    np.testing.assert_allclose(loss, EPSILON * known.distances(first, second), rtol=1e-9)


@every_case
def test_inputs_that_differ_along_unreleased_axes_alone_lose_nothing(known: Case) -> None:
    rng = np.random.default_rng(35)
    first, second = (side[100:] for side in pairs_of_inputs(known, rng))
    mechanism = known.mechanism()
    released = mechanism.perturb(first, SeededRows(rng, len(first)))
    loss = mechanism.log_density(released, first) - mechanism.log_density(released, second)
    np.testing.assert_allclose(loss, 0, atol=1e-9)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_along_coordinates_they_lose_nothing_to_the_last_bit(dimensions: int) -> None:
    variances = np.geomspace(0.05, 5.0, dimensions)
    variances[: max(1, dimensions // 4)] = np.inf
    mechanism = MahalanobisMechanism(epsilon=EPSILON, variances=variances, center=np.ones(dimensions))
    rng = np.random.default_rng(36)
    first = rng.standard_normal((100, dimensions))
    second = np.where(np.isfinite(variances), first, rng.standard_normal((100, dimensions)))
    released, twin = (perturb_with_seed(mechanism, side, 37) for side in (first, second))
    assert np.array_equal(mechanism.log_density(released, first), mechanism.log_density(released, second))
    assert np.array_equal(released, twin)


@every_case
def test_releases_have_the_noise_of_the_shape_and_the_center_elsewhere(known: Case) -> None:
    assert faults(known.mechanism(), known) == set()


@every_case
@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (CleanCoordinateLeft, "what is not released makes a difference"),
        (TraceLeft, "what is not released makes a difference"),
        (NoiseNotProjected, "unreleased axes are not at the center"),
        (ForgottenCenter, "unreleased axes are not at the center"),
        (RadiusOfAllAxes, "noise of another size or shape"),
    ],
)
def test_a_broken_mechanism_is_caught(known: Case, broken: type[MahalanobisMechanism], fault: str) -> None:
    assert fault in faults(known.mechanism(broken), known)
