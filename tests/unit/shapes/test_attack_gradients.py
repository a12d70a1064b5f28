from __future__ import annotations

import numpy as np
import pytest
import torch

from vecveil.core.arrays import Matrix
from vecveil.core.errors import InvalidInputError
from vecveil.shapes import LabeledEmbeddings
from vecveil.shapes.attack_gradients import (
    MOST_INSTANCES,
    attribute_words,
    gradient_moment,
    leading_directions,
    read_held_out,
    training_rows,
)
from vecveil.testing.shapes import PlantedAttack, PlantedAttacker

DIMENSIONS, WORDS, ROWS = 6, ("asthma", "gout"), 24


def _corpus(rows: int = ROWS) -> LabeledEmbeddings:
    vectors = np.random.default_rng(0).standard_normal((rows, DIMENSIONS)).astype(np.float32)
    return LabeledEmbeddings(vectors=vectors, words=[(WORDS[row % 2],) for row in range(rows)])


def _attacker(corpus: LabeledEmbeddings, held_out: tuple[int, ...]) -> PlantedAttacker:
    return PlantedAttacker(vectors=corpus.vectors, words=tuple(corpus.words), held_out=held_out)


def _linear() -> tuple[PlantedAttack, Matrix]:
    """Return an attack with one linear output per word, and its weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = torch.nn.Linear(DIMENSIONS, 2)
    return PlantedAttack(network=network, vocabulary=WORDS), network.weight.detach().double().numpy()


def _curved() -> PlantedAttack:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = torch.nn.Linear(DIMENSIONS, 16), torch.nn.Tanh(), torch.nn.Linear(16, 2)
    return PlantedAttack(network=torch.nn.Sequential(*layers), vocabulary=WORDS)


class _Reader(torch.nn.Module):
    """Reads its first two dimensions as the logits of the two words."""

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors[:, :2]


def test_held_out_rows_are_not_trained_on() -> None:
    corpus = _corpus()
    assert np.flatnonzero(~training_rows(corpus, _attacker(corpus, (3, 20)))).tolist() == [3, 20]


def test_reading_is_asking_each_held_out_text_for_as_many_words_as_it_holds() -> None:
    words = [("gout",)] * 6 + [("asthma",)] * 2 + [("gout",), ("asthma",), ("asthma", "gout"), ()]
    vectors = np.zeros((12, DIMENSIONS), dtype=np.float32)
    # Reads asthma in each: right once of two texts with one word, and in the text that holds both.
    vectors[:, 0] = 1
    corpus = LabeledEmbeddings(vectors=vectors, words=words)
    attack = PlantedAttack(network=_Reader(), vocabulary=WORDS)
    read, guessed, asked = read_held_out(corpus, _attacker(corpus, (8, 9, 10, 11)), attack, vectors)
    assert asked == 4
    assert read == pytest.approx(3 / 4)
    # Guessing names gout, the most frequent word of the training texts.
    assert guessed == pytest.approx(3 / 4)


def test_without_a_held_out_word_nothing_can_be_read() -> None:
    corpus = LabeledEmbeddings(vectors=_corpus().vectors, words=[("gout",)] * 20 + [()] * 4)
    with pytest.raises(InvalidInputError, match="none of 4 held-out texts holds a sensitive word"):
        read_held_out(corpus, _attacker(corpus, (20, 21, 22, 23)), _linear()[0], corpus.vectors)


def test_the_gradients_of_a_linear_attack_are_its_weights() -> None:
    corpus, (attack, weights) = _corpus(), _linear()
    moment = gradient_moment(corpus, _attacker(corpus, ()), attack, corpus.vectors, np.random.default_rng(0))
    np.testing.assert_allclose(moment, weights.T @ weights / 2, atol=1e-6)


def test_held_out_texts_have_no_gradient_in_the_moment() -> None:
    corpus, (attack, weights) = _corpus(), _linear()
    odd = tuple(range(1, ROWS, 2))
    moment = gradient_moment(corpus, _attacker(corpus, odd), attack, corpus.vectors, np.random.default_rng(0))
    np.testing.assert_allclose(moment, np.outer(weights[0], weights[0]), atol=1e-6)


def test_of_many_words_a_sample_makes_the_moment() -> None:
    corpus, (attack, weights) = _corpus(2 * MOST_INSTANCES), _linear()
    moment = gradient_moment(corpus, _attacker(corpus, ()), attack, corpus.vectors, np.random.default_rng(0))
    np.testing.assert_allclose(moment, weights.T @ weights / 2, atol=0.05)
    assert np.abs(moment - weights.T @ weights / 2).max() > 1e-6


def test_leading_directions_are_the_first_eigenvectors_beside_what_is_left_out() -> None:
    moment = np.diag([5.0, 4.0, 3.0, 0.0])
    first = leading_directions(moment, np.zeros((4, 0)), 2)
    np.testing.assert_allclose(np.abs(first), np.eye(4)[:, :2], atol=1e-12)
    second = leading_directions(moment, first, 3)
    # Along the fourth there are no gradients.
    np.testing.assert_allclose(np.abs(second), np.eye(4)[:, 2:3], atol=1e-12)


def test_attributions_to_a_linear_attack_are_weight_times_way() -> None:
    corpus, (attack, weights) = _corpus(), _linear()
    origin = np.full(DIMENSIONS, 0.5)
    found = attribute_words(corpus, attack, origin, np.random.default_rng(0), steps=4)
    of_each = weights[np.arange(ROWS) % 2] * (corpus.vectors - origin)
    np.testing.assert_allclose(found.weights, np.abs(of_each).mean(axis=0), atol=1e-6)
    assert found.instances == ROWS
    assert found.gap == pytest.approx(0, abs=1e-6)


def test_attributions_of_a_curved_attack_add_up_to_the_difference_of_its_logits() -> None:
    few, many = (
        attribute_words(_corpus(), _curved(), np.zeros(DIMENSIONS), np.random.default_rng(0), steps=steps).gap
        for steps in (1, 32)
    )
    assert few > 10 * many
    assert many == pytest.approx(0, abs=1e-4)


def test_the_halves_of_the_attributions_are_of_different_texts() -> None:
    corpus, (attack, _) = _corpus(), _linear()
    found = attribute_words(corpus, attack, np.zeros(DIMENSIONS), np.random.default_rng(0), steps=1)
    np.testing.assert_allclose(found.halves.sum(axis=0), ROWS * found.weights)
    assert (found.halves > 0).all()
    assert not np.allclose(found.halves[0], found.halves[1])
    assert -1 <= found.half_correlation <= 1
    assert found.top_tenth_share == pytest.approx(found.weights.max() / found.weights.sum())


def test_an_attack_that_knows_one_word_is_refused() -> None:
    attack = PlantedAttack(network=torch.nn.Linear(DIMENSIONS, 1), vocabulary=("gout",))
    with pytest.raises(InvalidInputError, match=r"knows 1 sensitive word\(s\).*such as 'hard-concrete'") as refused:
        attribute_words(_corpus(), attack, np.zeros(DIMENSIONS), np.random.default_rng(0), steps=1)
    assert "gout" not in str(refused.value)


def test_gradients_of_too_few_words_are_refused_with_their_number() -> None:
    corpus, attack = _corpus(9), _linear()[0]
    with pytest.raises(InvalidInputError, match="at least 10 sensitive words, the texts hold 9 that") as refused:
        attribute_words(corpus, attack, np.zeros(DIMENSIONS), np.random.default_rng(0), steps=1)
    assert "gout" not in str(refused.value)
    held_out = _attacker(_corpus(12), (0, 1, 2))
    with pytest.raises(InvalidInputError, match="at least 10 sensitive words, the texts hold 9 that"):
        gradient_moment(_corpus(12), held_out, attack, _corpus(12).vectors, np.random.default_rng(0))
