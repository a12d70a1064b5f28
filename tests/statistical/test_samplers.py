"""Each sampler against its density.

Every test below draws with a fixed seed, so it passes or fails for good. With fresh seeds a right sampler would fail
each of them with a probability of at most FALSE_ALARM: each p-value is held against FALSE_ALARM over the number of
p-values in its test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.testing.samplers import elliptical_pvalues, purkayastha_pvalues

FALSE_ALARM = 1e-3
DIMENSIONS = (2, 3, 16, 128, 768, 4096)


def passes(pvalues: Mapping[str, float]) -> bool:
    return min(pvalues.values()) > FALSE_ALARM / len(pvalues)


def rows_for(dimensions: int) -> int:
    return 20_000 if dimensions <= 128 else 4_000 if dimensions <= 768 else 1_500


def uneven(dimensions: int) -> Embeddings:
    return np.geomspace(0.05, 5.0, dimensions)


def turned(dimensions: int) -> Matrix:
    """A reflection with its columns shifted: orthonormal, dense, cheap at 4096 dimensions, far from its transpose."""
    normal = np.cos(1 + np.arange(dimensions) ** 1.5)
    normal /= np.linalg.norm(normal)
    return np.roll(np.eye(dimensions) - 2 * np.outer(normal, normal), max(1, dimensions // 3), axis=1)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [0.5, 300.0])
def test_laplace_noise_has_its_law(dimensions: int, epsilon: float) -> None:
    mechanism = LaplaceMechanism(epsilon=epsilon, dimensions=dimensions)
    rng = np.random.default_rng(11)
    assert passes(elliptical_pvalues(mechanism, variances=np.ones(dimensions), rows=rows_for(dimensions), rng=rng))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("unreleased", [0, 1])
def test_mahalanobis_noise_has_its_law(dimensions: int, rotated: bool, unreleased: int) -> None:
    variances = uneven(dimensions)
    variances[:unreleased] = np.inf
    axes = turned(dimensions) if rotated else None
    mechanism = MahalanobisMechanism(epsilon=7.0, variances=variances, axes=axes)
    rng = np.random.default_rng(12)
    rows = rows_for(dimensions)
    assert passes(elliptical_pvalues(mechanism, variances=variances, axes=axes, rows=rows, rng=rng))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("epsilon", [1e-3, 40.0, 620.0, 1e5])
def test_purkayastha_directions_have_their_law(dimensions: int, epsilon: float) -> None:
    mechanism = PurkayasthaMechanism(epsilon=epsilon, dimensions=dimensions)
    rng = np.random.default_rng(13)
    assert passes(purkayastha_pvalues(mechanism, dimensions=dimensions, rows=rows_for(dimensions), rng=rng))


@dataclass(frozen=True, kw_only=True, eq=False)
class WrongGammaShape(MahalanobisMechanism):
    """Draws the radius from Gamma(n - 1) for Gamma(n); from Gamma(4080) at 4096, where one less needs 10^5 rows."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        rows, dimensions = embeddings.shape
        normals = rng.standard_normal((rows, dimensions))
        radii = rng.gamma(dimensions - max(1, dimensions // 1000 * 4), 1 / self.epsilon, (rows, 1))
        return embeddings + radii * normals / np.linalg.norm(normals, axis=1, keepdims=True) * self._deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class Renormalised(MahalanobisMechanism):
    """Brings Σ^½X back to length one before scaling it, as a published package does."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        rows, dimensions = embeddings.shape
        shaped = rng.standard_normal((rows, dimensions)) * self._deviations
        radii = rng.gamma(dimensions, 1 / self.epsilon, (rows, 1))
        return embeddings + radii * shaped / np.linalg.norm(shaped, axis=1, keepdims=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class PerCoordinate(MahalanobisMechanism):
    """Adds one-dimensional Laplace noise to each coordinate, scaled to the same mean square."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        scale = np.sqrt((self.variances.size + 1) / 2) / self.epsilon
        return embeddings + rng.laplace(scale=scale, size=embeddings.shape) * self._deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class IgnoredVariances(MahalanobisMechanism):
    """Forgets the shape."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        return LaplaceMechanism(epsilon=self.epsilon, dimensions=self.variances.size).perturb(embeddings, rng)


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedRadius(MahalanobisMechanism):
    """Draws one radius for a whole batch."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        normals = rng.standard_normal(embeddings.shape)
        radius = rng.gamma(self.variances.size, 1 / self.epsilon)
        return embeddings + radius * normals / np.linalg.norm(normals, axis=1, keepdims=True) * self._deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class SharedBetweenNeighbours(MahalanobisMechanism):
    """Gives every two neighbouring rows the same noise, as workers with the same seed would."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        half = super().perturb(embeddings[::2], rng) - embeddings[::2]
        return embeddings + np.repeat(half, 2, axis=0)[: len(embeddings)]


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatedHalf(MahalanobisMechanism):
    """Gives the second half of a batch the noise of the first."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        size = -(-len(embeddings) // 2)
        half = super().perturb(embeddings[:size], rng) - embeddings[:size]
        return embeddings + np.concatenate([half, half])[: len(embeddings)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Antithetic(MahalanobisMechanism):
    """Gives every second row the noise of the row before, turned round: two such releases average to the clean one."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        half = super().perturb(embeddings[::2], rng) - embeddings[::2]
        return embeddings + np.stack([half, -half], axis=1).reshape(-1, half.shape[1])[: len(embeddings)]


@dataclass(frozen=True, kw_only=True, eq=False)
class ClippedTails(MahalanobisMechanism):
    """Draws the direction from normals cut off at two and a half deviations."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        normals = np.clip(rng.standard_normal(embeddings.shape), -2.5, 2.5)
        radii = rng.gamma(self.variances.size, 1 / self.epsilon, (len(embeddings), 1))
        return embeddings + radii * normals / np.linalg.norm(normals, axis=1, keepdims=True) * self._deviations


@dataclass(frozen=True, kw_only=True, eq=False)
class TwinAxes(MahalanobisMechanism):
    """Gives the first two axes the same normal number."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        normals = rng.standard_normal(embeddings.shape)
        normals[:, 1] = normals[:, 0]
        radii = rng.gamma(self.variances.size, 1 / self.epsilon, (len(embeddings), 1))
        return embeddings + radii * normals / np.linalg.norm(normals, axis=1, keepdims=True) * self._deviations


@pytest.mark.parametrize("dimensions", [16, 128, 768])
def test_axes_the_wrong_way_round_are_caught(dimensions: int) -> None:
    axes, variances = turned(dimensions), uneven(dimensions)
    wrong = MahalanobisMechanism(epsilon=7.0, variances=variances, axes=axes.T)
    rng = np.random.default_rng(16)
    assert not passes(elliptical_pvalues(wrong, variances=variances, axes=axes, rows=rows_for(dimensions), rng=rng))


@pytest.mark.parametrize("dimensions", [2, 16, 128, 768])
@pytest.mark.parametrize("broken", [SharedBetweenNeighbours, RepeatedHalf, Antithetic])
def test_rows_that_share_noise_are_caught(dimensions: int, broken: type[MahalanobisMechanism]) -> None:
    variances = uneven(dimensions)
    mechanism = broken(epsilon=7.0, variances=variances)
    rows = rows_for(dimensions)
    pvalues = elliptical_pvalues(mechanism, variances=variances, rows=rows, rng=np.random.default_rng(17))
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", [16, 128, 768])
@pytest.mark.parametrize("broken", [ClippedTails, TwinAxes])
def test_numbers_that_are_not_independent_normals_are_caught(
    dimensions: int, broken: type[MahalanobisMechanism]
) -> None:
    variances = uneven(dimensions)
    mechanism = broken(epsilon=7.0, variances=variances)
    rows = rows_for(dimensions)
    pvalues = elliptical_pvalues(mechanism, variances=variances, rows=rows, rng=np.random.default_rng(18))
    assert not passes(pvalues), pvalues


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("broken", [WrongGammaShape, Renormalised, PerCoordinate, IgnoredVariances, SharedRadius])
def test_a_broken_elliptical_sampler_is_caught(dimensions: int, broken: type[MahalanobisMechanism]) -> None:
    variances = uneven(dimensions)
    mechanism = broken(epsilon=7.0, variances=variances)
    # One part in 768 between Gamma(n) and Gamma(n - 1) needs more rows to be seen than the right sampler is given.
    rows = 4 * rows_for(dimensions) if broken is WrongGammaShape else rows_for(dimensions)
    pvalues = elliptical_pvalues(mechanism, variances=variances, rows=rows, rng=np.random.default_rng(14))
    assert not passes(pvalues), pvalues


class FlatAngle(PurkayasthaMechanism):
    """Draws the angle from exp(-epsilon * t), forgetting that the sphere grows with it."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        angles = np.minimum(rng.exponential(1 / self.epsilon, (len(embeddings), 1)), np.pi)
        return _turned_by(embeddings, angles, rng)


class WrongDimension(PurkayasthaMechanism):
    """Takes the angle from the sphere of another dimension: one more, or three in a hundred where n is large."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        law = PurkayasthaMechanism(epsilon=self.epsilon, dimensions=self.dimensions + max(1, self.dimensions // 32))
        return _turned_by(embeddings, law._angle.sample(len(embeddings), rng)[:, np.newaxis], rng)


class AlwaysOneSide(PurkayasthaMechanism):
    """Turns every vector towards the same side."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        angles = self._angle.sample(len(embeddings), rng)[:, np.newaxis]
        fixed = np.tile(np.sin(np.arange(self.dimensions) + 1.0), (len(embeddings), 1))
        return _turned_by(embeddings, angles, rng, sideways=fixed)


class SharedSide(PurkayasthaMechanism):
    """Turns every two neighbouring rows to the same side by the same angle."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        return np.repeat(super().perturb(embeddings[::2], rng), 2, axis=0)[: len(embeddings)]


class AngleBySide(PurkayasthaMechanism):
    """Draws angle and side rightly, and then gives the larger angles to one side."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
        side = rng.standard_normal(unit.shape)
        order = np.argsort(np.argsort(side @ np.sin(np.arange(self.dimensions) + 1.0)))
        angles = np.sort(self._angle.sample(len(embeddings), rng))[order]
        return _turned_by(embeddings, angles[:, np.newaxis], rng, sideways=side)


def _turned_by(
    embeddings: Embeddings, angles: Matrix, rng: np.random.Generator, sideways: Matrix | None = None
) -> Embeddings:
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    side = rng.standard_normal(unit.shape) if sideways is None else sideways
    side = side - np.einsum("ij,ij->i", side, unit)[:, np.newaxis] * unit
    return np.cos(angles) * unit + np.sin(angles) * side / np.linalg.norm(side, axis=1, keepdims=True)


@pytest.mark.parametrize("dimensions", [3, 16, 128, 768])
@pytest.mark.parametrize("broken", [FlatAngle, WrongDimension, AlwaysOneSide, SharedSide, AngleBySide])
def test_a_broken_directional_sampler_is_caught(dimensions: int, broken: type[PurkayasthaMechanism]) -> None:
    mechanism = broken(epsilon=40.0, dimensions=dimensions)
    rows = 4 * rows_for(dimensions)
    pvalues = purkayastha_pvalues(mechanism, dimensions=dimensions, rows=rows, rng=np.random.default_rng(15))
    assert not passes(pvalues), pvalues


def test_right_samplers_are_rarely_called_broken() -> None:
    """The stated rate of false alarms, measured: p-values of a right sampler are uniform."""
    mechanism = MahalanobisMechanism(epsilon=7.0, variances=uneven(16))
    smallest = [
        min(pvalues.values()) * len(pvalues)
        for seed in range(200)
        if (pvalues := elliptical_pvalues(mechanism, variances=uneven(16), rows=500, rng=np.random.default_rng(seed)))
    ]
    # Of 200 tests at a level of 5 % at most 10 should fail; 20 or more would happen once in 500 runs.
    assert sum(value < 0.05 for value in smallest) < 20
