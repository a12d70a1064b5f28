from __future__ import annotations

from dataclasses import replace

import pytest

from support.audits import UNDEFENDED, attack_row, estimate, probe_row
from vecveil.audit.rows import Estimate
from vecveil.reports.means import mean_and_range, mean_estimate, mean_row


def test_intervals_over_texts_are_averaged_over_seeds() -> None:
    found = mean_estimate([estimate(0.2, 0.1), estimate(0.4, 0.05)])
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.225, 0.375))


def test_seeds_without_a_value_are_left_out() -> None:
    one, other = (replace(attack_row(UNDEFENDED, "mlc"), precision=found) for found in (None, estimate(0.4)))
    assert mean_row([one, other]).precision == estimate(0.4)
    assert mean_row([one, one]).precision is None


def test_scores_lie_between_the_smallest_and_the_largest_seed() -> None:
    assert mean_and_range([0.1, 0.3]) == Estimate(value=0.2, low=0.1, high=0.3)


def test_every_number_of_an_attack_is_a_mean() -> None:
    row = attack_row(UNDEFENDED, "mlc")
    other = replace(
        row,
        leakage=estimate(row.leakage.value + 0.1),
        chance=row.chance + 0.02,
        auc=row.auc - 0.1,
        precision=None,
        tokens=row.tokens + 2,
        categories={"PERSON": replace(row.categories["PERSON"], leakage=estimate(0.9))},
    )
    found = mean_row([row, other])
    assert found.leakage.value == pytest.approx(row.leakage.value + 0.05)
    assert found.chance == pytest.approx(row.chance + 0.01)
    assert found.auc == pytest.approx(row.auc - 0.05)
    assert found.precision == row.precision
    assert found.tokens == row.tokens + 1
    assert found.categories["PERSON"].leakage.value == pytest.approx((row.categories["PERSON"].leakage.value + 0.9) / 2)
    assert found.categories["GPE"] == row.categories["GPE"]


def test_every_number_of_a_probe_is_a_mean() -> None:
    row = probe_row(UNDEFENDED, "mlp")
    found = mean_row([row, replace(row, auc=estimate(0.6), accuracy=0.5)])
    assert found.auc.value == pytest.approx((row.auc.value + 0.6) / 2)
    assert found.accuracy == pytest.approx((row.accuracy + 0.5) / 2)
