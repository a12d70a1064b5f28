from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings, NoiseShape
from vecveil.shapes.erasure import erase, left_over
from vecveil.shapes.missing_axes import MissingAxesEstimator, fit_estimator, fit_helpful_estimator


def _twins(rows: int = 600, pairs_of_axes: int = 6, noise: float = 0.3) -> np.ndarray:
    """Vectors whose second half says nearly the same as the first."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((rows, pairs_of_axes))
    return np.hstack([half, half + noise * rng.standard_normal(half.shape)]) + 3.0


def test_what_is_left_out_is_estimated_from_what_is_released() -> None:
    vectors = _twins()
    shape = erase(np.eye(12)[:, :3], center=vectors.mean(axis=0))
    left = left_over(shape, vectors)
    estimator = fit_estimator(shape, vectors, noise=0.01)
    assert estimator is not None
    gap, filled = (np.abs(guess[:, :3] - vectors[:, :3]).mean() for guess in (left, estimator.fill(left)))
    assert filled < 0.4 * gap
    # What is released stays as it is.
    np.testing.assert_allclose(estimator.fill(left)[:, 3:], left[:, 3:], atol=1e-9)


def test_it_is_a_function_of_the_release_alone() -> None:
    vectors = _twins()
    shape = erase(np.eye(12)[:, :3], center=vectors.mean(axis=0))
    estimator = fit_estimator(shape, vectors)
    assert estimator is not None
    other = vectors.copy()
    other[:, :3] = 7.0
    np.testing.assert_allclose(
        estimator.fill(left_over(shape, other)), estimator.fill(left_over(shape, vectors)), atol=1e-9
    )


def test_more_noise_is_trusted_less() -> None:
    vectors = _twins()
    shape = erase(np.eye(12)[:, :3], center=vectors.mean(axis=0))
    quiet, loud = (fit_estimator(shape, vectors, noise=noise) for noise in (0.01, 3.0))
    assert quiet is not None
    assert loud is not None
    assert np.abs(loud.reads).sum() < 0.5 * np.abs(quiet.reads).sum()


def test_where_everything_is_released_there_is_nothing_to_estimate() -> None:
    assert fit_estimator(NoiseShape(variances=np.ones(12)), _twins()) is None


@pytest.mark.parametrize("related", [True, False])
def test_it_is_kept_only_where_search_is_the_better_for_it(related: bool) -> None:
    rng = np.random.default_rng(1)
    vectors = _twins(noise=0.1) if related else rng.standard_normal((600, 12))
    if not related:
        # Two sides that vary together in the sample, and only by a few wild rows: an estimate would mislead.
        vectors[:3, :3] = vectors[:3, 3:6] = 40.0
    corpus = LabeledEmbeddings(vectors=vectors, words=((),) * 600)
    pairs = ContrastPairs(vectors[:50], vectors[:50])
    shape = erase(np.eye(12)[:, :3], center=vectors.mean(axis=0))
    assert (fit_helpful_estimator(shape, Evidence(pairs, corpus)) is not None) == related


def test_numbers_that_do_not_fit_are_refused() -> None:
    shape = erase(np.eye(4)[:, :2], center=np.zeros(4))
    for reads in (np.ones((4, 3)), np.ones((3, 2)), np.full((4, 2), np.nan), np.full((4, 2), 1e6)):
        with pytest.raises(InvalidInputError, match=r"an estimator has \(4, 2\) finite weights"):
            MissingAxesEstimator(shape=shape, reads=reads)
