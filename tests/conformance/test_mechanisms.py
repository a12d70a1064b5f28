"""Every registered mechanism keeps the contract of `vecveil.testing.mechanisms`."""

from __future__ import annotations

import numpy as np
import pytest

from vecveil.mechanisms import MECHANISMS
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
        mechanism = MECHANISMS.load(name).for_shape(epsilon=epsilon, variances=variances, axes=axes, centre=np.ones(5))
        check_mechanism(mechanism, 5)
