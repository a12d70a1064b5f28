from __future__ import annotations

import numpy as np
import pytest

from vecveil.accounting.profile import PrivacyProfile
from vecveil.mechanisms import Mechanism
from vecveil.mechanisms.laplace import LaplaceMechanism
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries.samplers import kept_length, leaked_axes, too_little_noise
from vecveil.testing.selftest.pairs import observe, pairs_of
from vecveil.testing.selftest.privacy_loss import Loss, at_least, at_most, excess, excess_pvalue, losses
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
    found = measured(plain(too_little_noise, 384), "far", samples=40_000)
    caught = {loss.check for loss in found if loss.pvalue < LEVEL}
    assert "delta at 0" in caught
    assert "privacy loss" not in caught


@pytest.mark.parametrize(("kind", "right"), [(leaked_axes, False), (MahalanobisMechanism, True)])
def test_what_is_not_released_tells_nothing_apart(kind: type[MahalanobisMechanism], right: bool) -> None:
    shape = uneven_shapes(4)["partly unreleased"]
    subject = subject_of(kind, shape, name="tested", variant="partly unreleased", law=None)
    found = measured(subject, "unreleased axis only", samples=4000)
    assert {(loss.promised, loss.exact) for loss in found} == {(0.0, 0.0)}
    assert all(loss.pvalue > LEVEL for loss in found) is right


def test_a_length_that_is_kept_is_caught() -> None:
    found = measured(plain(kept_length, 4), "length only", samples=4000)
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


def test_the_bounds_of_no_hit_and_of_nothing_but_hits_are_the_textbooks() -> None:
    assert float(at_least(0, 50, 0.01)) == 0
    assert float(at_most(0, 50, 0.01)) == pytest.approx(1 - 0.01 ** (1 / 50))
    assert float(at_least(50, 50, 0.01)) == pytest.approx(0.01 ** (1 / 50))
    assert float(at_most(50, 50, 0.01)) == 1


@pytest.mark.parametrize("chance", [0.002, 0.3, 0.97])
def test_bounds_are_wrong_as_rarely_as_they_say(chance: float) -> None:
    hits = np.random.default_rng(0).binomial(200, chance, size=4000)
    # Of 4000 bounds at a level of 5 % 200 may be wrong; 260 would happen once in 100,000 runs.
    assert (at_least(hits, 200, 0.05) > chance).sum() < 260
    assert (at_most(hits, 200, 0.05) < chance).sum() < 260


def test_a_bound_is_surer_and_lower_at_a_smaller_level() -> None:
    bounds = [float(excess(80, 20, 100, factor=1.0, level=level)) for level in (0.1, 1e-3, 1e-9, 1e-200)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] < 0.6


def test_the_pvalue_is_the_level_at_which_the_bound_reaches_what_is_allowed() -> None:
    pvalue = excess_pvalue(800, 200, 1000, factor=2.0, allowed=0.2)
    assert 1e-20 < pvalue < 1e-3
    assert float(excess(800, 200, 1000, factor=2.0, level=pvalue)) == pytest.approx(0.2, abs=1e-3)


def test_counts_that_prove_nothing_have_a_pvalue_of_one() -> None:
    assert excess_pvalue(100, 100, 1000, factor=1.0, allowed=0.0) == 1
    assert excess_pvalue(0, 0, 1000, factor=1.0, allowed=0.0) == 1


def test_counts_that_prove_everything_have_a_tiny_pvalue() -> None:
    assert excess_pvalue(20_000, 0, 20_000, factor=1.0, allowed=0.0) < 1e-299


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.03, 0.03), (0.6, 0.2)])
def test_small_pvalues_are_as_rare_as_they_say(first: float, second: float) -> None:
    rng = np.random.default_rng(1)
    counts = zip(rng.binomial(300, first, 400), rng.binomial(300, second, 400), strict=True)
    pvalues = [excess_pvalue(int(a), int(b), 300, factor=1.0, allowed=first - second) for a, b in counts]
    # Two bounds at half the level each: a sum of both is wrong less often than the level allows.
    assert sum(pvalue < 0.2 for pvalue in pvalues) < 80
