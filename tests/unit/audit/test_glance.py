from __future__ import annotations

import numpy as np
import pytest

from vecveil.audit import Glance
from vecveil.embedders import Fingerprint
from vecveil.shapes import ContrastPairs, NoiseShape
from vecveil.testing.shapes import planted_pairs
from vecveil.veil import Veil
from vecveil.veil.provenance import Provenance
from vecveil.veil.typical import TypicalLengths

DIMENSIONS = 12


def veil_with(variances: np.ndarray, pairs: ContrastPairs) -> Veil:
    return Veil(
        shape=NoiseShape(variances=variances),
        mechanism="mahalanobis",
        fingerprint=Fingerprint(model="planted", revision="1", dimensions=DIMENSIONS, normalised=False),
        typical=TypicalLengths(signal=4.0, pair=2.0, euclidean_pair=2.0),
        provenance=Provenance(
            concept={}, contrast="removal", pairs=len(pairs), embedder=None, learner={"name": "x"}, facts={}, seed=0
        ),
    )


@pytest.fixture(scope="module")
def glance() -> Glance:
    pairs = planted_pairs(dimensions=DIMENSIONS, pairs=300, moved=3)
    return Glance(corpus=pairs.with_concept, pairs=pairs)


def test_the_unprotected_row_comes_first_and_leaks(glance: Glance) -> None:
    first, *others = glance.rows(veil_with(np.ones(DIMENSIONS), glance.pairs), [1.0])
    assert (first.defence, first.dials, first.kept_both, first.kept_documents) == ("none", None, 1.0, 1.0)
    assert first.probe.auc > 0.85
    assert [row.defence for row in others] == ["veil, x", "laplace"]


def test_a_uniform_shape_is_laplace_noise(glance: Glance) -> None:
    _, shaped, plain = glance.rows(veil_with(np.ones(DIMENSIONS), glance.pairs), [1.0])
    assert shaped.dials is not None
    assert plain.dials is not None
    assert shaped.dials.epsilon == pytest.approx(plain.dials.epsilon)
    assert shaped.dials.noise_ratio == pytest.approx(1.0)
    assert shaped.kept_both == pytest.approx(plain.kept_both, abs=0.01)
    assert shaped.probe.auc == pytest.approx(plain.probe.auc, abs=0.01)


def test_noise_where_the_concept_is_hides_it_better_than_noise_everywhere(glance: Glance) -> None:
    """The whole idea, in a world where it is true: the concept lives on three coordinates."""
    variances = np.full(DIMENSIONS, 0.05)
    variances[:3] = (DIMENSIONS - 9 * 0.05) / 3
    _, shaped, plain = glance.rows(veil_with(variances, glance.pairs), [1.0])
    assert shaped.probe.auc < plain.probe.auc - 0.05


def test_more_noise_finds_less_and_keeps_less(glance: Glance) -> None:
    _, weak, strong, *_ = glance.rows(veil_with(np.ones(DIMENSIONS), glance.pairs), [0.3, 3.0])
    assert weak.probe.auc > strong.probe.auc
    assert weak.kept_both > strong.kept_both


def test_the_same_seed_gives_the_same_rows(glance: Glance) -> None:
    veil = veil_with(np.ones(DIMENSIONS), glance.pairs)
    assert glance.rows(veil, [1.0]) == glance.rows(veil, [1.0])
