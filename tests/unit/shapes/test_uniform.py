from __future__ import annotations

import numpy as np

from vecveil.shapes import Evidence, build_learner
from vecveil.testing.shapes import planted_pairs


def test_every_axis_gets_the_same_and_nothing_is_learned() -> None:
    first, second = (
        build_learner("uniform").fit(Evidence(pairs), np.random.default_rng(0))
        for pairs in (planted_pairs(dimensions=7, pairs=4, moved=moved) for moved in (1, 5))
    )
    assert first.shape.variances.tolist() == second.shape.variances.tolist() == [1.0] * 7
    assert first.shape.axes is first.shape.center is None
    assert first.facts == {}
