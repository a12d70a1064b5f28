"""Broken samplers of directional noise."""

from __future__ import annotations

import math

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism


class FlatAngle(PurkayasthaMechanism):
    """Draws the angle from exp(-epsilon * t), forgetting that the sphere grows with it."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions that are turned wrongly."""
        return _turned(embeddings, np.minimum(rng.exponential(1 / self.epsilon, len(embeddings)), np.pi), rng)


class WrongDimension(PurkayasthaMechanism):
    """Takes the angle from the sphere of another dimension: one more, or three in a hundred where n is large."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions that are turned wrongly."""
        law = PurkayasthaMechanism(epsilon=self.epsilon, dimensions=self.dimensions + max(1, self.dimensions // 32))
        return _turned(embeddings, _angles(law, len(embeddings), rng), rng)


class AlwaysOneSide(PurkayasthaMechanism):
    """Turns every vector towards the same side."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions that are turned wrongly."""
        fixed = np.tile(np.sin(np.arange(self.dimensions) + 1.0), (len(embeddings), 1))
        return _turned(embeddings, _angles(self, len(embeddings), rng), rng, sideways=fixed)


class SharedSide(PurkayasthaMechanism):
    """Turns every two neighbouring rows to the same side by the same angle."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions that are turned wrongly."""
        return np.repeat(super().perturb(embeddings[::2], rng), 2, axis=0)[: len(embeddings)]


class AngleBySide(PurkayasthaMechanism):
    """Draws angle and side rightly, and then gives the larger angles to one side."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions that are turned wrongly."""
        side = rng.standard_normal(embeddings.shape)
        order = np.argsort(np.argsort(side @ np.sin(np.arange(self.dimensions) + 1.0)))
        return _turned(embeddings, np.sort(_angles(self, len(embeddings), rng))[order], rng, sideways=side)


class KeptLength(PurkayasthaMechanism):
    """Gives the release the length of the vector, which should not be released."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions with a length."""
        return np.asarray(super().perturb(embeddings, rng) * np.linalg.norm(embeddings, axis=1, keepdims=True))


class VonMisesFisher(PurkayasthaMechanism):
    """Samples von Mises and Fisher's law with a concentration of 1/epsilon: another law, the wrong way round."""

    def perturb(self, embeddings: Embeddings, rng: np.random.Generator) -> Embeddings:
        """Return directions that are turned wrongly."""
        return _turned(embeddings, np.arccos(self._cosines(len(embeddings), rng)), rng)

    def _cosines(self, rows: int, rng: np.random.Generator) -> Vector:
        """Return cosines of the angles, by Wood's rejection from an envelope that is a Beta law in disguise."""
        kappa, rest = 1 / self.epsilon, self.dimensions - 1
        flat = rest / (2 * kappa + math.sqrt(4 * kappa**2 + rest**2))
        peak = (1 - flat) / (1 + flat)
        top = kappa * peak + rest * math.log(1 - peak**2)
        found = np.empty(0)
        while found.size < rows:
            draft = rng.beta(rest / 2, rest / 2, rows)
            cosines = (1 - (1 + flat) * draft) / (1 - (1 - flat) * draft)
            kept = kappa * cosines + rest * np.log(1 - peak * cosines) - top >= np.log(1 - rng.random(rows))
            found = np.concatenate([found, cosines[kept]])
        return found[:rows]


def _angles(law: PurkayasthaMechanism, rows: int, rng: np.random.Generator) -> Vector:
    pole = np.eye(1, law.dimensions).repeat(rows, axis=0)
    # Named by its class, since the caller may be the broken one.
    return law.distance(PurkayasthaMechanism.perturb(law, pole, rng), pole)


def _turned(
    embeddings: Embeddings, angles: Vector, rng: np.random.Generator, sideways: Matrix | None = None
) -> Embeddings:
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    side = rng.standard_normal(unit.shape) if sideways is None else sideways
    side = side - np.einsum("ij,ij->i", side, unit)[:, np.newaxis] * unit
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return np.asarray(np.cos(angles)[:, np.newaxis] * unit + np.sin(angles)[:, np.newaxis] * side)
