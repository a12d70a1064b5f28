from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.veils import rotated_shape

from vecveil.audit.budgets import Budget, BudgetScale
from vecveil.core.errors import InvalidInputError, UnknownNameError
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import NoiseShape

UNIFORM = NoiseShape(variances=np.ones(8))


@pytest.mark.parametrize("name", ["laplace", "purkayastha", "mahalanobis"])
def test_a_literal_budget_is_the_epsilon_itself(name: str) -> None:
    budget = Budget(value=12.5, scale="literal")
    assert budget.mechanism(MECHANISMS.load(name), UNIFORM, signal=3.0).epsilon == 12.5


@pytest.mark.parametrize("name", ["laplace", "purkayastha", "mahalanobis"])
def test_a_noise_ratio_is_the_same_for_every_mechanism(name: str) -> None:
    mechanism = Budget(value=0.7, scale="noise-ratio").mechanism(MECHANISMS.load(name), UNIFORM, signal=3.0)
    assert mechanism.noise_ratio(3.0) == pytest.approx(0.7)


def test_an_epsilon_of_the_paper_is_noise_of_fifteen_over_it() -> None:
    mechanism = Budget(value=10.0, scale="paper").mechanism(MECHANISMS.load("laplace"), UNIFORM, signal=3.0)
    assert mechanism.noise_ratio(3.0) == pytest.approx(1.5)


def test_a_shape_with_everything_is_handed_on() -> None:
    shape = rotated_shape()
    mechanism = Budget(value=1.0, scale="noise-ratio").mechanism(MECHANISMS.load("mahalanobis"), shape, signal=1.0)
    released = mechanism.perturb(np.eye(8, dtype=np.float32), np.random.default_rng(0))
    assert shape.axes is not None
    assert shape.centre is not None
    # Along the axis that is not released stands the centre, in every row.
    np.testing.assert_allclose(released @ shape.axes[:, 0], shape.centre @ shape.axes[:, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("scale", "named"),
    [("literal", "ε = 0.5"), ("paper", "ε = 0.5 (paper's scale)"), ("noise-ratio", "noise 0.5")],
)
def test_tables_name_it_by_number_and_scale(scale: BudgetScale, named: str) -> None:
    assert Budget(value=0.5, scale=scale).asked == named


@pytest.mark.parametrize(
    ("scale", "name"), [("literal", "epsilon"), ("paper", "epsilon"), ("noise-ratio", "noise ratio")]
)
@pytest.mark.parametrize("value", [0.0, -2.0, float("nan"), float("inf")])
def test_a_budget_must_be_above_zero_and_finite(scale: BudgetScale, name: str, value: float) -> None:
    with pytest.raises(InvalidInputError, match=f"{name} must be a finite number above zero"):
        Budget(value=value, scale=scale)


def test_an_unknown_scale_is_guessed() -> None:
    settings: dict[str, Any] = {"value": 1.0, "scale": "noise-rato"}
    with pytest.raises(UnknownNameError, match="did you mean 'noise-ratio'"):
        Budget(**settings)
