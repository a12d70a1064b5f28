from __future__ import annotations

import numpy as np
import pytest

from benchmarks.workload import (
    DEFAULT,
    DIAGONAL,
    LAPLACE,
    PURKAYASTHA,
    ROTATED,
    make_evidence,
    make_vectors,
    make_veils,
)


@pytest.mark.parametrize("name", [LAPLACE, DIAGONAL, DEFAULT, ROTATED, PURKAYASTHA])
def test_every_veil_protects_vectors(name: str) -> None:
    vectors = make_vectors(5, 8)
    protected = make_veils(8)[name].perturb(vectors)
    assert protected.shape == (5, 8)
    assert not np.allclose(protected, vectors, atol=1e-3)


def test_the_default_leaves_axes_out() -> None:
    veil = make_veils(100)[DEFAULT]
    assert (veil.shape.released, veil.shape.dimensions) == (87, 100)


def test_all_axes_of_the_rotated_shape_differ() -> None:
    shape = make_veils(8)[ROTATED].shape
    assert shape.rotated
    assert len(set(shape.variances)) == 8


def test_one_text_of_each_pair_has_a_word() -> None:
    evidence = make_evidence(6, 8)
    assert len(evidence.pairs) == 6
    assert [len(words) for words in evidence.corpus.words] == [1] * 6 + [0] * 6
