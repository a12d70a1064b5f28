from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from support.embedders import DIMENSIONS, WordEmbedder
from support.travel_notes import travel_notes
from vecveil.attacks.generation.corrector import Corrector, Guesses, TrainedVec2Text
from vecveil.attacks.generation.generator import TrainedGenerator
from vecveil.attacks.generation.inverter import Inverter, build_small_t5
from vecveil.attacks.generation.tokenizer import TextTokenizer, train_tokenizer
from vecveil.attacks.standardize import Standardize
from vecveil.core.arrays import Embeddings

SAMPLE, _, TEST = travel_notes()
EMBED = WordEmbedder().embed


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return train_tokenizer(SAMPLE.texts, vocabulary=400)


@pytest.fixture(scope="module")
def inverter(tokenizer: TextTokenizer) -> Inverter:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        t5 = build_small_t5(tokenizer, width=16, encoder_layers=1, layers=1, heads=2)
        return Inverter(Standardize.fit(torch.from_numpy(SAMPLE.vectors)), t5, positions=2)


def test_nearness_is_the_cosine_to_the_vector_that_was_guessed_at() -> None:
    guesses = Guesses.from_texts(["anna visits rome", "boris"], 3 * TEST.vectors[:2], EMBED)
    expected = np.sum(EMBED(["anna visits rome", "boris"]) * TEST.vectors[:2], axis=1)
    np.testing.assert_allclose(guesses.nearness, expected, atol=1e-6)
    assert guesses.texts == ("anna visits rome", "boris")


def test_an_embedder_is_never_asked_for_an_empty_text() -> None:
    embedder = WordEmbedder()
    guesses = Guesses.from_texts(["", "anna"], TEST.vectors[:2], embedder.embed)
    assert embedder.asked == [".", "anna"]
    assert guesses.texts == ("", "anna")


def test_of_two_guesses_the_nearer_is_kept_row_by_row() -> None:
    targets = TEST.vectors[:3]
    good = Guesses.from_texts(TEST.texts[:3], targets, EMBED)
    mixed = Guesses.from_texts([TEST.texts[0], "felix", "felix"], targets, EMBED)
    other = Guesses.from_texts(["felix", TEST.texts[1], "felix"], targets, EMBED)
    chosen = mixed.choose_nearer(other)
    assert chosen.texts == (*TEST.texts[:2], "felix")
    np.testing.assert_array_equal(chosen.vectors[:2], good.vectors[:2])
    np.testing.assert_array_equal(chosen.nearness, np.maximum(mixed.nearness, other.nearness))
    assert mixed.choose_nearer(mixed).texts == mixed.texts


def test_a_corrector_starts_with_copies_of_the_inverters_weights(inverter: Inverter) -> None:
    guessed = torch.from_numpy(SAMPLE.vectors) * 3 + 1
    corrector = Corrector.from_inverter(inverter, guessed)
    for transform in (
        corrector.embedding_transform_1,
        corrector.embedding_transform_2,
        corrector.embedding_transform_3,
    ):
        assert all(
            map(torch.equal, transform.state_dict().values(), inverter.embedding_transform.state_dict().values())
        )
    assert torch.equal(corrector.encoder_decoder.shared.weight, inverter.encoder_decoder.shared.weight)
    # Guesses have a scale of their own.
    torch.testing.assert_close(
        corrector.standardize_guess(guessed), corrector.standardize(torch.from_numpy(SAMPLE.vectors))
    )
    with torch.no_grad():
        corrector.encoder_decoder.shared.weight.zero_()
    assert inverter.encoder_decoder.shared.weight.any()


def test_a_corrector_reads_target_guess_difference_and_the_words_of_the_guess(
    inverter: Inverter, tokenizer: TextTokenizer
) -> None:
    corrector = Corrector.from_inverter(inverter, torch.from_numpy(SAMPLE.vectors)).eval()
    guesses = Guesses.from_texts(["anna visits rome", "boris"], TEST.vectors[:2], EMBED)
    condition = guesses.condition(torch.from_numpy(TEST.vectors[:2]), tokenizer, longest=8)(np.array([0, 1]))
    targets, guessed, pieces, real = condition
    sequence, mask = corrector.encoder_inputs(*condition)
    assert torch.equal(targets, torch.from_numpy(TEST.vectors[:2]))
    assert torch.equal(guessed, torch.from_numpy(guesses.vectors))
    # Four separators, three vectors of two positions each, and the pieces.
    assert sequence.shape[:2] == mask.shape == (2, 4 + 3 * 2 + pieces.shape[1])
    assert mask[:, 10:].tolist() == real.long().tolist()
    assert mask[:, :10].all()


class _Echo:
    """Writes given texts, one list for each call."""

    def __init__(self, *written: Sequence[str]) -> None:
        self.written = list(written)
        self.beams = 1
        self.max_tokens = 8

    def write_texts(self, *_: object, **__: object) -> Sequence[str]:
        return self.written.pop(0)


def _trained(tokenizer: TextTokenizer, first: Sequence[str], *corrections: Sequence[str]) -> TrainedVec2Text:
    inverter, corrector = _Echo(first), _Echo(*corrections)
    corrector.tokenizer = tokenizer
    return TrainedVec2Text(inverter=inverter, corrector=corrector, embed=EMBED, steps=len(corrections))


def test_the_best_of_all_guesses_counts_and_the_last_is_corrected(tokenizer: TextTokenizer) -> None:
    targets = TEST.vectors[:2]
    attack = _trained(tokenizer, ["felix", TEST.texts[1]], [TEST.texts[0], "felix"], ["emma", "emma"])
    assert attack._best_guesses(targets, lambda items, **_: items).texts == TEST.texts[:2]


def test_the_same_vectors_are_guessed_at_once(tokenizer: TextTokenizer) -> None:
    attack = _trained(tokenizer, ["felix", "anna"])

    def guess(vectors: Embeddings) -> Guesses:
        return attack._best_guesses(vectors, lambda items, **_: items)

    assert guess(TEST.vectors[:2]) is guess(TEST.vectors[:2].copy())
    with pytest.raises(IndexError):
        guess(TEST.vectors[2:4])


def test_no_vectors_have_no_texts(inverter: Inverter, tokenizer: TextTokenizer) -> None:
    generator = TrainedGenerator(
        model=inverter, tokenizer=tokenizer, vocabulary=SAMPLE.vocabulary, max_tokens=8, beams=1
    )
    attack = TrainedVec2Text(inverter=generator, corrector=generator, embed=EMBED, steps=1)
    assert attack.recover(np.empty((0, DIMENSIONS), np.float32)).texts == ()
    assert attack.confidence(TEST.rows([])) == ()
