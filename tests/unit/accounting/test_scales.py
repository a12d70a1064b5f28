from __future__ import annotations

import numpy as np
import pytest
from support.veils import made_veil

from vecveil.accounting import paper_noise_ratio
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import NoiseShape


@pytest.mark.parametrize("epsilon", [5.0, 10.0, 40.0])
@pytest.mark.parametrize("level", [1.0, 0.2])
def test_the_papers_scale_gives_noise_of_fifteen_over_epsilon_for_any_trace(epsilon: float, level: float) -> None:
    veil = made_veil(shape=NoiseShape(variances=np.full(8, level)))
    sheet = veil.guarantee(epsilon=veil.epsilon_for(paper_epsilon=epsilon))
    assert sheet.dials.noise_ratio == pytest.approx(15 / epsilon)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan")])
def test_what_is_no_budget_is_none_on_the_papers_scale_either(epsilon: float) -> None:
    with pytest.raises(InvalidInputError, match="epsilon must be"):
        paper_noise_ratio(epsilon)
