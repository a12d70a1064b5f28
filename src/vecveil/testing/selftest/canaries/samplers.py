"""Broken samplers, each in the place of a mechanism's own."""

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.randomness import RandomRows
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism

M = TypeVar("M")


def replace_sampler(kind: type[M]) -> Callable[[Callable[[M, Embeddings, RandomRows], Matrix]], type[M]]:
    """Return what makes a mechanism of that kind out of a sampler; its docstring says what is wrong with it."""

    def replace(sampler: Callable[[M, Embeddings, RandomRows], Matrix]) -> type[M]:
        return type(sampler.__name__, (kind,), {"perturb": sampler, "__doc__": sampler.__doc__})

    return replace


_mahalanobis = replace_sampler(MahalanobisMechanism)
_purkayastha = replace_sampler(PurkayasthaMechanism)


@_mahalanobis
def wrong_gamma_shape(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Draws the radius from Gamma(n - 1) for Gamma(n); in many dimensions, where one less hardly shows, n - n/128."""
    rng, dimensions = as_generator(random), vectors.shape[1]
    shape = dimensions - max(1, dimensions // 128)
    return vectors + _stretch(mechanism, rng.gamma(shape, size=(len(vectors), 1)), rng.standard_normal(vectors.shape))


@_mahalanobis
def too_little_noise(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Adds nine tenths of the noise."""
    return vectors + 0.9 * _draw_noise(mechanism, vectors, random)


@_mahalanobis
def renormalized_noise(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Brings Σ^½X back to length one before scaling it, as a published package does."""
    rng = as_generator(random)
    shaped = rng.standard_normal(vectors.shape) * np.sqrt(mechanism.variances)
    return vectors + rng.gamma(vectors.shape[1], 1 / mechanism.epsilon, (len(vectors), 1)) * _directions(shaped)


@_mahalanobis
def per_coordinate(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Adds one-dimensional Laplace noise to each coordinate, scaled to the same mean square."""
    scale = np.sqrt((vectors.shape[1] + 1) / 2) / mechanism.epsilon
    return vectors + as_generator(random).laplace(scale=scale, size=vectors.shape) * np.sqrt(mechanism.variances)


@_mahalanobis
def ignored_variances(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Forgets the shape."""
    return LaplaceMechanism(epsilon=mechanism.epsilon, dimensions=vectors.shape[1]).perturb(vectors, random)


@_mahalanobis
def transposed_axes(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Takes the axes by rows in place of columns."""
    axes = None if mechanism.axes is None else mechanism.axes.T
    turned = MahalanobisMechanism(epsilon=mechanism.epsilon, variances=mechanism.variances, axes=axes)
    return turned.perturb(vectors, random)


@_mahalanobis
def leaked_axes(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Lets through, without noise, what should not be released."""
    unreleased, dimensions = np.isinf(mechanism.variances), vectors.shape[1]
    axes = (np.eye(dimensions) if mechanism.axes is None else mechanism.axes)[:, unreleased]
    center = np.zeros(dimensions) if mechanism.center is None else mechanism.center
    return np.asarray(MahalanobisMechanism.perturb(mechanism, vectors, random) + (vectors - center) @ axes @ axes.T)


@_mahalanobis
def shared_radius(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Draws one radius for a whole batch."""
    rng = as_generator(random)
    return vectors + _stretch(mechanism, rng.gamma(vectors.shape[1]), rng.standard_normal(vectors.shape))


@_mahalanobis
def shared_between_neighbors(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Gives every two neighboring rows the same noise, as workers with the same seed would."""
    half = _draw_noise(mechanism, vectors[::2], random.select(np.arange(0, len(vectors), 2)))
    return vectors + np.repeat(half, 2, axis=0)[: len(vectors)]


@_mahalanobis
def repeated_half(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Gives the second half of a batch the noise of the first."""
    size = -(-len(vectors) // 2)
    half = _draw_noise(mechanism, vectors[:size], random.select(np.arange(size)))
    return np.asarray(vectors + np.concatenate([half, half])[: len(vectors)])


@_mahalanobis
def antithetic(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Gives every second row the noise of the row before, turned round: two such releases average to the clean one."""
    half = _draw_noise(mechanism, vectors[::2], random.select(np.arange(0, len(vectors), 2)))
    return vectors + np.stack([half, -half], axis=1).reshape(-1, half.shape[1])[: len(vectors)]


@_mahalanobis
def clipped_tails(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Draws the direction from normals cut off at two and a half deviations."""
    rng = as_generator(random)
    normals = np.clip(rng.standard_normal(vectors.shape), -2.5, 2.5)
    return vectors + _stretch(mechanism, rng.gamma(vectors.shape[1], size=(len(vectors), 1)), normals)


@_mahalanobis
def twin_axes(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Gives the first two axes the same normal number."""
    rng = as_generator(random)
    normals = rng.standard_normal(vectors.shape)
    normals[:, 1] = normals[:, 0]
    return vectors + _stretch(mechanism, rng.gamma(vectors.shape[1], size=(len(vectors), 1)), normals)


@replace_sampler(LaplaceMechanism)
def normal_noise(mechanism: LaplaceMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Adds normal noise with a deviation of 1/epsilon, and promises what another law would keep."""
    return vectors + random.normals(vectors.shape[1]) / mechanism.epsilon


@_purkayastha
def flat_angle(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Draws the angle from exp(-epsilon * t), forgetting that the sphere grows with it."""
    angles = as_generator(random).exponential(1 / mechanism.epsilon, len(vectors))
    return _turn(vectors, np.minimum(angles, np.pi), random)


@_purkayastha
def wrong_dimension(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Takes the angle from the sphere of another dimension: one more, or three in a hundred where n is large."""
    others = mechanism.dimensions + max(1, mechanism.dimensions // 32)
    law = PurkayasthaMechanism(epsilon=mechanism.epsilon, dimensions=others)
    return _turn(vectors, _draw_angles(law, random), random)


@_purkayastha
def always_one_side(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Turns every vector towards the same side."""
    fixed = np.tile(np.sin(np.arange(mechanism.dimensions) + 1.0), (len(vectors), 1))
    return _turn(vectors, _draw_angles(mechanism, random), random, sideways=fixed)


@_purkayastha
def shared_side(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Turns every two neighboring rows to the same side by the same angle."""
    half = PurkayasthaMechanism.perturb(mechanism, vectors[::2], random.select(np.arange(0, len(vectors), 2)))
    return np.repeat(half, 2, axis=0)[: len(vectors)]


@_purkayastha
def angle_by_side(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Draws angle and side rightly, and then gives the larger angles to one side."""
    side = random.normals(mechanism.dimensions)
    order = np.argsort(np.argsort(side @ np.sin(np.arange(mechanism.dimensions) + 1.0)))
    return _turn(vectors, np.sort(_draw_angles(mechanism, random))[order], random, sideways=side)


@_purkayastha
def kept_length(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Gives the release the length of the vector, which should not be released."""
    released = PurkayasthaMechanism.perturb(mechanism, vectors, random)
    return np.asarray(released * np.linalg.norm(vectors, axis=1, keepdims=True))


@_purkayastha
def von_mises_fisher(mechanism: PurkayasthaMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    """Samples von Mises and Fisher's law with a concentration of 1/epsilon: another law, the wrong way round."""
    # By Wood's rejection from an envelope that is a Beta law in disguise.
    rng, kappa, rest = as_generator(random), 1 / mechanism.epsilon, mechanism.dimensions - 1
    flat = rest / (2 * kappa + math.sqrt(4 * kappa**2 + rest**2))
    peak = (1 - flat) / (1 + flat)
    top = kappa * peak + rest * math.log(1 - peak**2)
    found = np.empty(0)
    while found.size < len(vectors):
        draft = rng.beta(rest / 2, rest / 2, len(vectors))
        cosines = (1 - (1 + flat) * draft) / (1 - (1 - flat) * draft)
        kept = kappa * cosines + rest * np.log(1 - peak * cosines) - top >= np.log(1 - rng.random(len(vectors)))
        found = np.concatenate([found, cosines[kept]])
    return _turn(vectors, np.arccos(found[: len(vectors)]), random)


def as_generator(random: RandomRows) -> np.random.Generator:
    """Return a generator that depends on the first number of the rows, for laws that rows do not have."""
    return np.random.default_rng(int(random.uniforms(1)[0, 0] * 2**52) if len(random) else 0)


def _draw_noise(mechanism: MahalanobisMechanism, vectors: Embeddings, random: RandomRows) -> Matrix:
    # Named by its class, since the mechanism may be the broken one.
    return np.asarray(MahalanobisMechanism.perturb(mechanism, vectors, random) - vectors)


def _stretch(mechanism: MahalanobisMechanism, radii: Matrix | float, normals: Matrix) -> Matrix:
    """Return noise in the shape of a mechanism, from radii in units of 1/epsilon and normals for its directions."""
    return np.asarray(radii / mechanism.epsilon * _directions(normals) * np.sqrt(mechanism.variances))


def _directions(vectors: Matrix) -> Matrix:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _draw_angles(law: PurkayasthaMechanism, random: RandomRows) -> Vector:
    pole = np.eye(1, law.dimensions).repeat(len(random), axis=0)
    return law.distance(PurkayasthaMechanism.perturb(law, pole, random), pole)


def _turn(embeddings: Embeddings, angles: Vector, random: RandomRows, sideways: Matrix | None = None) -> Matrix:
    unit = _directions(np.asarray(embeddings, dtype=np.float64))
    side = random.normals(unit.shape[1]) if sideways is None else sideways
    side = _directions(side - np.einsum("ij,ij->i", side, unit)[:, np.newaxis] * unit)
    return np.asarray(np.cos(angles)[:, np.newaxis] * unit + np.sin(angles)[:, np.newaxis] * side)
