from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes import NoiseShape


def test_a_shape_is_diagonal_without_axes_and_rotated_with_them() -> None:
    axes = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    assert not NoiseShape(variances=np.ones(3)).rotated
    assert NoiseShape(variances=np.ones(3), axes=axes).rotated


def test_infinite_variances_are_axes_not_released() -> None:
    shape = NoiseShape(variances=np.array([np.inf, 1.0, 2.0]))
    assert (shape.dimensions, shape.released) == (3, 2)


def test_a_shape_cannot_be_changed_after_birth() -> None:
    given = np.ones(3)
    shape = NoiseShape(variances=given)
    given[0] = 9
    assert shape.variances[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        shape.variances[0] = 9


@pytest.mark.parametrize(
    ("variances", "message"),
    [
        ([1.0, 0.0], "above zero"),
        ([1.0, -1.0], "above zero"),
        ([1.0, np.nan], "above zero"),
        ([np.inf, np.inf], "at least one axis"),
        ([], "one number per axis"),
        ([[1.0]], "one number per axis"),
    ],
)
def test_variances_that_make_no_shape_are_refused(variances: list[float], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        NoiseShape(variances=np.array(variances))


def test_axes_and_center_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="orthonormal"):
        NoiseShape(variances=np.ones(2), axes=np.ones((2, 2)))
    with pytest.raises(InvalidInputError, match="center must be 2 finite numbers"):
        NoiseShape(variances=np.ones(2), center=np.ones(3))
