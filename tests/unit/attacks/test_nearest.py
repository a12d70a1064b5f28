from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from vecveil.attacks import Sample, TrainingRun
from vecveil.attacks.nearest import NearestNeighbor, TrainedNearestNeighbor
from vecveil.concepts import SensitiveToken
from vecveil.core.errors import InvalidInputError
from vecveil.testing.toy_notes import embed_words, leakage, toy_notes

NOTES = toy_notes()


def trained(
    attack: NearestNeighbor | None = None, sample: Sample = NOTES.train, held_out: Sample = NOTES.held_out
) -> TrainedNearestNeighbor:
    return (attack or NearestNeighbor()).train(TrainingRun(sample, held_out, np.random.default_rng(0)))


def noisy(sample: Sample, ratio: float, seed: int) -> Sample:
    noise = np.random.default_rng(seed).standard_normal(sample.vectors.shape) * ratio / sample.vectors.shape[1] ** 0.5
    return Sample(vectors=sample.vectors + noise, texts=sample.texts, tokens=sample.tokens)


def test_an_exact_copy_is_found_whatever_its_length() -> None:
    recovery = trained().recover(7 * NOTES.train.vectors)
    assert recovery.texts == NOTES.train.texts
    assert leakage(recovery, NOTES.train)[0] == 1.0


def test_access_to_the_model_beats_references_with_noise() -> None:
    train, held_out, test = (noisy(part, 1.0, seed) for seed, part in enumerate(vars(NOTES).values()))
    blind = leakage(trained(None, train, held_out).recover(test.vectors), test)[0]
    armed = leakage(trained(NearestNeighbor(embed=embed_words), train, held_out).recover(test.vectors), test)[0]
    assert armed > blind + 0.1


def test_of_equally_near_texts_the_first_is_named_and_both_are_counted() -> None:
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    tokens = tuple((SensitiveToken(word, "X"),) for word in ("rome", "oslo", "lima"))
    sample = Sample(vectors=vectors, texts=("rome", "oslo", "lima"), tokens=tokens)
    recovery = trained(NearestNeighbor(neighbors=2), sample, sample).recover(vectors[:1])
    assert recovery.texts == ("rome",)
    assert recovery.vocabulary == ("lima", "oslo", "rome")
    assert recovery.scores[0].tolist() == pytest.approx([0.0, 0.5, 0.5])


def test_clean_references_are_each_text_once() -> None:
    """Copies of the nearest text would fill the neighborhood."""
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> Any:
        asked.extend(texts)
        return embed_words(texts)

    copies = NOTES.train.rows([*range(len(NOTES.train))] * 3)
    one, other = (trained(NearestNeighbor(embed=embed), part) for part in (NOTES.train, copies))
    assert asked == [*NOTES.train.texts] * 2
    np.testing.assert_array_equal(one.recover(NOTES.test.vectors).scores, other.recover(NOTES.test.vectors).scores)


def test_released_references_are_all_kept() -> None:
    copies = NOTES.train.rows([*range(len(NOTES.train))] * 2)
    assert len(trained(None, copies).texts) == 2 * len(NOTES.train)


def test_scores_are_weights_of_neighbors_and_never_above_one() -> None:
    everywhere = tuple((*tokens, SensitiveToken("always", "X")) for tokens in NOTES.train.tokens)
    sample = Sample(vectors=NOTES.train.vectors, texts=NOTES.train.texts, tokens=everywhere)
    recovery = trained(NearestNeighbor(neighbors=50), sample).recover(NOTES.test.vectors)
    column = recovery.vocabulary.index("always")
    assert recovery.scores[:, column] == pytest.approx(np.ones(len(NOTES.test)))
    assert recovery.scores.max() <= 1.0
    assert recovery.scores.min() >= 0.0


def test_more_neighbors_than_texts_are_all_of_them() -> None:
    recovery = trained(NearestNeighbor(neighbors=10_000)).recover(NOTES.test.vectors)
    assert recovery.scores.shape == (60, 12)


def test_many_vectors_are_read_in_blocks_as_a_few_are() -> None:
    attack = trained()
    many = attack.recover(np.tile(NOTES.test.vectors, (20, 1)))
    few = attack.recover(NOTES.test.vectors)
    assert many.texts == few.texts * 20 if few.texts else False
    np.testing.assert_allclose(many.scores, np.tile(few.scores, (20, 1)), atol=1e-12)


def test_distance_counts_more_where_the_vectors_tell_more() -> None:
    random = toy_notes(unrelated=True)
    assert trained().sharpness > trained(None, random.train, random.held_out).sharpness


def test_no_vectors_give_nothing() -> None:
    recovery = trained().recover(NOTES.test.vectors[:0])
    assert recovery.texts == ()
    assert recovery.scores.shape == (0, 12)


def test_what_can_not_be_learned_from_is_refused() -> None:
    public = Sample(vectors=np.eye(3), texts=("a", "b", "c"), tokens=((),) * 3)
    with pytest.raises(InvalidInputError, match="training texts with sensitive tokens, got none"):
        trained(None, public)
    with pytest.raises(InvalidInputError, match="held-out texts to weigh its neighbors by, got none"):
        trained(None, NOTES.train, NOTES.held_out.rows([]))


def test_access_to_another_model_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="clean vectors must have 32 dimensions, got 2"):
        trained(NearestNeighbor(embed=lambda texts: np.ones((len(texts), 2))))
    name: Any = "minilm"
    with pytest.raises(InvalidInputError, match="embed must be a function of texts, got 'minilm'"):
        NearestNeighbor(embed=name)


def test_bad_numbers_and_vectors_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="neighbors must be a whole number of at least 1, got 0"):
        NearestNeighbor(neighbors=0)
    with pytest.raises(InvalidInputError, match="vectors must have 32 dimensions, got 4"):
        trained().recover(np.ones((1, 4)))
