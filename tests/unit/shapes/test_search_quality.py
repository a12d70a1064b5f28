from __future__ import annotations

import numpy as np
import pytest

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings
from vecveil.shapes.search_quality import ConceptFreeReference, SearchQuality

ROWS, DIMENSIONS = 60, 4


def _texts(rows: int = 300) -> Matrix:
    return np.random.default_rng(2).standard_normal((rows, 16))


def test_a_search_in_the_reference_itself_is_as_good_as_can_be() -> None:
    assert SearchQuality(_texts())(_texts()) == pytest.approx(1)
    # Cosines take no notice of lengths.
    assert SearchQuality(_texts())(5 * _texts()) == pytest.approx(1)


def test_a_search_in_shuffled_rows_finds_nothing() -> None:
    shuffled = np.random.default_rng(3).permutation(_texts())
    assert SearchQuality(_texts())(shuffled) == pytest.approx(0, abs=0.05)


def test_the_noisier_the_rows_the_worse_the_search() -> None:
    noise = np.random.default_rng(4).standard_normal((300, 16))
    qualities = [SearchQuality(_texts())(_texts() + size * noise) for size in (0.1, 0.5, 2.0)]
    assert 1 > qualities[0] > qualities[1] > qualities[2] > 0


@pytest.mark.parametrize("rows", [11, 3])
def test_a_search_needs_more_rows_than_it_returns(rows: int) -> None:
    with pytest.raises(InvalidInputError, match=f"needs more rows than that, got {rows}"):
        SearchQuality(_texts(rows))(_texts(rows))


def test_a_search_needs_the_same_rows_on_both_sides() -> None:
    with pytest.raises(InvalidInputError, match="got 30 and 29"):
        SearchQuality(_texts(30))(_texts(29))


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
    assert SearchQuality(reference)(searched) == pytest.approx((reached - usual) / (best - usual), abs=1e-5)


def test_rows_that_are_all_as_near_as_each_other_lose_nothing() -> None:
    assert SearchQuality(np.ones((20, 4)))(_texts(20)[:, :4]) == 1.0


def _planted() -> Evidence:
    """Return texts of which two in three hold a word, and their pairs."""
    rng = np.random.default_rng(0)
    bare = rng.standard_normal((ROWS, DIMENSIONS)) + 1
    held = np.arange(ROWS) % 3 > 0
    vectors = bare + held[:, np.newaxis] * rng.standard_normal((ROWS, DIMENSIONS))
    corpus = LabeledEmbeddings(vectors=vectors, words=[("gout",) if one else () for one in held])
    return Evidence(ContrastPairs(vectors[held], bare[held]), corpus)


_EVIDENCE = _planted()


def test_it_is_made_of_the_pairs_and_the_texts_that_never_had_the_concept() -> None:
    reference = ConceptFreeReference.from_evidence(_EVIDENCE)
    pairs = len(_EVIDENCE.pairs)
    assert reference.vectors.shape == reference.reference.shape == (ROWS, DIMENSIONS)
    assert np.array_equal(reference.vectors[pairs:], reference.reference[pairs:])
    assert np.array_equal(reference.vectors[:pairs], _EVIDENCE.pairs.with_concept)
    assert np.array_equal(reference.reference[:pairs], _EVIDENCE.pairs.without_concept)


def test_of_many_texts_so_many_of_each_kind_are_taken() -> None:
    assert len(ConceptFreeReference.from_evidence(_EVIDENCE, most=15).vectors) == 30
    # There are 40 pairs and 20 other texts.
    assert len(ConceptFreeReference.from_evidence(_EVIDENCE, most=30).vectors) == 50


def test_a_search_in_the_reference_is_as_good_as_can_be() -> None:
    reference = ConceptFreeReference.from_evidence(_EVIDENCE)
    assert reference.quality(reference.reference) == pytest.approx(1)
    assert reference.quality(reference.vectors) < 0.99


def test_the_covariance_is_that_of_real_vectors_with_those_without_the_concept() -> None:
    reference = ConceptFreeReference.from_evidence(_EVIDENCE)
    both = np.cov(reference.vectors.T, reference.reference.T, bias=True)
    np.testing.assert_allclose(reference.covariance(), both[:DIMENSIONS, DIMENSIONS:], atol=1e-12)


def test_no_vector_is_printed() -> None:
    assert repr(ConceptFreeReference.from_evidence(_EVIDENCE)) == "ConceptFreeReference()"
