from __future__ import annotations

import numpy as np
import pytest

from vecveil.core import checks
from vecveil.core.errors import InvalidInputError, UnknownNameError


@pytest.mark.parametrize("value", [0, -1, 0.0, float("nan"), float("inf"), -float("inf"), "8", None, True, [1.0]])
def test_only_finite_numbers_above_zero_are_positive(value: object) -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon must be .*got"):
        checks.positive(value, "epsilon")


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3)])
def test_numbers_of_any_kind_are_positive(value: float) -> None:
    assert checks.positive(value, "epsilon") == float(value)


def test_a_fraction_excludes_its_ends() -> None:
    assert checks.fraction(0.5, "share") == 0.5
    for value in (0.0, 1.0, 1.5):
        with pytest.raises(InvalidInputError, match="share"):
            checks.fraction(value, "share")


def test_an_unknown_name_brings_the_nearest_guess() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'laplace'"):
        checks.one_of("laplce", ["laplace", "mahalanobis"], "mechanism")


def test_an_unknown_name_that_is_near_nothing_brings_the_list_alone() -> None:
    with pytest.raises(UnknownNameError) as caught:
        checks.one_of("zzz", ["laplace"], "mechanism")
    assert "did you mean" not in str(caught.value)
    assert "known: laplace" in str(caught.value)


def test_vectors_pass_unchanged() -> None:
    values = np.arange(1, 7, dtype=np.float32).reshape(2, 3)
    assert checks.embeddings(values, dimensions=3) is values


def test_whole_and_half_precision_numbers_become_single_precision() -> None:
    assert checks.embeddings([[1, 2]]).dtype == np.float32
    assert checks.embeddings(np.ones((1, 2), dtype=np.float16)).dtype == np.float32


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones(3), "two dimensions"),
        (np.ones((2, 4)), "must have 3 dimensions, got 4"),
        (np.array([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]]), "NaN or infinite numbers, first in row 11"),
        (np.array([[1.0, np.inf, 3.0], [1.0, -np.inf, 3.0]]), "NaN or infinite numbers, first in row 10"),
        (np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]), "zero vector, first in row 11"),
        ([["a", "b", "c"]], "must be numbers"),
        ([[1.0, 2.0], [1.0]], "rows of equal length"),
    ],
)
def test_vectors_at_fault_are_refused_by_row(values: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        checks.embeddings(values, dimensions=3, first_row=10)


def test_numbers_whose_sum_overflows_are_still_finite() -> None:
    values = np.full((2, 2), np.finfo(np.float64).max)
    assert checks.embeddings(values) is values


def test_axes_must_be_orthonormal() -> None:
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    assert checks.orthonormal(axes, 5) is axes
    stretched = axes.copy()
    stretched[:, 0] *= 1.001
    for wrong in (stretched, np.ones((5, 5)), axes[:, :4]):
        with pytest.raises(InvalidInputError, match="axes must"):
            checks.orthonormal(wrong, 5)
