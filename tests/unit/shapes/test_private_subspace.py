from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, FittedShape, LabeledEmbeddings
from vecveil.shapes.private_subspace import PrivateSubspace

DIMENSIONS = 16


def _evidence(pairs: int, *, seed: int = 0) -> Evidence:
    """Return pairs that differ along the first two axes."""
    rng = np.random.default_rng(seed)
    without = rng.standard_normal((pairs, DIMENSIONS))
    change = np.zeros_like(without)
    change[:, :2] = 0.3 * rng.standard_normal((pairs, 2))
    return Evidence(
        ContrastPairs(without + change, without),
        LabeledEmbeddings(vectors=without + change, words=[("gout",)] * pairs),
    )


def _fit(pairs: int, seed: int = 0, **settings: Any) -> FittedShape:
    return PrivateSubspace(**settings).fit(_evidence(pairs), np.random.default_rng(seed))


def test_many_texts_give_the_directions_of_the_concept() -> None:
    fitted = _fit(20_000)
    assert fitted.facts["directions"] == 2
    found = fitted.shape.unreleased_axes[:2]
    assert np.linalg.svd(found)[1] == pytest.approx(np.ones(2), abs=0.02)
    assert fitted.loss is not None
    assert (fitted.loss.epsilon, fitted.loss.delta) == (1.0, 1e-6)


def test_few_texts_are_refused_with_how_far_they_are_from_enough() -> None:
    with pytest.raises(InvalidInputError, match=r"stands out from the noise of epsilon 1: the largest has 0\.\d+"):
        _fit(100)


def test_as_many_as_asked_for_are_left_out_at_most() -> None:
    assert _fit(20_000, directions=1).facts["directions"] == 1


def test_the_noise_is_that_of_the_stated_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []

    def record(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drawn.append(matrix)
        return np.ones(DIMENSIONS) * 1e9, np.eye(DIMENSIONS)

    monkeypatch.setattr("vecveil.shapes.private_subspace.principal_axes", record)
    learner = PrivateSubspace(longest=0.2)
    clean = _evidence(50).pairs
    difference = clean.with_concept - clean.without_concept
    lengths = np.linalg.norm(difference, axis=1, keepdims=True)
    cut = difference * np.minimum(1, 0.2 / lengths)
    for seed in range(60):
        learner.fit(_evidence(50), np.random.default_rng(seed))
    noise = np.stack(drawn) - cut.T @ cut
    assert np.allclose(noise, noise.transpose(0, 2, 1))
    expected = learner.loss.multiplier * math.sqrt(2) * 0.2**2
    assert noise[:, *np.triu_indices(DIMENSIONS)].std() == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("first", [0, 1])
def test_no_text_moves_the_sum_further_than_the_noise_is_for(first: int) -> None:
    # Two pairs as far apart as can be, and one against none.
    one, other = np.zeros((2, DIMENSIONS))
    one[0], other[first] = 7.0, 3.0
    longest = 0.2
    cut = [difference * min(1, longest / np.linalg.norm(difference)) for difference in (one, other)]
    apart = np.linalg.norm(np.outer(cut[0], cut[0]) - np.outer(cut[1], cut[1]))
    assert apart <= math.sqrt(2) * longest**2 + 1e-12


@pytest.mark.parametrize("settings", [{"epsilon": -1.0}, {"longest": 0.0}, {"directions": -1}, {"delta": 2.0}])
def test_bad_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(settings))):
        PrivateSubspace(**settings)
