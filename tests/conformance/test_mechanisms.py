"""Every registered mechanism keeps the contract of `vecveil.testing.mechanisms`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from vecveil.accounting import Guarantee, PrivacyProfile
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.randomness import FreshRows, RandomRows
from vecveil.mechanisms import MECHANISMS
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.spherical import spherical_noise
from vecveil.testing.mechanisms import check_mechanism

SHAPES = {
    "laplace": [np.ones(5)],
    "purkayastha": [np.ones(5)],
    "mahalanobis": [np.ones(5), np.array([4.0, 2.0, 1.0, 0.5, 0.01]), np.array([np.inf, 2.0, 1.0, 0.5, 0.01])],
}


def test_every_registered_mechanism_is_covered() -> None:
    assert set(SHAPES) == set(MECHANISMS.names())


@pytest.mark.parametrize("name", MECHANISMS.names())
@pytest.mark.parametrize("epsilon", [0.1, 5.0, 400.0])
@pytest.mark.parametrize("rotated", [False, True])
def test_mechanism_keeps_the_contract(name: str, epsilon: float, rotated: bool) -> None:
    axes = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0] if rotated else None
    for variances in SHAPES[name]:
        mechanism = MECHANISMS.load(name).for_shape(epsilon=epsilon, variances=variances, axes=axes, center=np.ones(5))
        check_mechanism(mechanism, 5)


class Overwriting(LaplaceMechanism):
    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        released = super().perturb(embeddings, random)
        embeddings += 1
        return released


class SinglePrecision(LaplaceMechanism):
    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        return super().perturb(embeddings, random).astype(np.float32)


class NoNoise(LaplaceMechanism):
    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        super().perturb(embeddings, random)
        return np.array(embeddings, dtype=np.float64)


class OwnGenerator(LaplaceMechanism):
    """Takes numbers that were not handed in."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        return super().perturb(embeddings, FreshRows(len(random)))


class Neighborly(LaplaceMechanism):
    """Gives a row a part of the noise of the others."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        noise = super().perturb(embeddings, random) - embeddings
        return np.asarray(embeddings + noise + np.cumsum(noise, axis=0))


class Infinite(LaplaceMechanism):
    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        return np.asarray(super().perturb(embeddings, random) * np.inf)


class OneSided(LaplaceMechanism):
    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        return super().distance(first, second) * np.where(first[:, 0] > second[:, 0], 2.0, 1.0)


class Squared(LaplaceMechanism):
    """A square breaks the triangle inequality."""

    def distance(self, first: Embeddings, second: Embeddings) -> Vector:
        return super().distance(first, second) ** 4


class Understated(LaplaceMechanism):
    def euclidean_loss(self) -> float:
        return self.epsilon / 2


class Boastful(LaplaceMechanism):
    """States a density that falls off twice as fast as its promise allows."""

    def log_density(self, released: Embeddings, original: Embeddings) -> Vector:
        return 2 * super().log_density(released, original)


class Generous(LaplaceMechanism):
    """Allows itself a loss beyond the worst case."""

    def profile(self, distance: float) -> PrivacyProfile:
        return super().profile(2 * distance)


class Vague(LaplaceMechanism):
    def guarantee(self) -> Guarantee:
        return replace(super().guarantee(), assumptions=())


class Careless(LaplaceMechanism):
    """Looks at nothing that it is given."""

    def perturb(self, embeddings: Embeddings, random: RandomRows) -> Matrix:
        vectors = np.asarray(embeddings, dtype=np.float64)
        return np.asarray(vectors + spherical_noise(random, vectors.shape[-1], self.epsilon))


@pytest.mark.parametrize(
    ("broken", "fact"),
    [
        (Overwriting, "must not change its input"),
        (SinglePrecision, "must return double precision"),
        (NoNoise, "other random numbers must give other noise"),
        (OwnGenerator, "the same random numbers must give the same noise"),
        (Neighborly, "a row must not depend on its place"),
        (Infinite, "must return finite numbers"),
        (OneSided, "a distance must be symmetric"),
        (Squared, "must keep the triangle inequality"),
        (Understated, "no pair may lose more than the stated loss"),
        (Boastful, "must stay within epsilon·distance"),
        (Generous, "no loss may exceed the worst case"),
        (Vague, None),
        (Careless, "must be refused"),
    ],
)
def test_a_mechanism_that_breaks_the_contract_is_caught(broken: type[LaplaceMechanism], fact: str | None) -> None:
    check_mechanism(LaplaceMechanism(epsilon=2.0, dimensions=5), 5)
    with pytest.raises(AssertionError, match=fact):
        check_mechanism(broken(epsilon=2.0, dimensions=5), 5)
