from __future__ import annotations

import numpy as np
import pytest

from vecveil.testing.selftest import pairs
from vecveil.testing.selftest.pairs import Releases, observe, pairs_of
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
    found = {pair.name: pair for pair in pairs_of(tested)}
    axes = tested.shape.axes
    assert axes is not None
    for name, axis in (("far, narrowest axis", 0), ("far, widest axis", 15)):
        difference = found[name].first - found[name].second
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


@pytest.mark.parametrize("chunk", [10**6, 8])
def test_releases_are_seen_by_their_densities_and_along_the_difference(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "CHUNK_NUMBERS", chunk)
    tested = subject("laplace", "uniform", 2)
    pair = next(pair for pair in pairs_of(tested) if pair.name == "far")
    first, second = (
        observe(tested, pair, original, samples=1001, rng=np.random.default_rng(0))
        for original in (pair.first, pair.second)
    )
    for seen in (first, second):
        assert seen.near_first.shape == seen.near_second.shape == seen.along.shape == (1001,)
    assert (first.near_first - first.near_second).mean() > 0 > (second.near_first - second.near_second).mean()
    assert first.along.mean() - second.along.mean() == pytest.approx(np.linalg.norm(pair.first - pair.second), rel=0.2)


def test_one_half_chooses_and_the_other_counts() -> None:
    seen = Releases(near_first=np.arange(5.0), near_second=np.arange(5.0) + 10, along=-np.arange(5.0))
    choosing, counting = seen.halves()
    assert (choosing.near_first.tolist(), counting.near_first.tolist()) == ([0, 1], [2, 3])


def test_seen_from_the_other_side_first_and_second_are_swapped() -> None:
    seen = Releases(near_first=np.array([1.0]), near_second=np.array([3.0]), along=np.array([0.5]))
    assert seen.statistics()[:, 0].tolist() == [-2.0, 0.5, -3.0, 1.0]
    assert seen.swap().statistics()[:, 0].tolist() == [2.0, -0.5, -1.0, 3.0]
