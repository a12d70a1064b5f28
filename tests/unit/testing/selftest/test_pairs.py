from __future__ import annotations

import numpy as np
import pytest

from vecveil.testing.selftest.pairs import pairs_of
from vecveil.testing.selftest.subjects import Subject, subjects_of


def subject(name: str, variant: str, dimensions: int) -> Subject:
    return next(found for found in subjects_of(name, (dimensions,)) if found.variant == variant)


@pytest.mark.parametrize(
    ("name", "variant"), [("laplace", "uniform"), ("mahalanobis", "rotated"), ("purkayastha", "uniform")]
)
@pytest.mark.parametrize("dimensions", [2, 16])
def test_pairs_are_as_far_apart_as_they_should_be(name: str, variant: str, dimensions: int) -> None:
    tested = subject(name, variant, dimensions)
    losses = {pair.name: tested.mechanism.epsilon * pair.distance for pair in pairs_of(tested)}
    assert losses["near"] == pytest.approx(1.0, rel=1e-3)
    for far in ("far", "far, narrowest axis", "far, widest axis"):
        assert losses[far] == pytest.approx(3 * np.sqrt(dimensions), rel=1e-3)


def test_axes_are_those_with_the_least_and_the_most_noise() -> None:
    tested = subject("mahalanobis", "rotated", 16)
    pairs = {pair.name: pair for pair in pairs_of(tested)}
    axes = tested.shape.axes
    assert axes is not None
    for name, axis in (("far, narrowest axis", 0), ("far, widest axis", 15)):
        difference = pairs[name].first - pairs[name].second
        assert abs(difference @ axes[:, axis]) == pytest.approx(np.linalg.norm(difference))


def test_what_is_not_released_makes_a_pair_at_no_distance() -> None:
    alike = {pair.name: pair for pair in pairs_of(subject("mahalanobis", "partly unreleased", 16)) if not pair.distance}
    assert set(alike) == {"unreleased axis only"}
    assert np.linalg.norm(alike["unreleased axis only"].first - alike["unreleased axis only"].second) > 0.5
    assert "length only" in {pair.name for pair in pairs_of(subject("purkayastha", "uniform", 16)) if not pair.distance}


def test_a_single_released_axis_and_an_angle_out_of_reach_make_pairs_too() -> None:
    assert len(list(pairs_of(subject("mahalanobis", "partly unreleased", 2)))) == 5
    assert all(np.isfinite(pair.second).all() for pair in pairs_of(subject("purkayastha", "strong noise", 2)))


def test_many_dimensions_have_one_pair() -> None:
    assert [pair.name for pair in pairs_of(subject("laplace", "uniform", 384))] == ["far"]
