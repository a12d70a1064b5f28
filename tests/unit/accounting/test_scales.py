from __future__ import annotations

import pytest

from vecveil.accounting import literal_epsilon
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms.laplace import LaplaceMechanism


def test_the_literal_scale_changes_nothing() -> None:
    assert literal_epsilon(8.0, scale="literal", dimensions=384, signal=1.0) == 8.0


@pytest.mark.parametrize("epsilon", [5.0, 10.0, 40.0])
@pytest.mark.parametrize("signal", [1.0, 3.0])
def test_the_papers_scale_gives_noise_of_fifteen_over_epsilon(epsilon: float, signal: float) -> None:
    literal = literal_epsilon(epsilon, scale="paper", dimensions=384, signal=signal)
    ratio = LaplaceMechanism(epsilon=literal, dimensions=384).noise_ratio(signal)
    assert ratio == pytest.approx(15 / epsilon, rel=2e-3)


def test_an_unknown_scale_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="did you mean 'paper'"):
        literal_epsilon(1.0, scale="papr", dimensions=2, signal=1.0)
