from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from support.travel_notes import leakage, travel_notes
from vecveil.attacks import Sample, TrainingRun
from vecveil.attacks.geia import Geia
from vecveil.attacks.generation.generator import TrainedGenerator
from vecveil.attacks.generation.tokenizer import END, train_tokenizer
from vecveil.concepts import SensitiveToken
from vecveil.core.errors import ArtifactError, InvalidInputError, MissingExtraError, VecveilWarning
from vecveil.shapes import DifferentiableAttack

TINY: dict[str, Any] = {
    "width": 32,
    "layers": 1,
    "heads": 2,
    "hidden": 64,
    "vocabulary": 400,
    "max_tokens": 8,
    "batch_size": 16,
    "dropout": 0.0,
}
THOROUGH = Geia(**TINY, learning_rate=1e-2, epochs=50, patience=50)


@pytest.fixture(scope="module")
def trained() -> TrainedGenerator:
    sample, held_out, _ = travel_notes()
    return THOROUGH.train(TrainingRun(sample, held_out, np.random.default_rng(0)))


def test_words_that_are_in_the_vectors_are_read_back(trained: TrainedGenerator) -> None:
    sample, _, test = travel_notes()
    recovery = trained.recover(test.vectors)
    assert leakage(recovery, test) > 0.6
    assert recovery.vocabulary == sample.vocabulary
    assert recovery.texts is not None
    assert all(frozenset(text.split()) == read for text, read in zip(recovery.texts, recovery.words, strict=True))


def test_nothing_is_read_from_vectors_of_other_texts() -> None:
    sample, held_out, test = travel_notes(shuffled=True)
    blind = Geia(**TINY, learning_rate=1e-2, epochs=6).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
    assert leakage(blind.recover(test.vectors), test) < 0.4


def test_scores_put_true_words_first(trained: TrainedGenerator) -> None:
    _, _, test = travel_notes()
    recovery = trained.recover(test.vectors)
    columns = {word: column for column, word in enumerate(recovery.vocabulary)}
    true = [
        row[columns[token.word]] for row, tokens in zip(recovery.scores, test.tokens, strict=True) for token in tokens
    ]
    assert recovery.scores.shape == (len(test), len(recovery.vocabulary))
    assert np.mean(true) > 3 * recovery.scores.mean()


def test_confidence_is_the_probability_of_the_truth(trained: TrainedGenerator) -> None:
    _, _, test = travel_notes()
    confidence = np.array(trained.confidence(test))
    wrong = Sample(vectors=test.vectors[::-1], texts=test.texts, tokens=test.tokens)
    assert confidence.shape == (len(test), 2)
    assert ((confidence > 0) & (confidence <= 1)).all()
    assert confidence.mean() > 2 * np.array(trained.confidence(wrong)).mean()


def test_a_token_behind_the_cut_has_no_confidence(trained: TrainedGenerator) -> None:
    _, _, test = travel_notes()
    text = " ".join(["anna"] * 10 + ["rome"])
    sample = Sample(vectors=test.vectors[:1], texts=(text,), tokens=((SensitiveToken("rome", "GPE"),),))
    assert trained.confidence(sample)[0].tolist() == [0.0]


def test_reading_is_deterministic_and_beams_read_too(trained: TrainedGenerator) -> None:
    _, _, test = travel_notes()
    once, again = trained.recover(test.vectors), trained.recover(test.vectors)
    assert once.texts == again.texts
    np.testing.assert_array_equal(once.scores, again.scores)
    wide = replace(trained, beams=3)
    assert leakage(wide.recover(test.vectors), test) > 0.6


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    sample, held_out, _ = travel_notes()
    attack = Geia(**{**TINY, "dropout": 0.2}, learning_rate=1e-2, epochs=4, patience=50)
    whole = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0)))

    def stopping(items: Any, **_: Any) -> Any:
        for number, item in enumerate(items):
            if number == 13:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        attack.train(TrainingRun(sample, held_out, np.random.default_rng(0), folder=tmp_path, progress=stopping))
    resumed = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0), folder=tmp_path))
    for name, value in whole.model.state_dict().items():
        torch.testing.assert_close(resumed.model.state_dict()[name], value, rtol=0, atol=0)


def test_training_leaves_the_callers_random_numbers_alone() -> None:
    sample, held_out, _ = travel_notes()
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    Geia(**TINY, epochs=1).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
    assert torch.equal(torch.rand(1), expected)


def test_a_checkpoint_of_other_texts_is_refused(tmp_path: Path) -> None:
    sample, held_out, test = travel_notes()
    attack = Geia(**TINY, epochs=1)
    attack.train(TrainingRun(sample, held_out, np.random.default_rng(0), folder=tmp_path))
    with pytest.raises(ArtifactError, match="another training"):
        attack.train(TrainingRun(sample.rows(range(60)), test, np.random.default_rng(0), folder=tmp_path))


def test_many_cut_texts_are_warned_of_once() -> None:
    sample, held_out, _ = travel_notes()
    with pytest.warns(VecveilWarning, match="of 80 texts have more than 3 pieces and are cut there") as caught:
        Geia(**{**TINY, "vocabulary": 300, "max_tokens": 4}, epochs=1).train(
            TrainingRun(sample, held_out, np.random.default_rng(0))
        )
    assert len([warning for warning in caught if warning.category is VecveilWarning]) == 1


def test_a_decoder_is_loaded_from_a_folder(tmp_path: Path) -> None:
    write_gpt2(tmp_path / "gpt2")
    sample, held_out, test = travel_notes()
    attack = Geia(decoder=str(tmp_path / "gpt2"), hidden=32, epochs=2, max_tokens=12, learning_rate=1e-2)
    recovery = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0))).recover(test.vectors[:2])
    assert recovery.texts is not None
    assert len(recovery.texts) == 2


def write_gpt2(folder: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    sample, _, _ = travel_notes()
    tokenizer = train_tokenizer(sample.texts, vocabulary=400)
    config = GPT2Config(
        vocab_size=tokenizer.size, n_positions=32, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1
    )
    architecture: Any = GPT2LMHeadModel
    architecture(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend, eos_token=END).save_pretrained(folder)


def test_a_decoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    sample, held_out, _ = travel_notes()
    with pytest.raises(ArtifactError, match=r"the tokenizer '.*nowhere' can't be loaded"):
        Geia(decoder=str(tmp_path / "nowhere")).train(TrainingRun(sample, held_out, np.random.default_rng(0)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoder": ""}, "decoder must be 'small', a name or a folder, got ''"),
        ({"hidden": 0}, "hidden must be a whole number of at least 1, got 0"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Geia(**settings)


def test_no_shape_is_learned_through_what_writes_texts(trained: TrainedGenerator) -> None:
    assert not isinstance(trained, DifferentiableAttack)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    sample, held_out, _ = travel_notes()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"transformers is not installed.*vecveil\[local\]"):
        Geia(**TINY).train(TrainingRun(sample, held_out, np.random.default_rng(0)))
