"""A reference that did something else would be no reference: each has the law of what it is compared with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from benchmarks.references import make_algorithm_one, make_alloy, make_diffprivlib
from benchmarks.workload import make_vectors

ROWS = 2000
DEVIATIONS = np.array([0.5, 1.0, 2.0])


@pytest.mark.parametrize("root", [np.diag(DEVIATIONS), DEVIATIONS], ids=["matrix", "diagonal"])
def test_algorithm_one_has_its_radius_and_its_shape(root: np.ndarray) -> None:
    protect, point = make_algorithm_one(root, 4.0, np.random.default_rng(0)), np.ones(3)
    whitened = np.array([protect(point) - point for _ in range(ROWS)]) / DEVIATIONS
    radii = np.linalg.norm(whitened, axis=1)
    assert stats.kstest(radii, stats.gamma(3, scale=0.25).cdf).pvalue > 1e-6
    assert np.abs((whitened / radii[:, np.newaxis]).mean(axis=0)).max() < 6 / np.sqrt(3 * ROWS)


def test_diffprivlib_moves_a_vector_in_every_direction() -> None:
    point, protect = np.ones(4), make_diffprivlib(4, 20.0)
    assert protect is not None
    noise = np.array([protect(point) - point for _ in range(500)])
    assert np.linalg.norm(noise, axis=1).min() > 0
    assert np.abs(noise.mean(axis=0)).max() < 6 * noise.std() / np.sqrt(500)


def test_diffprivlib_draws_afresh_at_every_call() -> None:
    first, second = (make_diffprivlib(4, 20.0) for _ in range(2))
    assert first is not None
    assert second is not None
    assert not np.array_equal(first(np.ones(4)), second(np.ones(4)))


def test_alloy_encrypts_every_vector() -> None:
    encrypt = make_alloy(make_vectors(3, 8))
    assert encrypt is not None
    assert "2" in str(encrypt())


def test_references_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.references.find_spec", lambda _: None)
    assert make_diffprivlib(4, 1.0) is None
    assert make_alloy(make_vectors(3, 8)) is None
