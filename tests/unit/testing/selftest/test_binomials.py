from __future__ import annotations

import numpy as np
import pytest

from vecveil.testing.selftest.binomials import at_least, at_most, excess, excess_pvalue


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
