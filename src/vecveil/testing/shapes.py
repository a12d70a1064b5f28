"""What every shape learner must do, written once."""

from __future__ import annotations

import numpy as np

from vecveil.shapes import ContrastPairs, ShapeLearner


def check_shape_learner(learner: ShapeLearner, *, dimensions: int = 12, pairs: int = 64) -> None:
    """Raise AssertionError unless `learner` keeps the contract."""
    contrast = planted_pairs(dimensions=dimensions, pairs=pairs, moved=dimensions // 3)
    before = contrast.with_concept.copy(), contrast.without_concept.copy()
    first, second = (learner.fit(contrast, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(contrast.with_concept, before[0]), "a learner must not change the pairs"
    assert np.array_equal(contrast.without_concept, before[1]), "a learner must not change the pairs"
    assert first.shape.dimensions == dimensions, "a shape must have the vectors' dimensions"
    assert np.array_equal(first.shape.variances, second.shape.variances), "the same seed must give the same shape"
    assert first.facts == second.facts, "the same seed must give the same facts"
    assert first.shape.released > 0
    assert all(isinstance(value, float) for value in first.facts.values()), "facts must be numbers"
    assert isinstance(learner.presets, dict)


def planted_pairs(*, dimensions: int, pairs: int, moved: int, seed: int = 0) -> ContrastPairs:
    """Return pairs in which the concept moves the first `moved` dimensions and no others."""
    rng = np.random.default_rng(seed)
    without = rng.standard_normal((pairs, dimensions))
    difference = np.zeros((pairs, dimensions))
    difference[:, :moved] = 1 + 0.3 * rng.standard_normal((pairs, moved))
    return ContrastPairs((without + difference).astype(np.float32), without.astype(np.float32))
