from __future__ import annotations

import pytest
from support.veils import made_veil

from vecveil.cli.options import chosen_epsilon
from vecveil.core.errors import InvalidInputError


def test_an_epsilon_is_taken_literally_unless_the_scale_says_otherwise() -> None:
    veil = made_veil()
    assert chosen_epsilon(veil, epsilon=8.0, scale="literal", noise_ratio=None) == 8.0
    assert chosen_epsilon(veil, epsilon=8.0, scale="paper", noise_ratio=None) == veil.epsilon_for(paper_epsilon=8.0)


def test_a_noise_ratio_stands_in_for_an_epsilon() -> None:
    veil = made_veil()
    literal = chosen_epsilon(veil, epsilon=None, scale="literal", noise_ratio=0.5)
    assert veil.guarantee(epsilon=literal).dials.noise_ratio == pytest.approx(0.5)


def test_the_budget_of_the_veil_is_the_last_resort() -> None:
    assert chosen_epsilon(made_veil(epsilon=7.0), epsilon=None, scale="literal", noise_ratio=None) == 7.0
    with pytest.raises(InvalidInputError, match="--epsilon or --noise-ratio"):
        chosen_epsilon(made_veil(), epsilon=None, scale="literal", noise_ratio=None)


def test_two_budgets_are_one_too_many() -> None:
    with pytest.raises(InvalidInputError, match=r"not both \(got 8\.0 and 0\.5\)"):
        chosen_epsilon(made_veil(), epsilon=8.0, scale="literal", noise_ratio=0.5)


@pytest.mark.parametrize("options", [{"noise_ratio": 0.5}, {"noise_ratio": None}])
def test_a_scale_without_an_epsilon_to_read_is_refused(options: dict[str, float | None]) -> None:
    with pytest.raises(InvalidInputError, match="--scale"):
        chosen_epsilon(made_veil(epsilon=7.0), epsilon=None, scale="paper", noise_ratio=options["noise_ratio"])
