"""The guarantee itself, through the densities: no output tells two inputs apart by more than epsilon times distance."""

from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.randomness import SeededRows
from vecveil.mechanisms import MECHANISMS, Mechanism

DIMENSIONS = (2, 3, 16, 128, 768, 4096)


def mechanism_for(name: str, dimensions: int, epsilon: float) -> Mechanism:
    kind = MECHANISMS.load(name)
    variances = np.geomspace(0.05, 5.0, dimensions) if kind.takes_shape else np.ones(dimensions)
    return kind.for_shape(epsilon=epsilon, variances=variances, axes=None, center=None)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("name", MECHANISMS.names())
@pytest.mark.parametrize("epsilon", [0.3, 500.0])
def test_no_release_loses_more_than_promised(name: str, dimensions: int, epsilon: float) -> None:
    mechanism = mechanism_for(name, dimensions, epsilon)
    rng = np.random.default_rng(21)
    first = rng.standard_normal((200, dimensions))
    # From pairs that nearly touch to pairs far apart.
    second = first + rng.standard_normal((200, dimensions)) * np.geomspace(1e-4, 10, 200)[:, np.newaxis]
    released = mechanism.perturb(first, SeededRows(rng, len(first)))
    loss = mechanism.log_density(released, first) - mechanism.log_density(released, second)
    bound = epsilon * mechanism.distance(first, second)
    assert (np.abs(loss) <= bound * (1 + 1e-9) + 1e-7).all()


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("name", MECHANISMS.names())
def test_the_promise_is_no_larger_than_it_must_be(name: str, dimensions: int) -> None:
    """An output straight behind one input, seen from the other, loses exactly epsilon times the distance."""
    mechanism = mechanism_for(name, dimensions, 7.0)
    first = np.zeros((1, dimensions))
    first[0, 0] = 1.0
    turn = np.zeros((3, dimensions))
    turn[:, 0], turn[:, 1] = np.cos([0.0, 0.2, 0.5]), np.sin([0.0, 0.2, 0.5])
    if name == "purkayastha":
        second, behind = turn[1:2], turn[2:3]
    else:
        second, behind = first + turn[1:2], first + 3 * turn[1:2]
    loss = mechanism.log_density(behind, second) - mechanism.log_density(behind, first)
    assert loss[0] == pytest.approx(7.0 * mechanism.distance(first, second)[0])


@pytest.mark.parametrize("dimensions", [3, 16, 128, 768])
def test_rotated_and_partly_unreleased_shapes_keep_the_promise(dimensions: int) -> None:
    rng = np.random.default_rng(22)
    axes = np.linalg.qr(rng.standard_normal((dimensions, dimensions)))[0]
    variances = np.geomspace(0.05, 5.0, dimensions)
    variances[0] = np.inf
    mechanism = MECHANISMS.load("mahalanobis").for_shape(
        epsilon=9.0, variances=variances, axes=axes, center=np.ones(dimensions)
    )
    first, second = rng.standard_normal((2, 100, dimensions))
    released = mechanism.perturb(first, SeededRows(rng, len(first)))
    loss = mechanism.log_density(released, first) - mechanism.log_density(released, second)
    assert (np.abs(loss) <= 9.0 * mechanism.distance(first, second) * (1 + 1e-9) + 1e-7).all()
    # The distance is the one the guarantee prints, computed in another way.
    kept = axes[:, 1:]
    inverse = kept @ np.diag(1 / variances[1:]) @ kept.T
    difference = first - second
    printed = np.sqrt(np.einsum("ij,jk,ik->i", difference, inverse, difference))
    np.testing.assert_allclose(mechanism.distance(first, second), printed, rtol=1e-8)
