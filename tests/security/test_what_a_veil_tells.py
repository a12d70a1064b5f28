"""Someone who knows all texts of a corpus but one learns nothing of the last from the center of its veil."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.embedders import WordEmbedder
from vecveil import samples
from vecveil.accounting import GaussianLoss
from vecveil.concepts import load_concept
from vecveil.core.arrays import Embeddings
from vecveil.shapes import LabeledEmbeddings
from vecveil.shapes.erasure import erase, release_center
from vecveil.veil import Veil, learn

TEXTS = [sentence.text for sentence in samples.clinical_sentences(300)]
VECTORS = np.asarray(WordEmbedder().embed(TEXTS), dtype=np.float64)


@pytest.fixture(scope="module")
def concept() -> object:
    return load_concept(samples.concept_path())


def _learn(concept: object, *, public: bool) -> Veil:
    return learn(
        concept,  # type: ignore[arg-type]
        TEXTS,
        embedder=WordEmbedder(),
        settings={"directions": 2},
        substitution="keep",
        public=public,
    )


def _find_last(center: Embeddings) -> int:
    """Return how many of the texts someone finds who knows all others: each is the sum less all others."""
    total = center * len(VECTORS)
    guesses = [np.linalg.norm(VECTORS - (total - VECTORS.sum(axis=0) + one), axis=1).argmin() for one in VECTORS]
    # Some made-up sentences have the same words.
    return sum(np.allclose(VECTORS[guess], one) for guess, one in zip(guesses, VECTORS, strict=True))


def test_the_last_text_can_not_be_worked_out_from_the_center(concept: object) -> None:
    exact, released = (_learn(concept, public=public).shape.center for public in (True, False))
    assert exact is not None
    assert released is not None
    assert _find_last(exact) == len(TEXTS)
    # One noise for all: the one text that lies nearest to it may be guessed right, with its copies.
    assert _find_last(released) <= 10


def test_whether_a_text_was_among_them_is_told_no_better_than_the_loss_allows() -> None:
    loss, rng = GaussianLoss(), np.random.default_rng(0)
    shape = erase(np.eye(8)[:, :2], center=np.zeros(8))
    corpora = VECTORS, np.concatenate([VECTORS[:-1], -VECTORS[-1:]])
    means = [vectors.mean(axis=0) for vectors in corpora]
    right, trials = 0, 2000
    for trial in range(trials):
        corpus = LabeledEmbeddings(vectors=corpora[trial % 2], words=[()] * len(VECTORS))
        center = release_center(shape, corpus, loss, rng).center
        assert center is not None
        # The best test of two normals: which of the two means lies nearer along the line that joins them.
        middle, along = (means[0] + means[1]) / 2, means[1] - means[0]
        right += int(float((center - middle) @ along) > 0) == trial % 2
    most = (1 / (1 + np.exp(-loss.epsilon))) + loss.delta
    assert right / trials < most
    exact = 1 / 2 * (1 + _normal_spread(1 / (2 * loss.multiplier)))
    assert right / trials == pytest.approx(exact, abs=0.05)


def test_no_number_in_a_veil_is_the_exact_mean(concept: object, tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    _learn(concept, public=False).save(tmp_path / "notes.veil")
    tensors = load_file(tmp_path / "notes.veil" / "tensors.safetensors")
    assert set(tensors) <= {"variances", "axes", "center"}
    mean = VECTORS.mean(axis=0)
    assert np.linalg.norm(tensors["center"] - mean) > 1e-3


def test_learning_again_gives_another_center(concept: object) -> None:
    first, second = (_learn(concept, public=False) for _ in range(2))
    assert not np.array_equal(first.shape.center, second.shape.center)  # type: ignore[arg-type]
    assert np.array_equal(first.shape.variances, second.shape.variances)


def _normal_spread(x: float) -> float:
    from math import erf, sqrt

    return erf(x / sqrt(2))
