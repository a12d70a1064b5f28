"""The guarantee itself, through the densities: no output tells two inputs apart by more than epsilon times distance."""

from __future__ import annotations

import numpy as np
import pytest

from vecveil.mechanisms import MECHANISMS, Mechanism

DIMENSIONS = (2, 3, 16, 128, 768, 4096)


def mechanism_for(name: str, dimensions: int, epsilon: float) -> Mechanism:
    kind = MECHANISMS.load(name)
    variances = np.geomspace(0.05, 5.0, dimensions) if kind.takes_shape else np.ones(dimensions)
    return kind.for_shape(epsilon=epsilon, variances=variances, axes=None, centre=None)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@pytest.mark.parametrize("name", MECHANISMS.names())
@pytest.mark.parametrize("epsilon", [0.3, 500.0])
def test_no_release_loses_more_than_promised(name: str, dimensions: int, epsilon: float) -> None:
    mechanism = mechanism_for(name, dimensions, epsilon)
    rng = np.random.default_rng(21)
    first = rng.standard_normal((200, dimensions))
    # From pairs that nearly touch to pairs far apart.
    second = first + rng.standard_normal((200, dimensions)) * np.geomspace(1e-4, 10, 200)[:, np.newaxis]
    released = mechanism.perturb(first, rng)
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


def test_a_density_that_breaks_the_promise_is_seen() -> None:
    """Noise brought back to length one after Σ^½ has no finite bound; its density, in two dimensions, shows it."""
    deviations = np.array([1.0, 0.01])

    def log_density(noise: np.ndarray) -> np.ndarray:
        radius = np.linalg.norm(noise, axis=1)
        angle = np.arctan2(noise[:, 1], noise[:, 0])
        # The direction of Σ^½X is not uniform, and the radius is Gamma along each: f(z) = r·e^{-r}·g(angle)/r.
        direction = deviations.prod() / (
            2 * np.pi * ((deviations[1] * np.cos(angle)) ** 2 + (deviations[0] * np.sin(angle)) ** 2)
        )
        return -radius + np.log(direction)

    output = np.array([[0.0, 1e-3]])
    near, nearer = np.array([[1e-3, 0.0]]), np.array([[0.0, 0.0]])
    loss = np.abs(log_density(output - near) - log_density(output - nearer))[0]
    distance = np.linalg.norm((near - nearer) / deviations)
    assert loss > 100 * distance
