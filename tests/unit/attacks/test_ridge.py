from __future__ import annotations

import numpy as np
import pytest

from vecveil.attacks import TrainingRun
from vecveil.attacks.attack import Sample
from vecveil.attacks.ridge import Ridge
from vecveil.concepts import SensitiveToken
from vecveil.core.errors import InvalidInputError

WORDS = ("gout", "lupus", "mumps")


def _sample(rows: int, *, noise: float, seed: int = 0) -> Sample:
    """Return vectors in which each word has a direction of its own."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(np.random.default_rng(9).standard_normal((8, 8)))[0]
    held = rng.random((rows, 3)) < 0.3
    vectors = held @ axes[:3] + noise * rng.standard_normal((rows, 8))
    tokens = tuple(tuple(SensitiveToken(WORDS[word], "X") for word in np.flatnonzero(row)) for row in held)
    return Sample(vectors=vectors, texts=tuple(map(str, range(rows))), tokens=tokens)


def _share_right(noise: float) -> float:
    trained = Ridge().train(
        TrainingRun(_sample(400, noise=noise), _sample(80, noise=noise, seed=1), np.random.default_rng(0))
    )
    test = _sample(200, noise=noise, seed=2)
    truth = test.mark_words(trained.vocabulary)
    return float(((trained.probabilities(test.vectors) > 0.5) == truth).mean())


def test_words_are_read_along_their_directions() -> None:
    assert _share_right(0.1) > 0.98


def test_noise_hides_them() -> None:
    assert _share_right(3.0) < 0.75


def test_probabilities_stay_between_zero_and_one() -> None:
    trained = Ridge().train(
        TrainingRun(_sample(50, noise=0.5), _sample(20, noise=0.5, seed=1), np.random.default_rng(0))
    )
    found = trained.probabilities(10 * _sample(50, noise=0.5, seed=3).vectors)
    assert found.min() >= 0
    assert found.max() <= 1


def test_a_direction_that_never_moves_is_no_trouble() -> None:
    sample = _sample(60, noise=0.1)
    still = Sample(
        vectors=np.concatenate([sample.vectors, np.ones((60, 2))], axis=1), texts=sample.texts, tokens=sample.tokens
    )
    trained = Ridge().train(TrainingRun(still, still, np.random.default_rng(0)))
    assert np.isfinite(trained.weights).all()


def test_texts_without_a_sensitive_word_are_refused() -> None:
    sample = Sample(vectors=np.eye(3), texts=("a", "b", "c"), tokens=((),) * 3)
    with pytest.raises(InvalidInputError, match="ridge needs training texts with sensitive tokens"):
        Ridge().train(TrainingRun(sample, sample, np.random.default_rng(0)))
