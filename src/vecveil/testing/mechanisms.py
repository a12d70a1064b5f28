"""The contract of mechanisms."""

import numpy as np

from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import KEY_BYTES, KeyedRows, SeededRows
from vecveil.mechanisms import Mechanism


def check_mechanism(mechanism: Mechanism, dimensions: int, *, seed: int = 0) -> None:
    """Raise AssertionError unless `mechanism`, for vectors of that length, keeps the contract."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((40, dimensions))
    _check_perturb(mechanism, vectors)
    _check_rows(mechanism, vectors)
    _check_metric_privacy(mechanism, vectors)
    _check_statement(mechanism)
    _check_refusals(mechanism, vectors)


def perturb_with_seed(mechanism: Mechanism, vectors: np.ndarray, seed: int) -> np.ndarray:
    """Return a noisy copy of vectors, the same for the same seed."""
    return mechanism.perturb(vectors, SeededRows(np.random.default_rng(seed), len(vectors)))


def _check_perturb(mechanism: Mechanism, vectors: np.ndarray) -> None:
    before = vectors.copy()
    once, again, other = (perturb_with_seed(mechanism, vectors, seed) for seed in (1, 1, 2))
    assert np.array_equal(vectors, before), "perturb must not change its input"
    assert once.shape == vectors.shape, "perturb must keep the shape"
    assert once.dtype == np.float64, "perturb must return double precision"
    assert np.isfinite(once).all(), "perturb must return finite numbers"
    assert np.array_equal(once, again), "the same random numbers must give the same noise"
    assert not np.isclose(once, other).all(axis=1).any(), "other random numbers must give other noise in every row"
    single = perturb_with_seed(mechanism, vectors.astype(np.float32), 1)
    np.testing.assert_allclose(single, once, rtol=1e-4, atol=1e-4 * float(np.abs(once).max()))
    assert perturb_with_seed(mechanism, vectors[:0], 1).shape == (0, vectors.shape[1])


def _check_rows(mechanism: Mechanism, vectors: np.ndarray) -> None:
    """Each row has random numbers of its own, and depends on no others: keyed noise rests on that."""
    key = bytes(range(KEY_BYTES))
    starts = np.random.default_rng(0).integers(2**63, size=(len(vectors), 2)).astype("<u8")
    whole = mechanism.perturb(vectors, KeyedRows(key, starts))
    turned = mechanism.perturb(vectors[::-1], KeyedRows(key, starts[::-1]))[::-1]
    np.testing.assert_allclose(whole, turned, rtol=1e-12, atol=1e-12, err_msg="a row must not depend on its place")
    single = mechanism.perturb(vectors[7:8], KeyedRows(key, starts[7:8]))
    np.testing.assert_allclose(whole[7:8], single, rtol=1e-12, atol=1e-12, err_msg="a row must not depend on others")


def _check_metric_privacy(mechanism: Mechanism, vectors: np.ndarray) -> None:
    """No output may tell two inputs apart by more than epsilon times their distance: the guarantee itself."""
    first, second = vectors[:20], vectors[20:]
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
    for released in (perturb_with_seed(mechanism, first, 3), perturb_with_seed(mechanism, second, 4)):
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
            mechanism.perturb(values, SeededRows(np.random.default_rng(0), 40))
        except InvalidInputError as error:
            assert part in str(error), f"the error must speak of {part!r}, got {error}"
        else:
            raise AssertionError(f"vectors at fault ({part}) must be refused")
