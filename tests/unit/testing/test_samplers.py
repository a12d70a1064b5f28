from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.arrays import Matrix
from vecveil.core.randomness import SeededRows
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.purkayastha import PurkayasthaMechanism
from vecveil.testing.samplers import Perturb, elliptical_pvalues, purkayastha_pvalues
from vecveil.testing.selftest.subjects import rotated_axes, uneven_variances

VARIANCES = np.append(uneven_variances(7), np.inf)
AXES = rotated_axes(8)


def seeded(mechanism: MahalanobisMechanism | PurkayasthaMechanism) -> Perturb:
    rng = np.random.default_rng(0)
    return lambda vectors: mechanism.perturb(vectors, SeededRows(rng, len(vectors)))


def elliptical(perturb: Perturb, *, epsilon: float = 5.0, axes: Matrix = AXES) -> dict[str, float]:
    return elliptical_pvalues(perturb, epsilon=epsilon, variances=VARIANCES, axes=axes, rows=2000)


def test_right_elliptical_noise_has_no_small_pvalues() -> None:
    found = elliptical(seeded(MahalanobisMechanism(epsilon=5.0, variances=VARIANCES, axes=AXES)))
    assert len(found) == 12
    assert min(found.values()) > 1e-4
    assert max(found.values()) <= 1


@pytest.mark.parametrize(("wrong", "check"), [({"epsilon": 4.0}, "radius"), ({"axes": AXES.T}, "spread")])
def test_elliptical_noise_of_another_size_or_shape_has(wrong: dict[str, float], check: str) -> None:
    settings = {"epsilon": 5.0, "axes": AXES} | wrong
    sampler = seeded(MahalanobisMechanism(variances=VARIANCES, **settings))
    assert elliptical(sampler)[check] < 1e-9


def test_noise_along_one_axis_has_a_law_too() -> None:
    mechanism = MahalanobisMechanism(epsilon=5.0, variances=np.array([2.0, np.inf]))
    found = elliptical_pvalues(seeded(mechanism), epsilon=5.0, variances=mechanism.variances, rows=2000)
    assert {"radius", "spread", "neighbors", "halves"} <= set(found)
    assert min(found.values()) > 1e-4


@pytest.mark.parametrize("dimensions", [2, 8])
def test_right_directions_have_no_small_pvalues_and_others_do(dimensions: int) -> None:
    sampler = seeded(PurkayasthaMechanism(epsilon=20.0, dimensions=dimensions))
    right, wrong = (
        purkayastha_pvalues(sampler, epsilon=epsilon, dimensions=dimensions, rows=2000) for epsilon in (20.0, 14.0)
    )
    assert min(right.values()) > 1e-4
    assert wrong["angle"] < 1e-9
