from __future__ import annotations

import numpy as np
import pytest
from support.veils import unit_vectors

from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import ContrastPairs
from vecveil.veil.typical import TypicalLengths


def test_typical_lengths_are_medians_in_each_distance() -> None:
    first = np.tile([1.0, 0.0], (3, 1))
    second = first + np.array([[0.1, 0.0], [0.2, 0.0], [0.9, 0.0]])
    unit = MECHANISMS.load("mahalanobis").for_shape(epsilon=1.0, variances=np.array([4.0, 1.0]), axes=None, centre=None)
    typical = TypicalLengths.of(ContrastPairs(first, second), unit)
    assert (typical.signal, typical.euclidean_pair, typical.pair) == pytest.approx((1.0, 0.2, 0.1))
    assert typical.high_pair == pytest.approx(0.415)


def test_pairs_that_do_not_differ_are_refused() -> None:
    vectors = unit_vectors(3, dtype="float64")
    unit = MECHANISMS.load("mahalanobis").for_shape(epsilon=1.0, variances=np.ones(8), axes=None, centre=None)
    with pytest.raises(InvalidInputError, match="typical pair"):
        TypicalLengths.of(ContrastPairs(vectors, vectors), unit)
