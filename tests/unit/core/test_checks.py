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


@pytest.mark.parametrize("epsilon", [0.9e-12, 1.1e12])
def test_a_budget_whose_noise_is_no_number_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match=r"epsilon must be between 1e-12 and 1e\+12, got"):
        checks.budget(epsilon)
    assert checks.budget(np.int8(120)) == 120.0
    assert type(checks.budget(np.int8(120))) is float


def test_zero_is_not_negative() -> None:
    assert checks.not_negative(0, "distance") == 0.0
    for value in (-1e-9, float("nan"), float("inf")):
        with pytest.raises(InvalidInputError, match="distance must be a finite number of at least zero, got"):
            checks.not_negative(value, "distance")


@pytest.mark.parametrize("value", [1, 2.0, True, "3"])
def test_only_whole_numbers_are_counted(value: object) -> None:
    assert checks.at_least(2, 2, "rows") == 2
    with pytest.raises(InvalidInputError, match="rows must be a whole number of at least 2, got"):
        checks.at_least(value, 2, "rows")


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


def test_numbers_beyond_doubles_become_doubles() -> None:
    assert checks.embeddings(np.ones((1, 2), dtype=np.longdouble)).dtype == np.float64


def test_rows_may_hold_anything_where_their_form_alone_is_checked() -> None:
    assert np.isnan(checks.rows_of([[np.nan, 1.0]])).any()
    with pytest.raises(InvalidInputError, match=r"must have at least one dimension, got shape \(2, 0\)"):
        checks.rows_of(np.ones((2, 0)))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0]], "one number per axis"),
        ([], "one number per axis"),
        ([1.0, 0.0], "above zero"),
        ([1.0, np.nan], "above zero"),
        ([np.inf, np.inf], "at least one axis must be released"),
    ],
)
def test_variances_are_above_zero_and_release_something(values: list[float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        checks.variances(values)


def test_variances_and_points_can_not_be_changed_afterwards() -> None:
    for array in (checks.variances([np.inf, 1.0]), checks.point([1, 2], 2, "center")):
        assert array.dtype == np.float64
        assert not array.flags.writeable


@pytest.mark.parametrize("values", [[1.0], [1.0, np.inf], [[1.0, 2.0]]])
def test_a_point_is_as_many_finite_numbers_as_there_are_dimensions(values: object) -> None:
    with pytest.raises(InvalidInputError, match="center must be 2 finite numbers, got shape"):
        checks.point(values, 2, "center")


def test_axes_must_be_orthonormal() -> None:
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    assert checks.orthonormal(axes, 5) is axes
    stretched = axes.copy()
    stretched[:, 0] *= 1.001
    for wrong in (stretched, np.ones((5, 5)), axes[:, :4]):
        with pytest.raises(InvalidInputError, match="axes must"):
            checks.orthonormal(wrong, 5)


def test_widths_are_a_list_of_whole_numbers() -> None:
    assert checks.widths([64, 32]) == (64, 32)
    assert checks.widths(()) == ()
    for wrong in (512, "64", [0], [2.5]):
        with pytest.raises(InvalidInputError, match="hidden"):
            checks.widths(wrong)
