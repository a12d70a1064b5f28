from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import FreshRows, SeededRows
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.mechanisms.spherical import spherical_noise
from vecveil.testing.mechanisms import perturb_with_seed


def test_noise_follows_the_variances() -> None:
    mechanism = MahalanobisMechanism(epsilon=1.0, variances=np.array([4.0, 1.0]))
    noise = mechanism.perturb(np.ones((20_000, 2)), FreshRows(20_000)) - 1
    assert noise[:, 0].std() / noise[:, 1].std() == pytest.approx(2.0, rel=0.05)


def test_unit_variances_are_laplace_noise() -> None:
    vectors = np.random.default_rng(0).standard_normal((5, 3))
    shaped = perturb_with_seed(MahalanobisMechanism(epsilon=2.0, variances=np.ones(3)), vectors, 1)
    plain = perturb_with_seed(LaplaceMechanism(epsilon=2.0, dimensions=3), vectors, 1)
    np.testing.assert_allclose(shaped, plain)


def test_the_density_integrates_to_one() -> None:
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=np.array([2.0, 0.3]))

    def density(first: float, second: float) -> float:
        return float(np.exp(mechanism.log_density(np.array([[first, second]]), np.zeros((1, 2))))[0])

    total, _ = integrate.dblquad(density, -12, 12, -8, 8, epsabs=1e-5)
    assert total == pytest.approx(1.0, abs=1e-3)


def test_an_unreleased_axis_holds_the_center_and_nothing_else() -> None:
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    center = np.array([1.0, 2.0, 3.0, 4.0])
    mechanism = MahalanobisMechanism(epsilon=5.0, variances=np.array([np.inf, 1.0, 1.0, 1.0]), axes=axes, center=center)
    released = mechanism.perturb(np.random.default_rng(1).standard_normal((50, 4)), FreshRows(50))
    np.testing.assert_allclose(released @ axes[:, 0], center @ axes[:, 0])


def test_pairs_that_differ_along_an_unreleased_axis_alone_lose_nothing() -> None:
    mechanism = MahalanobisMechanism(epsilon=5.0, variances=np.array([np.inf, 1.0]))
    first, second = np.array([[7.0, 1.0]]), np.array([[-7.0, 1.0]])
    assert mechanism.distance(first, second)[0] == 0
    one, other = (perturb_with_seed(mechanism, vectors, 0) for vectors in (first, second))
    assert np.array_equal(one, other)


def test_the_released_part_keeps_its_signal() -> None:
    mechanism = MahalanobisMechanism(epsilon=1e9, variances=np.array([np.inf, 1.0, 2.0]))
    vectors = np.random.default_rng(0).standard_normal((5, 3))
    released = mechanism.perturb(vectors, FreshRows(len(vectors)))
    np.testing.assert_allclose(released[:, 1:], vectors[:, 1:], atol=1e-6)
    assert not released[:, 0].any()


def test_the_noise_ratio_is_the_root_mean_square() -> None:
    mechanism = MahalanobisMechanism(epsilon=20.0, variances=np.array([3.0, 1.0, 0.5, np.inf]))
    vectors = np.full((200_000, 4), 1.0)
    noise = (mechanism.perturb(vectors, FreshRows(len(vectors))) - vectors)[:, :3]
    assert mechanism.noise_ratio(2.0) == pytest.approx(np.sqrt((noise**2).sum(axis=1).mean()) / 2, rel=0.01)


@pytest.mark.parametrize("epsilon", [0, -1.0, float("nan"), float("inf"), "8"])
def test_an_epsilon_that_is_no_budget_is_refused(epsilon: object) -> None:
    with pytest.raises(InvalidInputError, match="epsilon must be"):
        MahalanobisMechanism(epsilon=epsilon, variances=np.ones(2))


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="variances must be above zero"):
        MahalanobisMechanism(epsilon=1.0, variances=np.array([1.0, 0.0]))
    with pytest.raises(InvalidInputError, match="axes must"):
        MahalanobisMechanism(epsilon=1.0, variances=np.ones(2), axes=2 * np.eye(2))
    with pytest.raises(InvalidInputError, match="center must"):
        MahalanobisMechanism(epsilon=1.0, variances=np.ones(2), center=np.ones(3))


@pytest.mark.parametrize("decades", [2, 6, 10])
def test_a_rotated_shape_keeps_its_shape_however_uneven(decades: int) -> None:
    """A root that loses the narrow axes would add less noise along them than is promised."""
    dimensions = 24
    axes, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((dimensions, dimensions)))
    variances = np.logspace(-decades, decades, dimensions)
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=variances, axes=axes)
    # A vector that the noise along the widest axes does not round away.
    vectors = np.full((dimensions, dimensions), 1e-9)
    noise = perturb_with_seed(mechanism, vectors, 1) - vectors
    # Along the shape, lengths and angles are those of round noise.
    round_noise = spherical_noise(SeededRows(np.random.default_rng(1), dimensions), dimensions, 3.0)
    whitened = (noise @ axes) / np.sqrt(variances)
    np.testing.assert_allclose(whitened @ whitened.T, round_noise @ round_noise.T, rtol=1e-4, atol=1e-3)


DIMENSIONS = 12
AXES = np.linalg.qr(np.random.default_rng(0).standard_normal((DIMENSIONS, DIMENSIONS)))[0]
CENTER = np.linspace(-1, 1, DIMENSIONS)
VECTORS = np.random.default_rng(1).standard_normal((40, DIMENSIONS))


def changed_variances(level: float = 0.5, **changed: float) -> Matrix:
    """Return the same variance throughout but for some axes, as in `_3=8.0`."""
    variances = np.full(DIMENSIONS, level)
    for place, value in changed.items():
        variances[int(place[1:])] = value
    return variances


SHAPES = {
    "even": changed_variances(),
    "wide": changed_variances(_3=8.0),
    "narrow and wide": changed_variances(_0=0.01, _11=3.0),
    "unreleased": changed_variances(_2=np.inf, _7=np.inf),
    "all sorts": changed_variances(_2=np.inf, _5=9.0, _8=0.1),
}
every_shape = pytest.mark.parametrize("shape", SHAPES)


def rotated(shape: str, kind: type = np.float64) -> MahalanobisMechanism:
    return MahalanobisMechanism(epsilon=3.0, variances=SHAPES[shape], axes=AXES.astype(kind), center=CENTER)


@every_shape
def test_rotated_noise_is_round_noise_stretched_along_the_released_axes(shape: str) -> None:
    """Written out with whole matrices. Even noise is drawn along the coordinates, and other noise along the axes."""
    variances = SHAPES[shape]
    released = np.isfinite(variances)
    count, even = int(released.sum()), len(set(variances[released])) == 1
    rows = SeededRows(np.random.default_rng(2), len(VECTORS))
    drawn = spherical_noise(rows, count, 3.0, columns=DIMENSIONS if even else None)
    coordinates = (drawn @ AXES)[:, released] if even else drawn
    wanted = VECTORS @ AXES
    wanted[:, released] += coordinates * np.sqrt(variances[released])
    wanted[:, ~released] = (CENTER @ AXES)[~released]
    np.testing.assert_allclose(perturb_with_seed(rotated(shape), VECTORS, 2) @ AXES, wanted, rtol=0, atol=1e-12)


@every_shape
def test_noise_along_rotated_axes_has_the_stated_variances_and_is_uncorrelated(shape: str) -> None:
    released = np.isfinite(SHAPES[shape])
    vectors = np.ones((40_000, DIMENSIONS))
    noise = ((rotated(shape).perturb(vectors, FreshRows(len(vectors))) - vectors) @ AXES)[:, released]
    whitened = noise / np.sqrt(SHAPES[shape][released]) * 3.0 / np.sqrt(released.sum() + 1)
    # Six standard errors of an entry: squares of this noise vary a little more than those of normals.
    np.testing.assert_allclose(
        np.cov(whitened, rowvar=False), np.eye(int(released.sum())), atol=6 * np.sqrt(4 / 40_000)
    )


@pytest.mark.parametrize("shape", ["unreleased", "all sorts"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, 20])
def test_what_is_not_released_has_no_part_in_the_release_whatever_the_digits_of_the_axes(
    shape: str, kind: type, rows: int
) -> None:
    mechanism = rotated(shape, kind)
    assert mechanism.axes is not None
    hidden = np.linalg.qr(mechanism.axes[:, ~np.isfinite(SHAPES[shape])])[0]
    clean = VECTORS[:rows]
    one, other = (perturb_with_seed(mechanism, vectors, 3) for vectors in (clean, clean + 5 * hidden[:, 0]))
    np.testing.assert_allclose(one, other, rtol=0, atol=2e-14)
    np.testing.assert_allclose(one @ hidden, np.tile(CENTER @ hidden, (rows, 1)), rtol=0, atol=2e-14)


def test_the_largest_loss_is_along_the_axis_with_the_least_noise() -> None:
    mechanism = MahalanobisMechanism(epsilon=3.0, variances=np.array([4.0, 0.25, np.inf]))
    assert mechanism.euclidean_loss() == 6.0
    narrow = mechanism.distance(np.array([[0.0, 2.0, 5.0]]), np.zeros((1, 3)))[0]
    assert mechanism.epsilon * narrow == mechanism.euclidean_loss() * 2.0
