from __future__ import annotations

import numpy as np
import pytest

from vecveil.mechanisms.draws import Draws, fresh_draws, generator_draws
from vecveil.mechanisms.few_axes import FewAxes
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism

DIMENSIONS = 12
AXES = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMENSIONS, DIMENSIONS)))[0]
CENTRE = np.linspace(-1, 1, DIMENSIONS)
VECTORS = np.random.default_rng(1).standard_normal((40, DIMENSIONS))


def _variances(**changed: float) -> np.ndarray:
    variances = np.full(DIMENSIONS, 0.5)
    for place, value in changed.items():
        variances[int(place[1:])] = value
    return variances


CASES = {
    "none": _variances(),
    "wide": _variances(_3=8.0),
    "narrow and wide": _variances(_0=0.01, _11=3.0),
    "unreleased": _variances(_2=np.inf, _7=np.inf),
    "all sorts": _variances(_2=np.inf, _5=9.0, _8=0.1),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_the_symmetric_root_of_the_shape_applied_to_the_normals(case: str) -> None:
    """Written out with whole matrices: normals along the released axes, stretched."""
    variances = CASES[case]
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=variances, axes=AXES, centre=CENTRE)
    released = np.isfinite(variances)
    assert mechanism.width == DIMENSIONS + (~released).sum()
    draws = generator_draws(mechanism, len(VECTORS), np.random.default_rng(2))
    coordinates = draws.normals[:, :DIMENSIONS] @ AXES
    coordinates[:, ~released] = 0
    coordinates *= draws.amounts[:, None]
    coordinates *= np.where(released, np.sqrt(np.where(released, variances, 1)), 0)
    wanted = VECTORS @ AXES + coordinates
    faint = 2.0**-24 * np.sqrt(0.5 * (released.sum() + 1)) / 3.0 * draws.normals[:, DIMENSIONS:]
    wanted[:, ~released] = (CENTRE @ AXES)[~released] + faint
    for rows in (slice(0, 3), slice(None)):
        part = Draws(draws.normals[rows].copy(), draws.amounts[rows])
        np.testing.assert_allclose(mechanism.release(VECTORS[rows], part) @ AXES, wanted[rows], rtol=0, atol=1e-12)


def test_the_length_of_the_noise_is_that_of_the_normals_along_released_axes_times_the_amount() -> None:
    variances = CASES["all sorts"]
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=variances, axes=AXES, centre=CENTRE)
    draws = generator_draws(mechanism, len(VECTORS), np.random.default_rng(2))
    lengths = draws.amounts * np.linalg.norm(draws.normals[:, :DIMENSIONS] @ AXES[:, np.isfinite(variances)], axis=1)
    np.testing.assert_allclose(mechanism.distance(mechanism.release(VECTORS, draws), VECTORS), lengths)


def test_what_is_not_released_has_no_part_in_the_release() -> None:
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=CASES["all sorts"], axes=AXES, centre=CENTRE)
    moved = VECTORS + 5 * AXES[:, 2]
    one, other = (
        mechanism.release(vectors, generator_draws(mechanism, len(VECTORS), np.random.default_rng(3)))
        for vectors in (VECTORS, moved)
    )
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_noise_along_unreleased_axes_is_faint_and_tells_nothing_of_the_other_noise() -> None:
    """With the amount of its row it would tell that, and the loss of the rest would be above what is promised."""
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=CASES["unreleased"], axes=AXES)
    vectors = np.zeros((20_000, DIMENSIONS))
    released = mechanism.release(vectors, fresh_draws(mechanism, len(vectors)))
    faint, others = released @ AXES[:, [2, 7]], np.delete(released @ AXES, [2, 7], axis=1)
    np.testing.assert_allclose(faint.std(axis=0), 2.0**-24 * others.std(), rtol=0.05)
    for along in (faint, np.log(np.abs(faint))):
        for known in (others[:, 0], np.log(np.linalg.norm(others, axis=1))):
            assert np.abs(np.corrcoef(along.T, known)[2, :2]).max() < 6 / np.sqrt(len(vectors))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 20])
def test_axes_of_few_digits_leave_no_more_of_what_is_not_released(kind: type, rows: int) -> None:
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=CASES["unreleased"], axes=AXES.astype(kind))
    own = mechanism._few_axes
    assert own is not None
    one, other = (
        mechanism.release(vectors[:rows], generator_draws(mechanism, rows, np.random.default_rng(3)))
        for vectors in (VECTORS, VECTORS + 5 * own.unreleased[0])
    )
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-14)
    np.testing.assert_allclose(own.unreleased @ own.unreleased.T, np.eye(2), atol=1e-15)


def test_many_uneven_axes_are_turned_as_a_whole() -> None:
    assert FewAxes.of(_variances(_0=1.0, _1=2.0, _2=3.0, _3=4.0), AXES, None, epsilon=3.0) is None
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=np.geomspace(0.1, 1, DIMENSIONS), axes=AXES)
    assert mechanism.width == DIMENSIONS
    erased = np.geomspace(0.1, 1, DIMENSIONS)
    erased[0] = np.inf
    assert MahalanobisMechanism(epsilon=3.0, variances=erased, axes=AXES).width == DIMENSIONS - 1
