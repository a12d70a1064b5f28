from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from support.embedders import DIMENSIONS
from support.travel_notes import travel_notes
from vecveil.attacks import Sample
from vecveil.attacks.generation import generator as module
from vecveil.attacks.generation.decoder import PrefixDecoder, build_gpt2
from vecveil.attacks.generation.generator import TrainedGenerator
from vecveil.attacks.generation.tokenizer import train_tokenizer
from vecveil.attacks.standardize import Standardize
from vecveil.concepts import SensitiveToken, words

SAMPLE, _, TEST = travel_notes()


@pytest.fixture(scope="module")
def generator() -> TrainedGenerator:
    """A generator that has learned nothing: what is told of it holds for any."""
    tokenizer = train_tokenizer(SAMPLE.texts, vocabulary=400)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        decoder = build_gpt2(tokenizer, width=16, layers=1, heads=2, positions=13)
        model = PrefixDecoder(Standardize.identity(DIMENSIONS), decoder, hidden=16, tokenizer=tokenizer)
    return TrainedGenerator(model=model, tokenizer=tokenizer, vocabulary=SAMPLE.vocabulary, max_tokens=12, beams=1)


def _probabilities(generator: TrainedGenerator, text: str, vector: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Return the pieces of a text, and the probabilities of all pieces at each of them, one text by itself."""
    (pieces,) = generator.tokenizer.encode([text], longest=generator.max_tokens)
    block = torch.tensor([pieces])
    with torch.no_grad():
        logits = generator.model(block, torch.ones_like(block, dtype=torch.bool), torch.from_numpy(vector[np.newaxis]))
    return pieces, logits.float().softmax(dim=1).numpy()


def test_confidence_is_the_product_over_the_pieces_of_a_token(generator: TrainedGenerator) -> None:
    confidence = generator.confidence(TEST)
    for row in (0, 7, 15):
        text, tokens = TEST.texts[row], TEST.tokens[row]
        pieces, probabilities = _probabilities(generator, text, TEST.vectors[row])
        truth = probabilities[np.arange(len(pieces)), pieces]
        places = generator.tokenizer.find_words(text, [token.word for token in tokens])
        assert confidence[row] == pytest.approx([np.prod(truth[list(place)]) for place in places], rel=0.05)


def test_a_token_that_is_not_in_its_text_has_no_confidence(generator: TrainedGenerator) -> None:
    tokens = ((SensitiveToken("atlantis", "GPE"), SensitiveToken("anna", "PERSON")),)
    (found,) = generator.confidence(Sample(vectors=TEST.vectors[:1], texts=("anna sees rome",), tokens=tokens))
    assert found[0] == 0
    assert found[1] > 0


def test_the_score_of_a_word_is_the_highest_probability_of_its_first_piece(generator: TrainedGenerator) -> None:
    recovery = generator.recover(TEST.vectors[:3])
    assert recovery.texts is not None
    for row, text in enumerate(recovery.texts):
        _, probabilities = _probabilities(generator, text, TEST.vectors[row])
        first = [generator.tokenizer.first_pieces(word) for word in recovery.vocabulary]
        assert recovery.scores[row] == pytest.approx([probabilities[:, each].max() for each in first], rel=0.05)
        assert recovery.words[row] == frozenset(words(text))


def test_batches_change_nothing(generator: TrainedGenerator, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = generator.recover(TEST.vectors)
    monkeypatch.setattr(module, "BATCH", 3)
    parts = generator.recover(TEST.vectors)
    assert parts.texts == whole.texts
    np.testing.assert_allclose(parts.scores, whole.scores, rtol=0.05)


def test_beams_give_as_many_texts_as_are_kept(generator: TrainedGenerator) -> None:
    wide = replace(generator, beams=3)
    texts = wide.write_texts(lambda rows: (torch.from_numpy(TEST.vectors[rows]),), 4, kept=3)
    assert len(texts) == 12
    greedy = wide.guess_texts(torch.from_numpy(TEST.vectors[:4]), lambda items, **_: items)
    assert tuple(greedy) == generator.recover(TEST.vectors[:4]).texts


def test_no_vectors_have_no_texts(generator: TrainedGenerator) -> None:
    nothing = generator.recover(np.empty((0, DIMENSIONS), np.float32))
    assert nothing.texts == nothing.words == ()
    assert nothing.scores.shape == (0, len(SAMPLE.vocabulary))
    assert generator.confidence(TEST.rows([])) == ()
