from __future__ import annotations

import numpy as np
import pytest

from vecveil.shapes import ContrastPairs, Evidence, LabeledEmbeddings
from vecveil.shapes.concept_free_reference import ConceptFreeReference

ROWS, DIMENSIONS = 60, 4


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
