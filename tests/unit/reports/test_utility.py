from __future__ import annotations

import pytest

from vecveil.reports.utility import trade_off


def test_the_rate_is_the_papers() -> None:
    """The paper's STS12 row: 60.09 to 36.98 leakage, 74.25 to 73.25 utility."""
    rate, words = trade_off(0.3698, 0.6009, 0.7325, 0.7425)
    assert rate == pytest.approx(23.11)
    assert words == "hides 23.1 points for 1.0 points of utility"


@pytest.mark.parametrize("score", [0.7425, 0.75])
def test_where_no_utility_is_lost_words_say_so(score: float) -> None:
    assert trade_off(0.4, 0.6, score, 0.7425) == (None, "hides 20.0 points at no loss of utility")
    assert trade_off(0.6, 0.6, score, 0.7425) == (None, "hides nothing and costs nothing")


def test_a_defense_that_hides_nothing_has_a_rate_of_zero_or_less() -> None:
    rate, words = trade_off(0.65, 0.6, 0.7, 0.75)
    assert rate == pytest.approx(-1.0)
    assert words == "costs 5.0 points of utility and hides nothing"
