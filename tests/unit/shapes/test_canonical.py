from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import ContrastPairs, Evidence, FittedShape, LabeledEmbeddings
from vecveil.shapes.canonical import Canonical, WordDirections, find_word_directions
from vecveil.shapes.leace import leace_kernel
from vecveil.shapes.search_quality import ConceptFreeReference

DIMENSIONS, WORDS, ROWS = 10, 5, 400
TINY = 1e-12


def _planted() -> tuple[LabeledEmbeddings, ContrastPairs]:
    """Return texts of which two in three hold one of five words, each readable to another degree, and their pairs."""
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((DIMENSIONS, DIMENSIONS))
    without = rng.standard_normal((ROWS, DIMENSIONS))
    chosen = rng.integers(WORDS, size=ROWS)
    held = np.arange(ROWS) % 3 > 0
    change = np.zeros_like(without)
    change[np.arange(ROWS), chosen] = np.linspace(4, 0.8, WORDS)[chosen]
    vectors = (without + change * held[:, np.newaxis]) @ mix
    words = tuple((f"word{chosen[row]}",) if held[row] else () for row in range(ROWS))
    return LabeledEmbeddings(vectors=vectors, words=words), ContrastPairs(vectors[held], (without @ mix)[held])


_CORPUS, _PAIRS = _planted()
_PRESENT = _CORPUS.word_table(_CORPUS.vocabulary).astype(np.float64)


def _fit(corpus: LabeledEmbeddings = _CORPUS, **settings: Any) -> FittedShape:
    return Canonical(**settings).fit(Evidence(_PAIRS, corpus), np.random.default_rng(0))


def _left(directions: Matrix, *, ridge: float = TINY) -> float:
    """Return the sum, over the words, of what a linear reader explains of each once `directions` are left out.

    Written as least squares on what is released, with none of the algebra of the learner: `ridge`, over the mean
    variance, is what the reader pays for the square of its weights.
    """
    kept = np.linalg.qr(directions, mode="complete")[0][:, directions.shape[1] :]
    vectors = _CORPUS.vectors - _CORPUS.vectors.mean(axis=0)
    penalty = np.sqrt(ridge * (vectors**2).mean() * ROWS)
    inputs = np.concatenate([vectors @ kept, penalty * np.eye(kept.shape[1])])
    labels = (_PRESENT - _PRESENT.mean(axis=0)) / _PRESENT.std(axis=0)
    targets = np.concatenate([labels, np.zeros((kept.shape[1], WORDS))])
    weights = np.linalg.lstsq(inputs, targets, rcond=None)[0]
    return WORDS - float(((targets - inputs @ weights) ** 2).sum()) / ROWS


def _estimated(directions: Matrix, *, ridge: float = TINY) -> float:
    """Return how much of the texts without the concept a linear estimate explains once `directions` are left out."""
    kept = np.linalg.qr(directions, mode="complete")[0][:, directions.shape[1] :]
    vectors, bare = (side - side.mean(axis=0) for side in (_CORPUS.vectors, _bare()))
    penalty = np.sqrt(ridge * (vectors**2).mean() * ROWS)
    inputs = np.concatenate([vectors @ kept, penalty * np.eye(kept.shape[1])])
    targets = np.concatenate([bare, np.zeros((kept.shape[1], DIMENSIONS))])
    weights = np.linalg.lstsq(inputs, targets, rcond=None)[0]
    return float((targets**2).sum() - ((targets - inputs @ weights) ** 2).sum()) / ROWS


def _bare() -> Matrix:
    """Return the vectors of all texts without the concept, in the order of the corpus."""
    bare = np.array(_CORPUS.vectors)
    bare[[bool(words) for words in _CORPUS.words]] = _PAIRS.without_concept
    return bare


def _turned(directions: Matrix, size: float, rng: np.random.Generator) -> Matrix:
    basis = np.linalg.qr(directions)[0]
    return np.asarray(basis + size * rng.standard_normal(basis.shape))


@pytest.mark.parametrize("ridge", [TINY, 0.2])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_no_other_directions_leave_less_to_a_linear_reader(count: int, ridge: float) -> None:
    analysis = find_word_directions(_CORPUS, ridge=ridge)
    found = analysis.directions
    least, everything = (_left(found[:, :first], ridge=ridge) for first in (count, 0))
    assert least == pytest.approx(everything * float(analysis.words[count:].sum()), abs=1e-9)
    rng = np.random.default_rng(count)
    anywhere = [rng.standard_normal((DIMENSIONS, count)) for _ in range(300)]
    nearby = [_turned(found[:, :count], size, rng) for size in np.geomspace(1e-3, 0.5, 300)]
    assert min(_left(directions, ridge=ridge) for directions in [*anywhere, *nearby]) > least


@pytest.mark.parametrize("ridge", [TINY, 0.2])
@pytest.mark.parametrize("cost", [0.3, 2.0])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_other_directions_of_the_words_gain_more_for_what_they_cost(count: int, cost: float, ridge: float) -> None:
    found = _costed(cost=cost, ridge=ridge)
    nothing = np.zeros((DIMENSIONS, 0))
    told, said = _left(nothing, ridge=ridge), _estimated(nothing, ridge=ridge)

    def gained(directions: Matrix) -> float:
        words, rest = 1 - _left(directions, ridge=ridge) / told, 1 - _estimated(directions, ridge=ridge) / said
        return words - cost * rest

    best = found.directions[:, :count]
    assert gained(best) == pytest.approx(float((found.words - cost * found.rest)[:count].sum()), abs=1e-9)
    rng = np.random.default_rng(count)
    anywhere = [found.directions @ rng.standard_normal((WORDS, count)) for _ in range(200)]
    mixing = [found.directions @ _turned(np.eye(WORDS, count), size, rng) for size in np.geomspace(1e-3, 0.5, 200)]
    assert max(map(gained, [*anywhere, *mixing])) < gained(best)


def _costed(*, cost: float, ridge: float) -> WordDirections:
    return find_word_directions(
        _CORPUS, ridge=ridge, texts=ConceptFreeReference(reference=_bare(), vectors=_CORPUS.vectors), cost=cost
    )


def test_what_costs_more_is_left_out_later() -> None:
    free, dear = (_costed(cost=cost, ridge=0.2) for cost in (0.0, 5.0))
    for count in (1, 2, 3):
        assert dear.rest[:count].sum() < free.rest[:count].sum()
        assert dear.words[:count].sum() < free.words[:count].sum()


@pytest.mark.parametrize("cost", [0.0, 0.3, 5.0])
def test_the_order_does_not_change_what_all_directions_are(cost: float) -> None:
    found = _costed(cost=cost, ridge=0.2)
    kernel = leace_kernel(_CORPUS.vectors, _PRESENT)
    assert np.linalg.svd(np.linalg.qr(found.directions)[0].T @ kernel)[1] == pytest.approx(np.ones(WORDS), abs=1e-9)
    assert found.words.sum() == pytest.approx(1)


def test_a_word_that_one_text_holds_does_not_show_in_the_shape() -> None:
    """Its mean is the vector of that text: whoever reads the shape would read the text."""
    lone = tuple(("lone",) if row == 3 else words for row, words in enumerate(_CORPUS.words))
    another = tuple(("lone",) if row == 40 else words for row, words in enumerate(_CORPUS.words))
    hidden, other = (
        find_word_directions(LabeledEmbeddings(vectors=_CORPUS.vectors, words=words), ridge=0.2, rarest=2)
        for words in (lone, another)
    )
    shown = find_word_directions(LabeledEmbeddings(vectors=_CORPUS.vectors, words=lone), ridge=0.2, rarest=1)
    assert (hidden.directions.shape[1], shown.directions.shape[1]) == (WORDS, WORDS + 1)
    assert hidden.directions.shape == other.directions.shape
    text = _CORPUS.vectors[3] - _CORPUS.vectors.mean(axis=0)
    in_shape, in_hidden = (
        float(np.linalg.norm(np.linalg.qr(found.directions)[0].T @ text) / np.linalg.norm(text))
        for found in (shown, hidden)
    )
    assert in_shape == pytest.approx(1)
    assert in_hidden < 0.9


def test_best_directions_by_another_measure_leave_more() -> None:
    """The first directions of plain variance, or of the word means unweighted, are not the ones to leave out."""
    found = find_word_directions(_CORPUS, ridge=TINY).directions
    centered = _CORPUS.vectors - _CORPUS.vectors.mean(axis=0)
    variance = np.linalg.svd(centered, full_matrices=False)[2].T
    means = np.linalg.svd(centered.T @ (_PRESENT - _PRESENT.mean(axis=0)))[0]
    for other in (variance, means):
        assert _left(other[:, :2]) > _left(found[:, :2]) + 0.01


@pytest.mark.parametrize("ridge", [TINY, 0.2, 5.0])
def test_all_directions_are_the_kernel_of_leace(ridge: float) -> None:
    found = find_word_directions(_CORPUS, ridge=ridge).directions
    kernel = leace_kernel(_CORPUS.vectors, _PRESENT)
    assert found.shape == kernel.shape == (DIMENSIONS, WORDS)
    cosines = np.linalg.svd(np.linalg.qr(found)[0].T @ kernel)[1]
    assert cosines == pytest.approx(np.ones(WORDS), abs=1e-9)
    assert _left(found) == pytest.approx(0, abs=1e-9)


def test_the_shape_leaves_out_what_tells_most_and_the_mean_stands_in() -> None:
    shape = _fit(directions=2, ridge=1e-9, cost=0.0).shape
    assert shape.axes is not None
    found = find_word_directions(_CORPUS, ridge=1e-9).directions
    assert np.linalg.svd(np.linalg.qr(found[:, :2])[0].T @ shape.axes[:, :2])[1] == pytest.approx(np.ones(2))
    assert list(shape.variances) == [np.inf] * 2 + [1.0] * (DIMENSIONS - 2)
    assert shape.center == pytest.approx(_CORPUS.vectors.mean(axis=0))


def test_facts_tell_how_much_of_the_words_was_left_out() -> None:
    some, all_of_them = (_fit(directions=count, ridge=TINY, cost=0.0).facts for count in (2, 5))
    assert (some["directions"], some["directions_of_words"]) == (2, 5)
    found = find_word_directions(_CORPUS, ridge=TINY).directions
    left = _left(found[:, :2]) / _left(found[:, :0])
    assert some["share_of_words"] == pytest.approx(1 - left)
    assert all_of_them["share_of_words"] == pytest.approx(1)


def test_search_that_must_stay_better_leaves_less_out() -> None:
    counts = [_fit(keep=keep).facts["directions"] for keep in (0.999, 0.9, 0.3)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_the_same_corpus_gives_the_same_shape_whatever_the_seed() -> None:
    first, second = (Canonical().fit(Evidence(_PAIRS, _CORPUS), np.random.default_rng(seed)) for seed in (0, 1))
    assert first.facts == second.facts
    assert np.array_equal(np.asarray(first.shape.axes), np.asarray(second.shape.axes))


def test_more_directions_than_half_of_them_are_refused_with_their_number() -> None:
    with pytest.raises(InvalidInputError, match=r"of 10 directions at most 5 can be left out, got directions 6"):
        _fit(directions=6)


def test_a_small_vocabulary_gives_no_more_directions_than_words() -> None:
    corpus = LabeledEmbeddings(vectors=_CORPUS.vectors, words=tuple(words[:1] and ("one",) for words in _CORPUS.words))
    found = Canonical(directions=4).fit(Evidence(_PAIRS, corpus), np.random.default_rng(0))
    assert found.facts["directions"] == 1


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        (
            LabeledEmbeddings(vectors=_CORPUS.vectors, words=((),) * ROWS),
            "no text of the corpus holds a sensitive word",
        ),
        (
            LabeledEmbeddings(vectors=np.ones((ROWS, DIMENSIONS)), words=_CORPUS.words),
            "vectors of the corpus are the same",
        ),
    ],
)
def test_a_corpus_that_says_nothing_is_refused(corpus: LabeledEmbeddings, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        _fit(corpus)


def test_a_corpus_is_needed() -> None:
    with pytest.raises(InvalidInputError, match="learned from a whole corpus, got contrast pairs alone"):
        Canonical().fit(Evidence(_PAIRS), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"directions": -1}, "directions must be a whole number of at least 0, got -1"),
        ({"keep": 0.0}, "keep must lie between 0 and 1, got 0.0"),
        ({"cost": -0.1}, "cost must be a finite number of at least zero, got -0.1"),
        ({"rarest": 0}, "rarest must be a whole number of at least 1, got 0"),
        ({"ridge": 0.0}, "ridge must be a finite number above zero, got 0.0"),
    ],
)
def test_settings_are_checked_at_birth(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Canonical(**settings)
