"""Broken samplers of additive noise."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism


class WrongGammaShape(MahalanobisMechanism):
    """Draws the radius from Gamma(n - 1) for Gamma(n); in many dimensions, where one less hardly shows, n - n/128."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        rng = as_generator(random)
        rows, dimensions = embeddings.shape
        radii = rng.gamma(dimensions - max(1, dimensions // 128), 1 / self.epsilon, (rows, 1))
        return embeddings + radii * _directions(rng.standard_normal(embeddings.shape)) * np.sqrt(self.variances)


class TooLittleNoise(MahalanobisMechanism):
    """Adds nine tenths of the noise."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        return embeddings + 0.9 * (super().perturb(embeddings, random) - embeddings)


class Renormalized(MahalanobisMechanism):
    """Brings Σ^½X back to length one before scaling it, as a published package does."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        rng = as_generator(random)
        rows, dimensions = embeddings.shape
        shaped = rng.standard_normal((rows, dimensions)) * np.sqrt(self.variances)
        return embeddings + rng.gamma(dimensions, 1 / self.epsilon, (rows, 1)) * _directions(shaped)


class PerCoordinate(MahalanobisMechanism):
    """Adds one-dimensional Laplace noise to each coordinate, scaled to the same mean square."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        rng = as_generator(random)
        scale = np.sqrt((self.variances.size + 1) / 2) / self.epsilon
        return embeddings + rng.laplace(scale=scale, size=embeddings.shape) * np.sqrt(self.variances)


class IgnoredVariances(MahalanobisMechanism):
    """Forgets the shape."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        return LaplaceMechanism(epsilon=self.epsilon, dimensions=self.variances.size).perturb(embeddings, random)


class TransposedAxes(MahalanobisMechanism):
    """Takes the axes by rows in place of columns."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        axes = None if self.axes is None else self.axes.T
        return MahalanobisMechanism(epsilon=self.epsilon, variances=self.variances, axes=axes).perturb(
            embeddings, random
        )


class LeakedAxes(MahalanobisMechanism):
    """Lets through, without noise, what should not be released."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        unreleased = np.isinf(self.variances)
        axes = np.eye(self.variances.size) if self.axes is None else self.axes
        center = np.zeros(self.variances.size) if self.center is None else self.center
        leak = (embeddings - center) @ axes[:, unreleased] @ axes[:, unreleased].T
        return super().perturb(embeddings, random) + leak


class SharedRadius(MahalanobisMechanism):
    """Draws one radius for a whole batch."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        rng = as_generator(random)
        radius = rng.gamma(self.variances.size, 1 / self.epsilon)
        return embeddings + radius * _directions(rng.standard_normal(embeddings.shape)) * np.sqrt(self.variances)


class SharedBetweenNeighbors(MahalanobisMechanism):
    """Gives every two neighboring rows the same noise, as workers with the same seed would."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        half = super().perturb(embeddings[::2], random.select(np.arange(0, len(embeddings), 2))) - embeddings[::2]
        return embeddings + np.repeat(half, 2, axis=0)[: len(embeddings)]


class RepeatedHalf(MahalanobisMechanism):
    """Gives the second half of a batch the noise of the first."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        size = -(-len(embeddings) // 2)
        half = super().perturb(embeddings[:size], random.select(np.arange(size))) - embeddings[:size]
        return np.asarray(embeddings + np.concatenate([half, half])[: len(embeddings)])


class Antithetic(MahalanobisMechanism):
    """Gives every second row the noise of the row before, turned round: two such releases average to the clean one."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        half = super().perturb(embeddings[::2], random.select(np.arange(0, len(embeddings), 2))) - embeddings[::2]
        both = np.stack([half, -half], axis=1).reshape(-1, half.shape[1])
        return embeddings + both[: len(embeddings)]


class ClippedTails(MahalanobisMechanism):
    """Draws the direction from normals cut off at two and a half deviations."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        rng = as_generator(random)
        normals = np.clip(rng.standard_normal(embeddings.shape), -2.5, 2.5)
        radii = rng.gamma(self.variances.size, 1 / self.epsilon, (len(embeddings), 1))
        return embeddings + radii * _directions(normals) * np.sqrt(self.variances)


class TwinAxes(MahalanobisMechanism):
    """Gives the first two axes the same normal number."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        rng = as_generator(random)
        normals = rng.standard_normal(embeddings.shape)
        normals[:, 1] = normals[:, 0]
        radii = rng.gamma(self.variances.size, 1 / self.epsilon, (len(embeddings), 1))
        return embeddings + radii * _directions(normals) * np.sqrt(self.variances)


class NormalNoise(LaplaceMechanism):
    """Adds normal noise with a deviation of 1/epsilon, and promises what another law would keep."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return a copy with the wrong noise."""
        return np.asarray(embeddings + random.normals(embeddings.shape[1]) / self.epsilon)


def as_generator(random: RandomRows) -> np.random.Generator:
    """Return a generator that depends on the first number of the rows, for laws that rows do not have."""
    return np.random.default_rng(int(random.uniforms(1)[0, 0] * 2**52) if len(random) else 0)


def _directions(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
