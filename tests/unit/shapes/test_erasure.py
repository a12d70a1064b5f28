from __future__ import annotations

import numpy as np
import pytest

from vecveil.accounting import GaussianLoss
from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.core.randomness import SeededRows
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings, NoiseShape
from vecveil.shapes.erasure import (
    corpus_center,
    count_affordable,
    erase,
    left_over,
    most_directions,
    release_center,
)
from vecveil.testing.shapes import planted_evidence, planted_pairs

_EVIDENCE = planted_evidence(dimensions=12, pairs=40)


def test_what_is_left_out_is_the_span_of_the_directions() -> None:
    directions = np.random.default_rng(0).standard_normal((6, 2)) * [1.0, 1e-4]
    shape = erase(directions, center=np.arange(6.0))
    assert shape.axes is not None
    assert list(shape.variances) == [np.inf, np.inf, 1.0, 1.0, 1.0, 1.0]
    np.testing.assert_allclose(shape.axes[:, 2:].T @ directions, 0, atol=1e-12)
    assert shape.center == pytest.approx(np.arange(6.0))


@pytest.mark.parametrize("count", [0, 4, 5])
def test_something_must_be_left_out_and_something_released(count: int) -> None:
    with pytest.raises(InvalidInputError, match=f"between 1 and 3 directions can be left out, got {count}"):
        erase(np.eye(4, 5)[:, :count], center=np.zeros(4))


@pytest.mark.parametrize("directions", [np.ones((4, 2)), np.column_stack([np.ones(4), np.zeros(4)]), np.zeros((4, 1))])
def test_directions_that_depend_on_each_other_are_refused(directions: Matrix) -> None:
    with pytest.raises(InvalidInputError, match=rf"the {directions.shape[1]} directions .* are not independent"):
        erase(directions, center=np.zeros(4))


def test_the_center_must_fit() -> None:
    with pytest.raises(InvalidInputError, match="center must be 4 finite numbers"):
        erase(np.eye(4)[:, :1], center=np.zeros(3))


def test_what_is_left_over_is_a_release_without_its_noise() -> None:
    rng = np.random.default_rng(1)
    shape = erase(rng.standard_normal((6, 2)), center=np.arange(6.0))
    vectors = rng.standard_normal((5, 6))
    mechanism = MahalanobisMechanism(epsilon=1e12, variances=shape.variances, axes=shape.axes, center=shape.center)
    np.testing.assert_allclose(left_over(shape, vectors), mechanism.perturb(vectors, SeededRows(rng, 5)), atol=1e-9)
    whole = NoiseShape(variances=np.ones(6))
    np.testing.assert_array_equal(left_over(whole, vectors), vectors)


def test_at_most_half_of_the_dimensions_may_go() -> None:
    assert [most_directions(dimensions) for dimensions in (1, 2, 3, 384)] == [1, 1, 1, 192]


def test_the_center_of_a_corpus_is_its_mean() -> None:
    corpus = LabeledEmbeddings(vectors=np.array([[1e8, 0.0], [1.0, 2.0]], np.float32), words=((), ()))
    assert corpus_center(corpus).tolist() == [50_000_000.5, 1.0]


def test_the_less_search_must_keep_the_more_can_go() -> None:
    counts = [count_affordable(np.eye(12), keep, _EVIDENCE) for keep in (0.999999, 0.8, 0.4)]
    assert counts == sorted(counts)
    assert 1 <= counts[0] < counts[-1] < 12


def test_directions_that_no_text_uses_can_all_go() -> None:
    flat = np.random.default_rng(0).standard_normal((40, 8)) * ([1.0] * 4 + [0.0] * 4)
    pairs = ContrastPairs(flat + np.eye(8)[0], flat)
    corpus = LabeledEmbeddings(vectors=flat, words=((),) * 40)
    assert count_affordable(np.eye(8)[:, 4:], 0.999, Evidence(pairs, corpus)) == 4


def test_one_direction_goes_even_where_search_can_not_spare_it() -> None:
    line = np.arange(1.0, 41.0)[:, np.newaxis] * [1.0, 1e-3] + [0.0, 1.0]
    pairs = ContrastPairs(line + np.array([0.0, 0.1]), line)
    corpus = LabeledEmbeddings(vectors=line, words=((),) * 40)
    assert count_affordable(np.eye(2)[:, :1], 0.999, Evidence(pairs, corpus)) == 1


def test_too_few_texts_to_search_in_are_refused() -> None:
    corpus = LabeledEmbeddings(vectors=np.ones((3, 12)), words=(("gout",),) * 3)
    few = planted_pairs(dimensions=12, pairs=4, moved=2)
    with pytest.raises(InvalidInputError, match=r"a search for 10 neighbors needs more rows than that, got 4"):
        count_affordable(np.eye(12), 0.9, Evidence(few, corpus))


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_vectors_changes_nothing(scale: float) -> None:
    pairs, corpus = _EVIDENCE.pairs, _EVIDENCE.corpus
    scaled = Evidence(
        ContrastPairs(scale * pairs.with_concept, scale * pairs.without_concept),
        LabeledEmbeddings(vectors=scale * corpus.vectors, words=corpus.words),
    )
    for keep in (0.9, 0.6, 0.3):
        assert count_affordable(np.eye(12), keep, scaled) == count_affordable(np.eye(12), keep, _EVIDENCE)


def _corpus(rows: int, length: float = 1.0) -> LabeledEmbeddings:
    vectors = np.random.default_rng(0).standard_normal((rows, 6)) + 1
    vectors *= length / np.linalg.norm(vectors, axis=1, keepdims=True)
    return LabeledEmbeddings(vectors=vectors, words=[()] * rows)


@pytest.mark.parametrize("length", [1.0, 12.0])
def test_a_released_center_is_near_the_mean_of_many_texts(length: float) -> None:
    corpus = _corpus(50_000, length)
    shape = erase(np.eye(6)[:, :1], center=corpus_center(corpus))
    center = release_center(shape, corpus, GaussianLoss(), np.random.default_rng(0)).center
    assert center is not None
    assert np.abs(center - corpus_center(corpus)).max() < 1e-3 * length
    assert not np.array_equal(center, shape.center)  # type: ignore[arg-type]


def test_the_center_of_few_texts_is_drawn_to_the_origin() -> None:
    corpus = _corpus(10)
    shape = erase(np.eye(6)[:, :1], center=corpus_center(corpus))
    centers = [release_center(shape, corpus, GaussianLoss(), np.random.default_rng(seed)).center for seed in range(20)]
    assert sum(not np.any(center) for center in centers) >= 5


def test_one_long_vector_moves_a_released_center_no_further_than_another() -> None:
    corpus = _corpus(1_000)
    wild = LabeledEmbeddings(vectors=np.concatenate([corpus.vectors[1:], np.full((1, 6), 1e6)]), words=corpus.words)
    shape = erase(np.eye(6)[:, :1], center=np.zeros(6))
    one, other = (
        release_center(shape, each, GaussianLoss(), np.random.default_rng(0)).center for each in (corpus, wild)
    )
    assert np.linalg.norm(one - other) <= 2 / 1_000 + 1e-3  # type: ignore[operator]


def test_a_shape_without_a_center_stays_as_it_is() -> None:
    shape = NoiseShape(variances=np.ones(6))
    assert release_center(shape, _corpus(10), GaussianLoss(), np.random.default_rng(0)) is shape
