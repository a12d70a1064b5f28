from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.core.search_quality import search_quality
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import ContrastPairs, LabelledCorpus, NoiseShape
from vecveil.shapes.affordable import LeftOut, affordable
from vecveil.shapes.erasure import erasing, left_over, most_directions, required
from vecveil.testing.shapes import planted_attacker, planted_pairs

_PAIRS = planted_pairs(dimensions=12, pairs=40, moved=4)
_CORPUS = planted_attacker(dimensions=12, words=4, rows=90)


def test_what_is_left_out_is_the_span_of_the_directions() -> None:
    directions = np.random.default_rng(0).standard_normal((6, 2)) * [1.0, 1e-4]
    shape = erasing(directions, centre=np.arange(6.0))
    assert shape.axes is not None
    assert list(shape.variances) == [np.inf, np.inf, 1.0, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(shape.axes[:, 2:].T @ directions, 0, atol=1e-12)
    assert shape.centre == pytest.approx(np.arange(6.0))


@pytest.mark.parametrize("count", [0, 4, 5])
def test_something_must_be_left_out_and_something_released(count: int) -> None:
    with pytest.raises(InvalidInputError, match=f"between 1 and 3 directions can be left out, got {count}"):
        erasing(np.eye(4, 5)[:, :count], centre=np.zeros(4))


@pytest.mark.parametrize("directions", [np.ones((4, 2)), np.column_stack([np.ones(4), np.zeros(4)]), np.zeros((4, 1))])
def test_directions_that_depend_on_each_other_are_refused(directions: Matrix) -> None:
    with pytest.raises(InvalidInputError, match=rf"the {directions.shape[1]} directions .* are not independent"):
        erasing(directions, centre=np.zeros(4))


def test_the_centre_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="centre must be 4 finite numbers"):
        erasing(np.eye(4)[:, :1], centre=np.zeros(3))


def test_what_is_left_over_is_a_release_without_its_noise() -> None:
    rng = np.random.default_rng(1)
    shape = erasing(rng.standard_normal((6, 2)), centre=np.arange(6.0))
    vectors = rng.standard_normal((5, 6))
    mechanism = MahalanobisMechanism(epsilon=1e12, variances=shape.variances, axes=shape.axes, centre=shape.centre)
    np.testing.assert_allclose(left_over(shape, vectors), mechanism.perturb(vectors, rng), atol=1e-9)
    whole = NoiseShape(variances=np.ones(6))
    np.testing.assert_array_equal(left_over(whole, vectors), vectors)


def test_at_most_half_of_the_dimensions_may_go() -> None:
    assert [most_directions(dimensions) for dimensions in (1, 2, 3, 384)] == [1, 1, 1, 192]


def test_a_learner_that_needs_a_corpus_of_its_dimensions_says_so() -> None:
    assert required(_CORPUS, _PAIRS, "mine") is _CORPUS
    with pytest.raises(InvalidInputError, match="the shape 'mine' reads the whole corpus, got contrast pairs alone"):
        required(None, _PAIRS, "mine")
    with pytest.raises(InvalidInputError, match="must have 12 dimensions, got 5"):
        required(planted_attacker(dimensions=5, words=2), _PAIRS, "mine")


def test_the_less_search_must_keep_the_more_can_go() -> None:
    counts = [affordable(np.eye(12), keep, _CORPUS, _PAIRS) for keep in (0.999999, 0.8, 0.4)]
    assert counts == sorted(counts)
    assert 1 <= counts[0] < counts[-1] < 12


def test_directions_that_no_text_uses_can_all_go() -> None:
    flat = np.random.default_rng(0).standard_normal((40, 8)) * ([1.0] * 4 + [0.0] * 4)
    pairs = ContrastPairs(flat + np.eye(8)[0], flat)
    corpus = LabelledCorpus(vectors=flat, words=((),) * 40)
    assert affordable(np.eye(8)[:, 4:], 0.999, corpus, pairs) == 4


def test_one_direction_goes_even_where_search_can_not_spare_it() -> None:
    line = np.arange(1.0, 41.0)[:, np.newaxis] * [1.0, 1e-3] + [0.0, 1.0]
    pairs = ContrastPairs(line + np.array([0.0, 0.1]), line)
    corpus = LabelledCorpus(vectors=line, words=((),) * 40)
    assert affordable(np.eye(2)[:, :1], 0.999, corpus, pairs) == 1


def test_too_few_texts_to_search_in_are_refused() -> None:
    corpus = LabelledCorpus(vectors=np.ones((3, 12)), words=(("gout",),) * 3)
    few = planted_pairs(dimensions=12, pairs=4, moved=2)
    with pytest.raises(InvalidInputError, match=r"a search for 10 neighbours needs more rows than that, got 4"):
        affordable(np.eye(12), 0.9, corpus, few)


def _texts(rows: int = 300) -> Matrix:
    return np.random.default_rng(2).standard_normal((rows, 16))


def test_a_search_in_the_reference_itself_is_as_good_as_can_be() -> None:
    assert search_quality(_texts(), _texts()) == pytest.approx(1)
    # Cosines take no notice of lengths.
    assert search_quality(_texts(), 5 * _texts()) == pytest.approx(1)


def test_a_search_in_shuffled_rows_finds_nothing() -> None:
    shuffled = np.random.default_rng(3).permutation(_texts())
    assert search_quality(_texts(), shuffled) == pytest.approx(0, abs=0.05)


def test_the_noisier_the_rows_the_worse_the_search() -> None:
    noise = np.random.default_rng(4).standard_normal((300, 16))
    qualities = [search_quality(_texts(), _texts() + size * noise) for size in (0.1, 0.5, 2.0)]
    assert 1 > qualities[0] > qualities[1] > qualities[2] > 0


@pytest.mark.parametrize("rows", [11, 3])
def test_a_search_needs_more_rows_than_it_returns(rows: int) -> None:
    with pytest.raises(InvalidInputError, match=f"needs more rows than that, got {rows}"):
        search_quality(_texts(rows), _texts(rows))


def test_a_search_needs_the_same_rows_on_both_sides() -> None:
    with pytest.raises(InvalidInputError, match="got 30 and 29"):
        search_quality(_texts(30), _texts(29))


def test_a_search_finds_what_looking_at_every_row_would() -> None:
    reference = _texts()
    searched = reference + np.random.default_rng(7).standard_normal(reference.shape)

    def cosines(vectors: Matrix) -> Matrix:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors @ vectors.T / (lengths * lengths.T)

    near, found = cosines(reference), cosines(searched)
    others = ~np.eye(len(near), dtype=bool)
    reached, best = (
        np.mean(
            [near[row][sorted(np.flatnonzero(others[row]), key=lambda at: -by[row, at])[:10]] for row in range(300)]
        )
        for by in (found, near)
    )
    usual = near[others].mean()
    assert search_quality(reference, searched) == pytest.approx((reached - usual) / (best - usual), abs=1e-5)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("count", [1, 5, 11])
def test_a_search_without_directions_is_that_of_the_vectors_without_them(count: int, scale: float) -> None:
    rng = np.random.default_rng(8)
    vectors = scale * (rng.standard_normal((300, 12)) * np.geomspace(0.3, 3, 12) + 0.5)
    basis, _ = np.linalg.qr(rng.standard_normal((12, 12)))
    left = vectors - ((vectors - vectors.mean(axis=0)) @ basis[:, :count]) @ basis[:, :count].T
    directions = left / np.linalg.norm(left, axis=1, keepdims=True)
    near = LeftOut(vectors, basis).similarities(count)(slice(100, 200))
    wanted = directions[100:200] @ directions.T
    # Of a row's numbers only the order counts.
    np.testing.assert_allclose(near / np.diagonal(near[:, 100:200])[:, np.newaxis], wanted, atol=2e-5)
