from __future__ import annotations

import numpy as np
import pytest

from vecveil.accounting.profile import PrivacyProfile
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries.additive import LeakedAxes, TooLittleNoise
from vecveil.testing.selftest.canaries.directional import KeptLength
from vecveil.testing.selftest.pairs import observe, pairs_of
from vecveil.testing.selftest.privacy_loss import Loss, losses
from vecveil.testing.selftest.subjects import Subject, subject_of, uneven_shapes

LEVEL = 1e-9


def measured(subject: Subject, pair_name: str, *, samples: int = 20_000, seed: int = 0) -> list[Loss]:
    rng = np.random.default_rng(seed)
    pair = next(pair for pair in pairs_of(subject) if pair.name == pair_name)
    ours, theirs = (
        observe(subject, pair, original, samples=samples, rng=rng) for original in (pair.first, pair.second)
    )
    return list(losses(subject.title, subject.mechanism, pair, ours, theirs))


def plain(kind: type[Mechanism], dimensions: int) -> Subject:
    shape = NoiseShape(variances=np.ones(dimensions))
    return subject_of(kind, shape, name="tested", variant="uniform", law=None)


def test_the_bounds_of_a_right_mechanism_come_near_the_truth_and_stay_below() -> None:
    found = measured(plain(LaplaceMechanism, 2), "far")
    assert {(loss.check, loss.detail) for loss in found} == {
        (check, detail)
        for check in ("privacy loss", "delta at 0", "delta at 1", "delta at 2")
        for detail in ("far", "far, turned round")
    }
    for loss in found:
        assert loss.pvalue > LEVEL
        assert 0.5 * loss.exact < loss.bound(LEVEL) < loss.exact <= loss.promised


def test_a_bound_at_a_smaller_level_is_smaller() -> None:
    for loss in measured(plain(LaplaceMechanism, 2), "near"):
        assert loss.bound(1e-3) >= loss.bound(1e-12) >= 0


def test_too_little_noise_is_caught_in_many_dimensions_where_the_worst_case_says_nothing() -> None:
    found = measured(plain(TooLittleNoise, 384), "far", samples=40_000)
    caught = {loss.check for loss in found if loss.pvalue < LEVEL}
    assert "delta at 0" in caught
    assert "privacy loss" not in caught


@pytest.mark.parametrize(("kind", "right"), [(LeakedAxes, False), (MahalanobisMechanism, True)])
def test_what_is_not_released_tells_nothing_apart(kind: type[MahalanobisMechanism], right: bool) -> None:
    shape = uneven_shapes(4)["partly unreleased"]
    subject = subject_of(kind, shape, name="tested", variant="partly unreleased", law=None)
    found = measured(subject, "unreleased axis only", samples=4000)
    assert {(loss.promised, loss.exact) for loss in found} == {(0.0, 0.0)}
    assert all(loss.pvalue > LEVEL for loss in found) is right


def test_a_length_that_is_kept_is_caught() -> None:
    found = measured(plain(KeptLength, 4), "length only", samples=4000)
    assert min(loss.pvalue for loss in found) < 1e-100
    assert max(loss.bound(LEVEL) for loss in found if loss.at is None) > 3


def test_promises_and_exact_deltas_fall_with_epsilon() -> None:
    found = [loss for loss in measured(plain(LaplaceMechanism, 16), "far", samples=4000) if loss.at is not None]
    one_way = [loss for loss in found if loss.detail == "far"]
    assert [loss.exact for loss in one_way] == sorted((loss.exact for loss in one_way), reverse=True)
    assert all(loss.exact < loss.promised for loss in one_way)


class Generous(LaplaceMechanism):
    """Allows itself any delta."""

    def profile(self, distance: float) -> PrivacyProfile:
        return super().profile(1e3 * distance)


def test_a_profile_that_allows_more_than_the_promise_hides_nothing() -> None:
    (near,) = (
        loss
        for loss in measured(plain(Generous, 2), "near", samples=4000)
        if (loss.check, loss.detail) == ("delta at 2", "near")
    )
    assert near.exact > 0.9
    assert near.promised == 0
