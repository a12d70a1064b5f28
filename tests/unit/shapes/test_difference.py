from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.core.arrays import Embeddings, Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, FittedShape, LabeledEmbeddings, NoiseShape
from vecveil.shapes.difference import Difference, effective_directions, second_moment


def _corpus(vectors: Embeddings) -> LabeledEmbeddings:
    return LabeledEmbeddings(vectors=vectors, words=tuple(("gout",) if row % 2 else () for row in range(len(vectors))))


def _pairs(differences: Matrix, seed: int = 0) -> ContrastPairs:
    without = np.random.default_rng(seed).standard_normal(differences.shape)
    return ContrastPairs(without + differences, without)


def _mixed(rows: int, dimensions: int, seed: int) -> Matrix:
    """Rows whose covariance has no axis along a coordinate, and sizes that differ."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((dimensions, dimensions)))[0]
    return np.asarray(rng.standard_normal((rows, dimensions)) * np.geomspace(0.2, 3, dimensions) @ turn)


_PAIRS = _pairs(_mixed(200, 6, seed=1))
_CORPUS = _corpus(_mixed(400, 6, seed=2) + 1)


def _fit(pairs: ContrastPairs = _PAIRS, corpus: LabeledEmbeddings = _CORPUS, **settings: Any) -> FittedShape:
    return Difference(**settings).fit(Evidence(pairs, corpus), np.random.default_rng(0))


def _sigma(shape: NoiseShape) -> Matrix:
    assert shape.axes is not None
    return np.asarray((shape.axes * shape.variances) @ shape.axes.T)


def _cost(ridge: float) -> Matrix:
    covariance = np.cov(_CORPUS.vectors.T, bias=True)
    return np.asarray(covariance + ridge * np.trace(covariance) / 6 * np.eye(6))


def _rivals(sigma: Matrix) -> list[Matrix]:
    """Shapes near and far: congruent ones from hardly moved to entirely other, and random ones."""
    rng = np.random.default_rng(3)
    moves = [np.eye(6) + size * rng.standard_normal((6, 6)) for size in np.geomspace(1e-2, 1, 200)]
    free = [rng.standard_normal((6, 8)) for _ in range(200)]
    return [np.asarray(move @ sigma @ move.T) for move in moves] + [np.asarray(rows @ rows.T) for rows in free]


def test_the_noise_goes_where_the_concept_moves_vectors() -> None:
    direction = np.random.default_rng(5).standard_normal(20)
    direction /= np.linalg.norm(direction)
    moved = np.random.default_rng(6).standard_normal((100, 1)) * direction
    shape = _fit(_pairs(moved), _corpus(_mixed(100, 20, seed=7)), floor=0.1).shape
    assert shape.axes is not None
    assert abs(shape.axes[:, 0] @ direction) == pytest.approx(1)
    assert shape.variances[0] == pytest.approx(0.1 + 0.9 * 20)
    assert shape.variances[1:] == pytest.approx(np.full(19, 0.1), abs=1e-5)


def test_without_a_cost_the_shape_is_the_root_of_the_second_moment() -> None:
    sigma = _sigma(_fit(floor=1e-9).shape)
    moment = second_moment(_PAIRS)
    np.testing.assert_allclose(sigma @ sigma / np.trace(sigma @ sigma), moment / np.trace(moment), atol=1e-8)


def test_no_other_shape_of_its_trace_makes_concept_changes_shorter() -> None:
    moment, sigma = second_moment(_PAIRS), _sigma(_fit(floor=1e-9).shape)

    def length(shape: Matrix) -> float:
        return float(np.trace(np.linalg.solve(shape * np.trace(sigma) / np.trace(shape), moment)))

    # Cauchy and Schwarz give the least there can be.
    least = np.sqrt(np.linalg.eigvalsh(moment)).sum() ** 2 / np.trace(sigma)
    assert length(sigma) == pytest.approx(least, rel=1e-7)
    assert min(map(length, _rivals(sigma))) > length(sigma)


def test_no_other_shape_of_its_cost_makes_concept_changes_shorter() -> None:
    moment, cost = second_moment(_PAIRS), _cost(ridge=0.1)
    sigma, costless = (_sigma(_fit(floor=1e-9, cost=name).shape) for name in ("corpus", "none"))

    def length(shape: Matrix) -> float:
        return float(np.trace(np.linalg.solve(shape * np.trace(sigma @ cost) / np.trace(shape @ cost), moment)))

    assert min(map(length, [*_rivals(sigma), costless])) > length(sigma)


def test_texts_that_differ_alike_along_all_directions_put_the_same_cost_on_them() -> None:
    costless, costed = (_sigma(_fit(**settings).shape) for settings in ({}, {"cost": "corpus", "ridge": 1e6}))
    np.testing.assert_allclose(costed, costless, atol=1e-5)


def test_a_cost_keeps_noise_from_where_texts_differ() -> None:
    everywhere = _pairs(np.random.default_rng(8).standard_normal((500, 4)))
    wide_first = _corpus(np.random.default_rng(9).standard_normal((500, 4)) * [5.0, 1.0, 1.0, 1.0])
    costless, costed = (np.diag(_sigma(_fit(everywhere, wide_first, cost=name).shape)) for name in ("none", "corpus"))
    assert costless[0] == pytest.approx(1, abs=0.1)
    assert costed[0] < 0.5 * costed[1:].min()


def test_facts_tell_how_few_directions_the_concept_has() -> None:
    line = _fit(_pairs(np.ones((50, 20))), _corpus(_mixed(100, 20, seed=7))).facts
    assert line == {"top_tenth_share": pytest.approx(1), "effective_directions": pytest.approx(1)}
    ball = _fit(_pairs(np.random.default_rng(4).standard_normal((5000, 20))), _corpus(_mixed(100, 20, seed=7))).facts
    assert ball["effective_directions"] == pytest.approx(20, abs=0.5)
    assert ball["top_tenth_share"] == pytest.approx(0.1, abs=0.02)
    assert effective_directions(np.array([2.0, 2.0, 0.0])) == 2


@pytest.mark.parametrize("learner", [Difference(cost="none"), Difference(cost="corpus")])
def test_the_same_pairs_give_the_same_shape_whatever_the_seed(learner: Difference) -> None:
    first, second = (learner.fit(Evidence(_PAIRS, _CORPUS), np.random.default_rng(seed)) for seed in (0, 1))
    assert np.array_equal(_sigma(first.shape), _sigma(second.shape))
    assert first.facts == second.facts


@pytest.mark.parametrize("cost", ["none", "corpus"])
def test_variances_follow_the_normalization(cost: str) -> None:
    assert _fit(cost=cost).shape.variances.sum() == pytest.approx(6)
    assert _fit(cost=cost, normalize="level").shape.variances.max() == pytest.approx(1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cost": "corpora"}, "did you mean 'corpus'"),
        ({"ridge": 0.0}, "ridge must be a finite number above zero, got 0.0"),
        ({"normalize": "tracee"}, "did you mean 'trace'"),
        ({"floor": 1.0}, "floor must lie between 0 and 1, got 1.0"),
    ],
)
def test_settings_are_checked_at_birth(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Difference(**settings)


def test_a_corpus_is_needed_only_for_its_cost() -> None:
    alone = Difference().fit(Evidence(_PAIRS), np.random.default_rng(0))
    assert np.array_equal(_sigma(alone.shape), _sigma(_fit().shape))
    with pytest.raises(InvalidInputError, match="learned from a whole corpus, got contrast pairs alone"):
        Difference(cost="corpus").fit(Evidence(_PAIRS), np.random.default_rng(0))


def test_pairs_and_texts_that_do_not_differ_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="the concept moves none of 5 vectors"):
        _fit(_pairs(np.zeros((5, 6))))
    with pytest.raises(InvalidInputError, match="all vectors of the corpus are the same"):
        _fit(corpus=_corpus(np.ones((5, 6))), cost="corpus")
