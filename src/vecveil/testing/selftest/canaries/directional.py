"""Broken samplers of directional noise."""

from __future__ import annotations

import math

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.testing.selftest.canaries.additive import as_generator


class FlatAngle(PurkayasthaMechanism):
    """Draws the angle from exp(-epsilon * t), forgetting that the sphere grows with it."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions that are turned wrongly."""
        angles = as_generator(random).exponential(1 / self.epsilon, len(embeddings))
        return _turn(embeddings, np.minimum(angles, np.pi), random)


class WrongDimension(PurkayasthaMechanism):
    """Takes the angle from the sphere of another dimension: one more, or three in a hundred where n is large."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions that are turned wrongly."""
        law = PurkayasthaMechanism(epsilon=self.epsilon, dimensions=self.dimensions + max(1, self.dimensions // 32))
        return _turn(embeddings, _draw_angles(law, random), random)


class AlwaysOneSide(PurkayasthaMechanism):
    """Turns every vector towards the same side."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions that are turned wrongly."""
        fixed = np.tile(np.sin(np.arange(self.dimensions) + 1.0), (len(embeddings), 1))
        return _turn(embeddings, _draw_angles(self, random), random, sideways=fixed)


class SharedSide(PurkayasthaMechanism):
    """Turns every two neighboring rows to the same side by the same angle."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions that are turned wrongly."""
        half = super().perturb(embeddings[::2], random.select(np.arange(0, len(embeddings), 2)))
        return np.repeat(half, 2, axis=0)[: len(embeddings)]


class AngleBySide(PurkayasthaMechanism):
    """Draws angle and side rightly, and then gives the larger angles to one side."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions that are turned wrongly."""
        side = random.normals(self.dimensions)
        order = np.argsort(np.argsort(side @ np.sin(np.arange(self.dimensions) + 1.0)))
        return _turn(embeddings, np.sort(_draw_angles(self, random))[order], random, sideways=side)


class KeptLength(PurkayasthaMechanism):
    """Gives the release the length of the vector, which should not be released."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions with a length."""
        return np.asarray(super().perturb(embeddings, random) * np.linalg.norm(embeddings, axis=1, keepdims=True))


class VonMisesFisher(PurkayasthaMechanism):
    """Samples von Mises and Fisher's law with a concentration of 1/epsilon: another law, the wrong way round."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        """Return directions that are turned wrongly."""
        cosines = self._draw_cosines(len(embeddings), as_generator(random))
        return _turn(embeddings, np.arccos(cosines), random)

    def _draw_cosines(self, rows: int, rng: np.random.Generator) -> Vector:
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


def _draw_angles(law: PurkayasthaMechanism, random: RandomRows) -> Vector:
    pole = np.eye(1, law.dimensions).repeat(len(random), axis=0)
    # Named by its class, since the caller may be the broken one.
    return law.distance(PurkayasthaMechanism.perturb(law, pole, random), pole)


def _turn(embeddings: Embeddings, angles: Vector, random: RandomRows, sideways: Matrix | None = None) -> Matrix:
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    side = random.normals(unit.shape[1]) if sideways is None else sideways
    side = side - np.einsum("ij,ij->i", side, unit)[:, np.newaxis] * unit
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return np.asarray(np.cos(angles)[:, np.newaxis] * unit + np.sin(angles)[:, np.newaxis] * side)
