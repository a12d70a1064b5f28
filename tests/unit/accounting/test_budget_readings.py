from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.veils import made_veil
from vecveil.accounting import BudgetReadings, paper_noise_ratio
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import NoiseShape

READINGS = BudgetReadings(epsilon=2.0, distance="angle", noise_ratio=1.5, pair_loss=3.0)


def test_one_budget_is_read_in_three_ways() -> None:
    assert str(READINGS).splitlines() == [
        "epsilon:               2 nats per unit of angle",
        "noise-to-signal ratio: 1.5 (length of the noise / length of an embedding)",
        "median contrast pair:  a worst-case loss of 3 nats (odds change by at most a factor of 20.09)",
    ]


@pytest.mark.parametrize(("loss", "vacuous"), [(0.0, False), (10.0, False), (10.001, True), (220.4, True)])
def test_a_loss_beyond_ten_nats_promises_nothing(loss: float, vacuous: bool) -> None:
    readings = replace(READINGS, pair_loss=loss)
    assert readings.vacuous is vacuous
    assert ("e^" in str(readings)) is vacuous


@pytest.mark.parametrize(("ratio", "warnings"), [(0.1, 0), (10.0, 0), (10.1, 1), (float("inf"), 1)])
def test_noise_that_leaves_nothing_to_search_in_is_warned_of(ratio: float, warnings: int) -> None:
    found = replace(READINGS, noise_ratio=ratio).warnings
    assert len(found) == warnings
    assert all(f"{ratio:.3g} times as long as an embedding" in warning for warning in found)


@pytest.mark.parametrize("change", [{"epsilon": 0.0}, {"epsilon": float("nan")}, {"pair_loss": -1.0}])
def test_what_makes_no_sense_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match=f"{next(iter(change))} must be"):
        replace(READINGS, **change)


@pytest.mark.parametrize(("epsilon", "ratio"), [(5.0, 3.0), (10.0, 1.5), (40.0, 0.375)])
def test_the_papers_scale_stands_for_noise_of_fifteen_over_epsilon(epsilon: float, ratio: float) -> None:
    assert paper_noise_ratio(epsilon) == ratio


@pytest.mark.parametrize("epsilon", [5.0, 10.0, 40.0])
@pytest.mark.parametrize("level", [1.0, 0.2])
def test_a_veil_of_any_trace_has_that_noise(epsilon: float, level: float) -> None:
    veil = made_veil(shape=NoiseShape(variances=np.full(8, level)))
    sheet = veil.guarantee(epsilon=veil.epsilon_for(paper_epsilon=epsilon))
    assert sheet.readings.noise_ratio == pytest.approx(15 / epsilon)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_what_is_no_budget_is_none_on_the_papers_scale_either(epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match="epsilon must be"):
        paper_noise_ratio(epsilon)
