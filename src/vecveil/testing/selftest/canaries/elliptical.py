"""Broken samplers of elliptical noise, each wrong in a way that was seen somewhere or could be."""

from __future__ import annotations

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism


class WrongGammaShape(MahalanobisMechanism):
    """Draws the radius from Gamma(n - 1) for Gamma(n); in many dimensions, where one less hardly shows, n - n/128."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        rows, dimensions = embeddings.shape
        radii = rng.gamma(dimensions - max(1, dimensions // 128), 1 / self.epsilon, (rows, 1))
        return embeddings + radii * _directions(rng.standard_normal(embeddings.shape)) * np.sqrt(self.variances)


class TooLittleNoise(MahalanobisMechanism):
    """Adds nine tenths of the noise."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        return embeddings + 0.9 * (super().perturb(embeddings, rng) - embeddings)


class Renormalised(MahalanobisMechanism):
    """Brings Σ^½X back to length one before scaling it, as a published package does."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        rows, dimensions = embeddings.shape
        shaped = rng.standard_normal((rows, dimensions)) * np.sqrt(self.variances)
        return embeddings + rng.gamma(dimensions, 1 / self.epsilon, (rows, 1)) * _directions(shaped)


class PerCoordinate(MahalanobisMechanism):
    """Adds one-dimensional Laplace noise to each coordinate, scaled to the same mean square."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        scale = np.sqrt((self.variances.size + 1) / 2) / self.epsilon
        return embeddings + rng.laplace(scale=scale, size=embeddings.shape) * np.sqrt(self.variances)


class IgnoredVariances(MahalanobisMechanism):
    """Forgets the shape."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        return LaplaceMechanism(epsilon=self.epsilon, dimensions=self.variances.size).perturb(embeddings, rng)


class TransposedAxes(MahalanobisMechanism):
    """Takes the axes by rows in place of columns."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        axes = None if self.axes is None else self.axes.T
        return MahalanobisMechanism(epsilon=self.epsilon, variances=self.variances, axes=axes).perturb(embeddings, rng)


class LeakedAxes(MahalanobisMechanism):
    """Lets through, without noise, what should not be released."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        unreleased = np.isinf(self.variances)
        axes = np.eye(self.variances.size) if self.axes is None else self.axes
        centre = np.zeros(self.variances.size) if self.centre is None else self.centre
        leak = (embeddings - centre) @ axes[:, unreleased] @ axes[:, unreleased].T
        return super().perturb(embeddings, rng) + leak


class SharedRadius(MahalanobisMechanism):
    """Draws one radius for a whole batch."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        radius = rng.gamma(self.variances.size, 1 / self.epsilon)
        return embeddings + radius * _directions(rng.standard_normal(embeddings.shape)) * np.sqrt(self.variances)


class SharedBetweenNeighbours(MahalanobisMechanism):
    """Gives every two neighbouring rows the same noise, as workers with the same seed would."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        half = super().perturb(embeddings[::2], rng) - embeddings[::2]
        return embeddings + np.repeat(half, 2, axis=0)[: len(embeddings)]


class RepeatedHalf(MahalanobisMechanism):
    """Gives the second half of a batch the noise of the first."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        size = -(-len(embeddings) // 2)
        half = super().perturb(embeddings[:size], rng) - embeddings[:size]
        return np.asarray(embeddings + np.concatenate([half, half])[: len(embeddings)])


class Antithetic(MahalanobisMechanism):
    """Gives every second row the noise of the row before, turned round: two such releases average to the clean one."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        half = super().perturb(embeddings[::2], rng) - embeddings[::2]
        both = np.stack([half, -half], axis=1).reshape(-1, half.shape[1])
        return embeddings + both[: len(embeddings)]


class ClippedTails(MahalanobisMechanism):
    """Draws the direction from normals cut off at two and a half deviations."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        normals = np.clip(rng.standard_normal(embeddings.shape), -2.5, 2.5)
        radii = rng.gamma(self.variances.size, 1 / self.epsilon, (len(embeddings), 1))
        return embeddings + radii * _directions(normals) * np.sqrt(self.variances)


class TwinAxes(MahalanobisMechanism):
    """Gives the first two axes the same normal number."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return a copy with the wrong noise."""
        normals = rng.standard_normal(embeddings.shape)
        normals[:, 1] = normals[:, 0]
        radii = rng.gamma(self.variances.size, 1 / self.epsilon, (len(embeddings), 1))
        return embeddings + radii * _directions(normals) * np.sqrt(self.variances)


def _directions(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
