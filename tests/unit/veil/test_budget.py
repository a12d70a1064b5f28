from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.veils import made_veil, unit_vectors
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.shapes import ContrastPairs
from vecveil.veil.budget import Budget, TypicalLengths, epsilon_for_noise_ratio


def test_bisection_finds_the_epsilon_of_a_ratio() -> None:
    assert epsilon_for_noise_ratio(0.25, lambda epsilon: 7 / epsilon) == pytest.approx(28, rel=1e-10)
    assert epsilon_for_noise_ratio(2.0, lambda epsilon: epsilon**-0.5) == pytest.approx(0.25, rel=1e-10)


def test_a_ratio_that_no_epsilon_gives_is_refused_with_its_value() -> None:
    with pytest.raises(InvalidInputError, match=r"no epsilon gives a noise ratio of 3\.0"):
        epsilon_for_noise_ratio(3.0, lambda epsilon: 2 / (1 + epsilon))


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("nan"), float("inf")])
def test_a_ratio_that_is_no_positive_number_is_refused(ratio: float) -> None:
    with pytest.raises(InvalidInputError, match="noise ratio must be a finite number above zero"):
        epsilon_for_noise_ratio(ratio, lambda epsilon: 1 / epsilon)


def test_the_epsilon_of_a_noise_ratio_does_not_depend_on_the_last_bits_of_a_machine() -> None:
    epsilon = made_veil().epsilon_for(noise_ratio=0.7)
    assert epsilon == float(f"{epsilon:.11g}")


@pytest.mark.parametrize(
    ("settings", "budget", "asked"),
    [
        ({}, None, ""),
        ({"epsilon": None, "noise_ratio": None}, None, ""),
        ({"epsilon": 8.0}, Budget(value=8.0, scale="literal"), "ε = 8"),
        ({"noise_ratio": 0.5, "epsilon": None}, Budget(value=0.5, scale="noise-ratio"), "noise 0.5"),
        ({"paper_epsilon": 10.0}, Budget(value=10.0, scale="paper"), "ε = 10 (paper's scale)"),
    ],
)
def test_a_budget_is_given_by_one_of_three_settings(
    settings: dict[str, Any], budget: Budget | None, asked: str
) -> None:
    assert Budget.from_settings({"grid": "int8", **settings}) == budget
    assert budget is None or budget.asked == asked


def test_two_budgets_are_refused_with_their_values() -> None:
    with pytest.raises(InvalidInputError, match=r"give one budget, got epsilon 8\.0 and paper_epsilon 10"):
        Budget.from_settings({"epsilon": 8.0, "paper_epsilon": 10})


@pytest.mark.parametrize("name", ["epsilon", "noise_ratio", "paper_epsilon"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "8", True])
def test_a_budget_that_is_none_is_refused_with_its_value(name: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=f"must be a .*number.*, got {value!r}"):
        Budget.from_settings({name: value})


@pytest.mark.parametrize("name", ["laplace", "purkayastha", "mahalanobis"])
def test_a_budget_of_any_scale_has_its_literal_epsilon_for_every_mechanism(name: str) -> None:
    def mechanism_at(epsilon: float) -> Mechanism:
        return MECHANISMS.load(name).for_shape(epsilon=epsilon, variances=np.ones(8), axes=None, center=None)

    assert Budget(value=12.5, scale="literal").literal(mechanism_at, 3.0) == 12.5
    for value, scale, ratio in ((0.7, "noise-ratio", 0.7), (10.0, "paper", 1.5)):
        epsilon = Budget(value=value, scale=scale).literal(mechanism_at, 3.0)
        assert mechanism_at(epsilon).noise_ratio(3.0) == pytest.approx(ratio)


def test_an_unknown_scale_is_guessed() -> None:
    settings: dict[str, Any] = {"value": 1.0, "scale": "noise-rato"}
    with pytest.raises(UnknownNameError, match="did you mean 'noise-ratio'"):
        Budget(**settings)


def test_typical_lengths_are_medians_in_each_distance() -> None:
    first = np.tile([1.0, 0.0], (3, 1))
    second = first + np.array([[0.1, 0.0], [0.2, 0.0], [0.9, 0.0]])
    unit = MECHANISMS.load("mahalanobis").for_shape(epsilon=1.0, variances=np.array([4.0, 1.0]), axes=None, center=None)
    typical = TypicalLengths.from_pairs(ContrastPairs(first, second), unit, normalized=True)
    assert (typical.signal, typical.euclidean_pair, typical.pair) == pytest.approx((1.0, 0.2, 0.1))
    assert typical.high_pair == pytest.approx(0.415)


def test_pairs_that_do_not_differ_are_refused() -> None:
    vectors = unit_vectors(3, dtype="float64")
    unit = MECHANISMS.load("mahalanobis").for_shape(epsilon=1.0, variances=np.ones(8), axes=None, center=None)
    with pytest.raises(InvalidInputError, match="typical pair"):
        TypicalLengths.from_pairs(ContrastPairs(vectors, vectors), unit, normalized=True)
