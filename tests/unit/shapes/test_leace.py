from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
import torch

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError, MissingExtraError, UnknownNameError
from vecveil.core.randomness import SeededRows
from vecveil.mechanisms.mahalanobis import MahalanobisMechanism
from vecveil.shapes import Evidence, FittedShape, LabeledEmbeddings, NoiseShape
from vecveil.shapes.leace import Leace
from vecveil.testing.shapes import planted_attacker, planted_pairs

DIMENSIONS = 12
_PAIRS = planted_pairs(dimensions=DIMENSIONS, pairs=20, moved=4)


def _planted() -> LabeledEmbeddings:
    """Return texts of four words, none of which lies along a coordinate, with dimensions that depend on each other."""
    attacker = planted_attacker(dimensions=DIMENSIONS, words=4, rows=300)
    mix = np.random.default_rng(1).standard_normal((DIMENSIONS, DIMENSIONS))
    return LabeledEmbeddings(vectors=attacker.vectors.astype(np.float64) @ mix + 1, words=attacker.words)


_CORPUS = _planted()
_LABELS = {
    "presence": np.array([[float(bool(words))] for words in _CORPUS.words]),
    "words": _CORPUS.word_table(_CORPUS.vocabulary).astype(np.float64),
}


def _fit(corpus: LabeledEmbeddings = _CORPUS, **settings: Any) -> FittedShape:
    return Leace(**settings).fit(Evidence(_PAIRS, corpus), np.random.default_rng(0))


def _released(shape: NoiseShape, vectors: Matrix) -> Matrix:
    """Return what a shape lets out, all but without noise."""
    mechanism = MahalanobisMechanism(epsilon=1e12, variances=shape.variances, axes=shape.axes, center=shape.center)
    return np.asarray(mechanism.perturb(vectors, SeededRows(np.random.default_rng(0), len(vectors))))


def _published(labels: Matrix, **options: Any) -> tuple[Matrix, Matrix]:
    """Return LEACE's output for the corpus, and its projection, as the package gives them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from concept_erasure import LeaceFitter
    vectors = torch.from_numpy(_CORPUS.vectors)
    eraser = LeaceFitter.fit(vectors, torch.from_numpy(labels), **options).eraser
    return eraser(vectors).numpy(), eraser.P.numpy()


def _explained(vectors: Matrix, labels: Matrix) -> float:
    """Return how much of the labels least squares reads from vectors: 0 is guessing, 1 everything."""
    centered, deviations = vectors - vectors.mean(axis=0), labels - labels.mean(axis=0)
    fitted = centered @ np.linalg.lstsq(centered, deviations, rcond=1e-9)[0]
    return float((fitted**2).sum() / (deviations**2).sum())


@pytest.mark.parametrize(("target", "directions"), [("presence", 1), ("words", 4)])
def test_what_is_released_and_leaces_output_follow_from_each_other(target: str, directions: int) -> None:
    shape = _fit(target=target).shape
    assert shape.released == DIMENSIONS - directions
    assert shape.axes is not None
    assert shape.center is not None
    kept = shape.axes[:, np.isfinite(shape.variances)]
    output, projection = _published(_LABELS[target])
    coordinates = _released(shape, _CORPUS.vectors) @ kept
    # Both ways are linear, and neither looks at anything but the other's output.
    forwards = shape.center + (coordinates - shape.center @ kept) @ (projection @ kept).T
    np.testing.assert_allclose(forwards, output, atol=1e-6)
    np.testing.assert_allclose(output @ kept, coordinates, atol=1e-6)
    assert np.linalg.matrix_rank(projection @ kept) == shape.released


@pytest.mark.parametrize("target", ["presence", "words"])
def test_leaces_output_is_the_best_linear_estimate_from_what_is_released(target: str) -> None:
    released = _released(_fit(target=target).shape, _CORPUS.vectors)
    inputs = np.column_stack([released, np.ones(len(released))])
    estimate = inputs @ np.linalg.lstsq(inputs, _CORPUS.vectors, rcond=1e-9)[0]
    # The package shrinks the covariance by default; without that it is the one that least squares goes by.
    output, _ = _published(_LABELS[target], shrinkage=False)
    np.testing.assert_allclose(estimate, output, atol=1e-6)
    # Filling the gap in this way, or in any other linear one, brings nothing back for a linear reader.
    assert _explained(estimate, _LABELS[target]) < 1e-9


@pytest.mark.parametrize("target", ["presence", "words"])
def test_no_linear_reader_is_better_than_guessing(target: str) -> None:
    labels = _LABELS[target]
    assert _explained(_CORPUS.vectors, labels) > 0.3
    assert _explained(_released(_fit(target=target).shape, _CORPUS.vectors), labels) < 1e-9


def test_leaving_other_directions_out_would_not_do() -> None:
    """The reader above does see what is there: with three of the four directions of the words it still reads."""
    whole = _fit(target="words").shape
    variances = whole.variances.copy()
    variances[0] = 1.0
    partial = NoiseShape(variances=variances, axes=whole.axes, center=whole.center)
    assert _explained(_released(partial, _CORPUS.vectors), _LABELS["words"]) > 0.01


def test_presence_is_the_direction_between_the_two_means() -> None:
    shape = _fit().shape
    assert shape.axes is not None
    held = _LABELS["presence"][:, 0] == 1
    between = _CORPUS.vectors[held].mean(axis=0) - _CORPUS.vectors[~held].mean(axis=0)
    assert abs(shape.axes[:, 0] @ between) / np.linalg.norm(between) == pytest.approx(1)
    assert shape.center == pytest.approx(_CORPUS.vectors.mean(axis=0))


def test_words_that_few_texts_hold_are_left_out_too() -> None:
    rare = tuple(("once",) if row == 7 else words for row, words in enumerate(_CORPUS.words))
    assert _fit(LabeledEmbeddings(vectors=_CORPUS.vectors, words=rare), target="words").facts["directions"] == 5


def test_words_that_always_stand_together_count_once() -> None:
    twins = tuple((*words, *(f"{word}twin" for word in words)) for words in _CORPUS.words)
    assert _fit(LabeledEmbeddings(vectors=_CORPUS.vectors, words=twins), target="words").facts["directions"] == 4


def test_facts_tell_what_was_left_out() -> None:
    one, four = (_fit(target=target).facts for target in ("presence", "words"))
    assert (one["directions"], four["directions"]) == (1, 4)
    assert 0 < one["variance_left_out"] < four["variance_left_out"] < 1


def test_single_precision_vectors_give_the_same_directions_whatever_the_seed() -> None:
    single = LabeledEmbeddings(vectors=_CORPUS.vectors.astype(np.float32), words=_CORPUS.words)
    first, second = (Leace().fit(Evidence(_PAIRS, single), np.random.default_rng(seed)) for seed in (0, 1))
    assert first.facts == second.facts
    assert np.array_equal(np.asarray(first.shape.axes), np.asarray(second.shape.axes))
    between = (np.asarray(fitted.shape.axes)[:, 0] for fitted in (first, _fit()))
    assert abs(np.dot(*between)) == pytest.approx(1, abs=1e-9)


def test_more_words_than_can_be_left_out_are_refused_with_their_number() -> None:
    many = tuple((f"word{row % 8}",) for row in range(len(_CORPUS.words)))
    with pytest.raises(
        InvalidInputError, match=r"of 12 directions at most 6 .* got the 7 of target 'words'.*canonical"
    ):
        _fit(LabeledEmbeddings(vectors=_CORPUS.vectors, words=many), target="words")


@pytest.mark.parametrize("target", ["presence", "words"])
@pytest.mark.parametrize("words", [(), ("gout",)])
def test_a_concept_that_all_texts_hold_or_none_is_refused(target: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInputError, match="all 300 texts of the corpus hold the same") as refused:
        _fit(LabeledEmbeddings(vectors=_CORPUS.vectors, words=(words,) * 300), target=target)
    assert "gout" not in str(refused.value)


def test_vectors_that_say_nothing_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="do not depend on the concept"):
        _fit(LabeledEmbeddings(vectors=np.ones((300, DIMENSIONS)), words=_CORPUS.words))


def test_a_corpus_is_needed() -> None:
    with pytest.raises(InvalidInputError, match="learned from a whole corpus, got contrast pairs alone"):
        Leace().fit(Evidence(_PAIRS), np.random.default_rng(0))


def test_an_unknown_target_is_refused_with_a_guess() -> None:
    target: Any = "word"
    with pytest.raises(UnknownNameError, match="did you mean 'words'"):
        Leace(target=target)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "concept_erasure", None)
    with pytest.raises(MissingExtraError, match=r"concept-erasure is not installed.*vecveil\[research\]"):
        _fit()


def test_importing_the_package_warns_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "concept_erasure"]:
        monkeypatch.delitem(sys.modules, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _fit().facts["directions"] == 1
