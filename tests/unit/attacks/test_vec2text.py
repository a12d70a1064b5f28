from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.embedders import DIMENSIONS, WordEmbedder
from support.travel_notes import leakage, travel_notes

from vecveil.attacks.generation.correction import TrainedVec2Text
from vecveil.attacks.generation.corrector import Corrector
from vecveil.attacks.generation.encoder_decoders import encoder_decoder
from vecveil.attacks.generation.inverter import Inverter
from vecveil.attacks.generation.published import published_corrector, published_inverter
from vecveil.attacks.generation.tokeniser import END, PADDING, train_tokeniser
from vecveil.attacks.standardise import Standardise
from vecveil.attacks.vec2text import Vec2Text
from vecveil.core.errors import ArtifactError, EmbedderMismatchError, InvalidInputError

TINY: dict[str, Any] = {
    "width": 32,
    "layers": 1,
    "encoder_layers": 1,
    "heads": 2,
    "positions": 2,
    "vocabulary": 400,
    "max_tokens": 8,
    "batch_size": 16,
    "dropout": 0.0,
}


@pytest.fixture(scope="module")
def trained() -> TrainedVec2Text:
    sample, held_out, _ = travel_notes()
    attack = Vec2Text(
        **TINY, learning_rate=1e-2, epochs=35, patience=50, steps=2, embed=WordEmbedder(dtype="float64").embed
    )
    return attack.train(sample, held_out, np.random.default_rng(0))


def test_words_that_are_in_the_vectors_are_read_back(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    assert leakage(trained.recover(test.vectors), test) > 0.6


def test_the_first_guess_alone_reads_too(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    assert leakage(replace(trained, correction=None).recover(test.vectors), test) > 0.5


def test_corrections_come_nearer_or_stay(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    first = replace(trained, correction=None).recover(test.vectors).texts
    last = trained.recover(test.vectors).texts
    assert first is not None
    assert last is not None
    nearness = [np.sum(WordEmbedder().embed(texts) * test.vectors, axis=1) for texts in (first, last)]
    assert (nearness[1] >= nearness[0] - 1e-6).all()


def test_a_text_that_the_attacker_knows_is_found_however_badly_it_writes() -> None:
    sample, held_out, _ = travel_notes()
    settings = {**TINY, "max_tokens": 16, "epochs": 1, "steps": 1, "embed": WordEmbedder().embed}
    found = {
        recall: Vec2Text(**settings, recall=recall).train(sample, held_out, np.random.default_rng(0))
        for recall in (True, False)
    }
    texts = {recall: attack.recover(sample.vectors).texts for recall, attack in found.items()}
    # Other texts may have the same vector here, so the words are what must agree.
    known = [set(text.split()) for text in sample.texts]
    right = {
        recall: np.mean([set(text.split()) == words for text, words in zip(read or (), known, strict=True)])
        for recall, read in texts.items()
    }
    assert right[True] > 0.9
    assert right[False] < 0.1


def test_nothing_is_read_from_vectors_of_other_texts() -> None:
    sample, held_out, test = travel_notes(shuffled=True)
    attack = Vec2Text(**TINY, learning_rate=1e-2, epochs=5, steps=0)
    assert leakage(attack.train(sample, held_out, np.random.default_rng(0)).recover(test.vectors), test) < 0.4


def test_confidence_is_a_probability_of_each_true_token(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    for attack in (trained, replace(trained, correction=None)):
        confidence = np.array(attack.confidence(test))
        assert confidence.shape == (len(test), 2)
        assert ((confidence > 0) & (confidence <= 1)).all()
        assert confidence.mean() > 0.3


def test_beams_read_at_least_something(trained: TrainedVec2Text) -> None:
    _, _, test = travel_notes()
    wide = replace(trained, reader=replace(trained.reader, beams=2))
    assert leakage(wide.recover(test.vectors), test) > 0.5


def test_a_training_that_was_stopped_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    sample, held_out, _ = travel_notes()
    attack = Vec2Text(**{**TINY, "dropout": 0.2}, epochs=2, steps=1, embed=WordEmbedder().embed)
    whole = attack.train(sample, held_out, np.random.default_rng(0))

    def stopping(items: Any, *, label: str, **_: Any) -> Any:
        for number, item in enumerate(items):
            if "corrector" in label and number == 7:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        attack.train(sample, held_out, np.random.default_rng(0), folder=tmp_path, progress=stopping)
    resumed = attack.train(sample, held_out, np.random.default_rng(0), folder=tmp_path)
    assert whole.correction is not None
    assert resumed.correction is not None
    for one, other in (
        (whole.inverter, resumed.inverter),
        (whole.correction.corrector, resumed.correction.corrector),
    ):
        for name, value in one.state_dict().items():
            torch.testing.assert_close(other.state_dict()[name], value, rtol=0, atol=0)


def test_corrections_need_the_model() -> None:
    sample, held_out, _ = travel_notes()
    with pytest.raises(InvalidInputError, match=r"hand in embed, or set steps to 0 \(got 3\)"):
        Vec2Text(**TINY).train(sample, held_out, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": -1}, "steps must be a whole number of at least 0, got -1"),
        ({"positions": 0}, "positions must be a whole number of at least 1, got 0"),
        ({"inverter": ""}, "inverter must be 'small', a name or a folder, got ''"),
        ({"max_tokens": 2}, "max_tokens must be a whole number of at least 4, got 2"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Vec2Text(**settings)


def tiny_t5(vocabulary: int) -> Any:
    return encoder_decoder(
        vocab_size=vocabulary,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_decoder_layers=1,
        num_heads=2,
        decoder_start_token_id=0,
    )


def write_published(folder: Path, network: torch.nn.Module) -> None:
    """Write a checkpoint as the published ones are: with the embedder's weights in it and the T5 only named."""
    from safetensors.torch import save_file
    from transformers import PreTrainedTokenizerFast

    sample, _, _ = travel_notes()
    tokeniser = train_tokeniser(sample.texts, vocabulary=400)
    tensors = {
        name: value.detach().clone().contiguous()
        for name, value in network.state_dict().items()
        if not name.startswith("standardise")
    }
    folder.mkdir()
    save_file({**tensors, "embedder.encoder.weight": torch.ones(3, 3)}, folder / "model.safetensors")
    settings = {"model_name_or_path": "t5-base", "num_repeat_tokens": 4, "max_seq_length": 32}
    (folder / "config.json").write_text(json.dumps(settings))
    PreTrainedTokenizerFast(tokenizer_object=tokeniser.backend, eos_token=END, pad_token=PADDING).save_pretrained(
        folder
    )


def unchanged() -> Standardise:
    return Standardise(torch.zeros(DIMENSIONS), torch.ones(DIMENSIONS))


@pytest.fixture
def published(tmp_path: Path) -> tuple[Inverter, Corrector]:
    torch.manual_seed(0)
    inverter = Inverter(unchanged(), tiny_t5(400), positions=4)
    corrector = Corrector(unchanged(), unchanged(), tiny_t5(400), positions=4)
    write_published(tmp_path / "inverter", inverter)
    write_published(tmp_path / "corrector", corrector)
    return inverter.eval(), corrector.eval()


def test_published_networks_load_as_they_were_saved(published: tuple[Inverter, Corrector], tmp_path: Path) -> None:
    inverter = published_inverter(str(tmp_path / "inverter"), DIMENSIONS).eval()
    corrector = published_corrector(str(tmp_path / "corrector"), DIMENSIONS).eval()
    vectors, pieces = torch.randn(3, DIMENSIONS), torch.randint(2, 400, (3, 5))
    real = torch.ones_like(pieces, dtype=torch.bool)
    assert torch.equal(inverter(pieces, real, vectors), published[0](pieces, real, vectors))
    guess = (vectors, -vectors, pieces, real)
    assert torch.equal(corrector(pieces, real, *guess), published[1](pieces, real, *guess))


def test_published_networks_are_fine_tuned(published: tuple[Inverter, Corrector], tmp_path: Path) -> None:
    sample, held_out, test = travel_notes()
    attack = Vec2Text(
        inverter=str(tmp_path / "inverter"),
        corrector=str(tmp_path / "corrector"),
        max_tokens=8,
        epochs=1,
        steps=1,
        embed=WordEmbedder().embed,
    )
    recovery = attack.train(sample, held_out, np.random.default_rng(0)).recover(test.vectors[:3])
    assert recovery.texts is not None
    assert len(recovery.texts) == 3


@pytest.mark.usefixtures("published")
def test_published_networks_of_another_kind_or_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"holds no tensor 'embedding_transform\.0\.weight'"):
        published_inverter(str(tmp_path / "corrector"), DIMENSIONS)
    with pytest.raises(EmbedderMismatchError, match=f"reads vectors of {DIMENSIONS} dimensions, not of 5"):
        published_inverter(str(tmp_path / "inverter"), 5)
    (tmp_path / "inverter" / "model.safetensors").unlink()
    with pytest.raises(ArtifactError, match=r"holds no model\.safetensors"):
        published_inverter(str(tmp_path / "inverter"), DIMENSIONS)


def test_published_networks_that_cannot_be_had_are_named() -> None:
    with pytest.raises(ArtifactError, match="'nobody/nothing' is no folder, and can't be had from the hub"):
        published_inverter("nobody/nothing", DIMENSIONS)
