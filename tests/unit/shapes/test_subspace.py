from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, FittedShape, LabeledEmbeddings
from vecveil.shapes.subspace import Subspace

DIMENSIONS = 12


def _planted() -> tuple[Matrix, ContrastPairs, LabeledEmbeddings]:
    """Return three directions, pairs that differ along them and hardly elsewhere, and the corpus of all their texts."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((DIMENSIONS, 3)))[0]
    without = rng.standard_normal((60, DIMENSIONS)) + 2
    change = rng.standard_normal((60, 3)) * [3.0, 2.0, 1.0] @ directions.T
    change += 0.01 * rng.standard_normal(change.shape)
    others = rng.standard_normal((60, DIMENSIONS)) + 2
    corpus = LabeledEmbeddings(
        vectors=np.concatenate([without + change, others]), words=tuple([("gout",)] * 60 + [()] * 60)
    )
    return directions, ContrastPairs(without + change, without), corpus


_DIRECTIONS, _PAIRS, _CORPUS = _planted()


def _fit(pairs: ContrastPairs = _PAIRS, **settings: Any) -> FittedShape:
    return Subspace(**settings).fit(Evidence(pairs, _CORPUS), np.random.default_rng(0))


def test_the_directions_of_the_concept_are_left_out() -> None:
    shape = _fit(directions=3).shape
    assert shape.axes is not None
    left_out = shape.axes[:, ~np.isfinite(shape.variances)]
    assert np.linalg.svd(left_out.T @ _DIRECTIONS)[1] == pytest.approx(np.ones(3), abs=1e-3)


def test_the_rest_gets_the_same_noise_and_the_mean_stands_in() -> None:
    shape = _fit(directions=3).shape
    assert (shape.dimensions, shape.released) == (DIMENSIONS, DIMENSIONS - 3)
    assert set(shape.variances) == {1.0, np.inf}
    assert shape.center == pytest.approx(_CORPUS.vectors.mean(axis=0))


def test_no_other_directions_hold_more_of_the_concepts_changes() -> None:
    held = _fit(directions=2).facts["difference_left_out"]
    change = _PAIRS.with_concept - _PAIRS.without_concept
    rng = np.random.default_rng(1)
    others = [np.linalg.qr(rng.standard_normal((DIMENSIONS, 2)))[0] for _ in range(200)]
    shares = [float(((change @ other) ** 2).sum() / (change**2).sum()) for other in [*others, _DIRECTIONS[:, :2]]]
    assert max(shares) <= held < 1


def test_search_that_must_stay_better_leaves_less_out() -> None:
    counts = [_fit(keep=keep).facts["directions"] for keep in (0.999, 0.9, 0.5)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] <= DIMENSIONS // 2


def test_facts_tell_what_was_left_out() -> None:
    facts = _fit(directions=3).facts
    assert facts["directions"] == 3
    assert facts["difference_left_out"] == pytest.approx(1, abs=1e-3)
    assert 1 < facts["effective_directions"] < 3


def test_the_same_pairs_give_the_same_shape_whatever_the_seed() -> None:
    first, second = (Subspace().fit(Evidence(_PAIRS, _CORPUS), np.random.default_rng(seed)) for seed in (0, 1))
    assert first.facts == second.facts
    assert np.array_equal(np.asarray(first.shape.axes), np.asarray(second.shape.axes))


def test_more_directions_than_there_are_is_refused_with_their_number() -> None:
    with pytest.raises(InvalidInputError, match=r"along 12 directions of 12, of which at most 6 .* got directions 7"):
        _fit(directions=7)
    one = ContrastPairs(_PAIRS.without_concept + 1, _PAIRS.without_concept)
    with pytest.raises(InvalidInputError, match=r"along 1 directions of 12, of which at most 1 .* got directions 2"):
        _fit(one, directions=2)


def test_a_concept_that_moves_nothing_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="the concept moves none of 60 vectors"):
        _fit(ContrastPairs(_PAIRS.without_concept, _PAIRS.without_concept))


def test_a_corpus_is_needed() -> None:
    with pytest.raises(InvalidInputError, match="learned from a whole corpus, got contrast pairs alone"):
        Subspace().fit(Evidence(_PAIRS), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"directions": -1}, "directions must be a whole number of at least 0, got -1"),
        ({"directions": 2.0}, "directions must be a whole number"),
        ({"keep": 1.0}, "keep must lie between 0 and 1, got 1.0"),
    ],
)
def test_settings_are_checked_at_birth(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Subspace(**settings)
