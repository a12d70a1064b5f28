"""What every mechanism must do, written once."""

from __future__ import annotations

import numpy as np

from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import keyed_streams
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.draws import generator_draws, stream_draws

KEY = bytes(range(32))


def check_mechanism(mechanism: Mechanism, dimensions: int, *, seed: int = 0) -> None:
    """Raise AssertionError unless `mechanism`, for vectors of that length, keeps the contract."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((40, dimensions)).astype(np.float32)
    _check_perturb(mechanism, vectors)
    _check_draws(mechanism, vectors)
    _check_metric_privacy(mechanism, vectors)
    _check_statement(mechanism)
    _check_refusals(mechanism, vectors)


def _check_perturb(mechanism: Mechanism, vectors: np.ndarray) -> None:
    before = vectors.copy()
    once, again, other = (mechanism.perturb(vectors, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(vectors, before), "perturb must not change its input"
    assert once.shape == vectors.shape, "perturb must keep the shape"
    assert once.dtype == vectors.dtype, "perturb must keep the type"
    assert np.isfinite(once).all(), "perturb must return finite numbers"
    assert np.array_equal(once, again), "the same generator state must give the same noise"
    assert not np.isclose(once, other).all(axis=1).any(), "another generator state must give other noise in every row"
    wide = mechanism.perturb(vectors.astype(np.float64), np.random.default_rng(1))
    assert wide.dtype == np.float64, "perturb must keep float64"
    np.testing.assert_allclose(once, wide, rtol=1e-4, atol=1e-4 * float(np.abs(wide).max()))
    assert mechanism.perturb(vectors[:0], np.random.default_rng(1)).shape == (0, vectors.shape[1])


def _check_draws(mechanism: Mechanism, vectors: np.ndarray) -> None:
    """Chance comes in through the draws alone, and each row has its own: keyed noise rests on both."""
    doubles = vectors.astype(np.float64)
    fresh = mechanism.release(doubles, generator_draws(mechanism, len(doubles), np.random.default_rng(1)))
    assert np.array_equal(fresh, mechanism.perturb(doubles, np.random.default_rng(1))), "perturb must release its draws"
    starts = [bytes([1 + row]) * 16 for row in range(len(doubles))]
    whole = mechanism.release(doubles, stream_draws(mechanism, keyed_streams(KEY, starts)))
    assert whole.dtype == np.float64, "a release must be made in double precision"
    turned = mechanism.release(doubles[::-1], stream_draws(mechanism, keyed_streams(KEY, starts[::-1])))[::-1]
    np.testing.assert_allclose(whole, turned, rtol=1e-12, atol=1e-12, err_msg="a row must not depend on its place")
    single = mechanism.release(doubles[7:8], stream_draws(mechanism, keyed_streams(KEY, starts[7:8])))
    np.testing.assert_allclose(whole[7:8], single, rtol=1e-12, atol=1e-12, err_msg="a row must not depend on others")


def _check_metric_privacy(mechanism: Mechanism, vectors: np.ndarray) -> None:
    """No output may tell two inputs apart by more than epsilon times their distance: the guarantee itself."""
    doubles = vectors.astype(np.float64)
    first, second = doubles[:20], doubles[20:]
    distance = mechanism.distance(first, second)
    assert (distance > 0).all(), "different inputs must have a distance"
    np.testing.assert_allclose(distance, mechanism.distance(second, first), err_msg="a distance must be symmetric")
    through = mechanism.distance(first, first[::-1]) + mechanism.distance(first[::-1], second)
    assert (distance <= through * (1 + 1e-9) + 1e-9).all(), "a distance must keep the triangle inequality"
    apart = np.linalg.norm(_on_sphere(mechanism, first) - _on_sphere(mechanism, second), axis=1)
    assert (mechanism.epsilon * distance <= mechanism.euclidean_loss() * apart * (1 + 1e-9)).all(), (
        "no pair may lose more than the stated loss per unit of Euclidean distance"
    )
    profile = mechanism.profile(float(distance[0]))
    assert 0 < profile.delta(0.0) <= 1, "different inputs must be told apart sometimes"
    assert profile.delta(mechanism.epsilon * float(distance[0])) == 0.0, "no loss may exceed the worst case"
    for released in (
        mechanism.perturb(first, np.random.default_rng(3)),
        mechanism.perturb(second, np.random.default_rng(4)),
    ):
        loss = mechanism.log_density(released, first) - mechanism.log_density(released, second)
        bound = mechanism.epsilon * distance
        assert (np.abs(loss) <= bound * (1 + 1e-6) + 1e-6).all(), "the privacy loss must stay within epsilon·distance"


def _on_sphere(mechanism: Mechanism, vectors: np.ndarray) -> np.ndarray:
    """Return directions where only those are released, which is where lengths make no distance."""
    if mechanism.distance(vectors[:1], 2 * vectors[:1])[0] > 1e-9:
        return vectors
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _check_statement(mechanism: Mechanism) -> None:
    promise = mechanism.guarantee()
    assert promise.epsilon == mechanism.epsilon
    assert all([promise.mechanism, promise.metric, promise.distance, promise.unit, promise.assumptions])
    shown = str(promise)
    assert promise.distance in shown
    assert promise.unit in shown
    assert all(assumption in shown for assumption in promise.assumptions), "no promise without its assumptions"
    assert mechanism.noise_ratio(1.0) > 0
    assert mechanism.released_length(1.0) > 0


def _check_refusals(mechanism: Mechanism, vectors: np.ndarray) -> None:
    hole, empty = vectors.copy(), vectors.copy()
    hole[3, 0] = np.nan
    empty[5] = 0
    wrong = {
        "row 3": hole,
        "row 5": empty,
        f"{vectors.shape[1]} dimensions": np.hstack([vectors, vectors]),
        "two dimensions": vectors[0],
    }
    for part, values in wrong.items():
        try:
            mechanism.perturb(values, np.random.default_rng(0))
        except InvalidInputError as error:
            assert part in str(error), f"the error must speak of {part!r}, got {error}"
        else:
            raise AssertionError(f"vectors at fault ({part}) must be refused")
