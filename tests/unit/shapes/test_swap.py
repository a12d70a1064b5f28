from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import ContrastPairs, Evidence, FittedShape, LabeledEmbeddings
from vecveil.shapes.swap import Swap
from vecveil.shapes.uniform import Uniform

DIMENSIONS = 12

_RNG = np.random.default_rng(0)
_DIRECTIONS = np.linalg.qr(_RNG.standard_normal((DIMENSIONS, 4)))[0]
_OWN = _RNG.standard_normal((90, DIMENSIONS)) + 2
_OTHER = _OWN + _RNG.standard_normal((90, 4)) * [4.0, 3.0, 2.0, 1.0] @ _DIRECTIONS.T
_CORPUS = LabeledEmbeddings(vectors=_OWN, words=tuple([("Chile",)] * 90))
_SWAPS = ContrastPairs(_OWN, _OTHER)


def _fit(**settings: Any) -> FittedShape:
    # Pairs without the concept point elsewhere: swaps alone count.
    pairs = ContrastPairs(_OWN, _OWN + 1)
    return Swap(**settings).fit(Evidence(pairs, _CORPUS, None, lambda: _SWAPS), np.random.default_rng(0))


def test_the_directions_of_swaps_are_left_out() -> None:
    fitted = _fit(directions=2)
    assert np.linalg.svd(fitted.shape.unreleased_axes.T @ _DIRECTIONS[:, :2])[1] == pytest.approx(np.ones(2), abs=0.05)
    assert fitted.facts["difference_left_out"] == pytest.approx(25 / 30, abs=0.08)


def test_noise_on_the_rest_follows_the_swaps() -> None:
    shape = _fit(directions=2, floor=0.01).shape
    assert shape.axes is not None
    released = np.isfinite(shape.variances)
    along = np.abs(shape.axes[:, released].T @ _DIRECTIONS)
    third, fourth = (shape.variances[released][along[:, number].argmax()] for number in (2, 3))
    assert third / fourth == pytest.approx(2, rel=0.3)
    assert shape.variances[released].mean() == pytest.approx(1)
    assert shape.variances[released].min() == pytest.approx(0.01, abs=1e-6)


def test_swaps_are_harder_to_tell_than_behind_plain_noise_of_the_same_length() -> None:
    evidence = Evidence(_SWAPS, _CORPUS, None, lambda: _SWAPS)
    lengths = []
    for learner in (Swap(directions=1), Uniform()):
        shape = learner.fit(evidence, np.random.default_rng(0)).shape
        unit = MECHANISMS.load("mahalanobis").for_shape(
            epsilon=1.0, variances=shape.variances, axes=shape.axes, center=shape.center
        )
        lengths.append(float(unit.distance(_OWN, _OTHER).mean() * unit.noise_ratio(1.0)))
    assert lengths[0] < 0.8 * lengths[1]


def test_more_directions_than_swaps_move_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"4 directions of 12, of which at most 4 can be left out, got .* 5"):
        _fit(directions=5)


def test_swaps_are_asked_for_by_name() -> None:
    with pytest.raises(InvalidInputError, match="swapped values"):
        Swap().fit(Evidence(_SWAPS, _CORPUS), np.random.default_rng(0))
