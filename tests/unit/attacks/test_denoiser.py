from __future__ import annotations

import numpy as np
import pytest

from vecveil.attacks import WienerFilter
from vecveil.core.arrays import Embeddings, Matrix, Vector
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import SeededRows
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import NoiseShape

DIMENSIONS = 12


def corpus(rows: int, seed: int, *, dimensions: int = DIMENSIONS, least: float = 1e-3) -> Embeddings:
    """Return vectors whose spread falls from 1 to `least` along the axes of a turned basis."""
    spread = np.geomspace(1, least, dimensions)
    draws = np.random.default_rng(seed).standard_normal((rows, dimensions)) * spread
    return np.asarray(draws @ turned(dimensions).T + 0.3)


def turned(dimensions: int = DIMENSIONS) -> Matrix:
    basis, _ = np.linalg.qr(np.random.default_rng(99).standard_normal((dimensions, dimensions)))
    return np.asarray(basis)


def error(estimates: Embeddings, clean: Embeddings) -> float:
    return float(((estimates - clean) ** 2).sum(axis=1).mean())


def released(clean: Embeddings, shape: NoiseShape, *, epsilon: float, seed: int) -> Embeddings:
    mechanism = MahalanobisMechanism.for_shape(
        epsilon=epsilon, variances=shape.variances, axes=shape.axes, center=shape.center
    )
    return mechanism.perturb(clean, SeededRows(np.random.default_rng(seed), len(clean)))


def before_and_after(shape: NoiseShape, *, epsilon: float = 8.0) -> tuple[float, float]:
    """Return the squared error of unseen vectors as they are released, and after the filter."""
    train, test = corpus(3000, 0), corpus(800, 1)
    wiener = WienerFilter.fit(train, released(train, shape, epsilon=epsilon, seed=2), axes=shape.axes)
    seen = released(test, shape, epsilon=epsilon, seed=3)
    return error(seen, test), error(wiener(seen), test)


def test_the_filter_is_the_closed_form_on_gaussian_data() -> None:
    noise: Vector = np.linspace(0.05, 0.5, DIMENSIONS) ** 2
    clean = corpus(200_000, 0)
    seen = clean + np.sqrt(noise) * np.random.default_rng(1).standard_normal(clean.shape)
    covariance = np.cov(clean.T)
    expected = covariance @ np.linalg.inv(covariance + np.diag(noise))
    np.testing.assert_allclose(WienerFilter.fit(clean, seen).filter, expected, atol=0.01)


def test_a_gain_is_undone() -> None:
    clean = corpus(2000, 0)
    seen = clean * np.linspace(0.2, 3, DIMENSIONS) + 5
    np.testing.assert_allclose(WienerFilter.fit(clean, seen)(seen), clean, atol=1e-3)


def test_the_same_noise_along_every_axis_is_filtered() -> None:
    before, after = before_and_after(NoiseShape(variances=np.ones(DIMENSIONS)))
    assert after < 0.5 * before


def test_noise_of_a_shape_is_filtered() -> None:
    shape = NoiseShape(variances=np.geomspace(1e-4, 10, DIMENSIONS))
    before, after = before_and_after(shape)
    assert after < 0.3 * before


def test_noise_along_turned_axes_is_filtered_better_by_who_knows_them() -> None:
    shape = NoiseShape(variances=np.geomspace(1e-4, 10, DIMENSIONS), axes=turned())
    before, after = before_and_after(shape)
    train, test = corpus(3000, 0), corpus(800, 1)
    blind = WienerFilter.fit(train, released(train, shape, epsilon=8.0, seed=2))
    assert after < 0.01 * before
    assert after < 0.1 * error(blind(released(test, shape, epsilon=8.0, seed=3)), test)


@pytest.mark.parametrize("axes", [None, turned()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_an_axis_that_is_not_released_is_guessed_from_the_others(axes: Matrix | None, dtype: type) -> None:
    variances = np.array([np.inf, *np.full(DIMENSIONS - 1, 1e-4)])
    shape = NoiseShape(variances=variances, axes=axes, center=np.full(DIMENSIONS, 0.1))
    train, test = corpus(3000, 0).astype(dtype), corpus(800, 1).astype(dtype)
    wiener = WienerFilter.fit(train, released(train, shape, epsilon=50.0, seed=2), axes=axes)
    seen = released(test, shape, epsilon=50.0, seed=3)
    assert np.isfinite(wiener.filter).all()
    assert error(wiener(seen), test) < error(seen, test)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e6])
@pytest.mark.parametrize("rows", [5, 500])
def test_without_noise_vectors_stay_as_they_are(scale: float, rows: int) -> None:
    train, test = scale * corpus(rows, 0), scale * corpus(50, 1)
    np.testing.assert_allclose(WienerFilter.fit(train, train)(test), test, atol=1e-3 * scale)


@pytest.mark.parametrize("rows", [10, 30, 90])
@pytest.mark.parametrize(("ratio", "most"), [(0.1, 1.3), (1.0, 0.7), (5.0, 0.06)])
def test_with_a_few_texts_strong_noise_is_filtered_and_weak_noise_does_no_harm(
    rows: int, ratio: float, most: float
) -> None:
    """With fewer texts than dimensions, most directions have not been seen to move; new texts move along them."""
    train, test = (corpus(size, seed, dimensions=60, least=0.3) for seed, size in enumerate((rows, 300)))
    noise = ratio * np.sqrt(((test - test.mean(axis=0)) ** 2).mean())
    rng = np.random.default_rng(2)
    wiener = WienerFilter.fit(train, train + noise * rng.standard_normal(train.shape))
    seen = test + noise * rng.standard_normal(test.shape)
    assert error(wiener(seen), test) < most * error(seen, test)


def test_copies_of_a_text_are_no_new_texts() -> None:
    clean = corpus(20, 0, dimensions=60)
    once, often = WienerFilter.fit(clean, clean), WienerFilter.fit(np.tile(clean, (5, 1)), np.tile(clean, (5, 1)))
    np.testing.assert_allclose(often.filter, once.filter, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_estimates_have_the_type_of_what_was_released(dtype: type) -> None:
    clean = corpus(50, 0).astype(dtype)
    assert WienerFilter.fit(clean, clean)(clean).dtype == dtype


def test_vectors_that_do_not_move_at_all_are_no_problem() -> None:
    same = np.ones((9, 3))
    np.testing.assert_allclose(WienerFilter.fit(same, same + 1)(same + 1), same)


def test_pairs_must_match_and_be_two_or_more() -> None:
    clean = corpus(10, 0)
    with pytest.raises(InvalidInputError, match="2 rows or more, clean and released, got 10 and 9"):
        WienerFilter.fit(clean, clean[1:])
    with pytest.raises(InvalidInputError, match="got 1 and 1"):
        WienerFilter.fit(clean[:1], clean[:1])
    with pytest.raises(InvalidInputError, match="released vectors must have 12 dimensions, got 11"):
        WienerFilter.fit(clean, clean[:, 1:])
    with pytest.raises(InvalidInputError, match="axes must be orthonormal"):
        WienerFilter.fit(clean, clean, axes=2 * np.eye(DIMENSIONS))
    with pytest.raises(InvalidInputError, match="released vectors must have 12 dimensions, got 3"):
        WienerFilter.fit(clean, clean)(np.ones((2, 3)))
