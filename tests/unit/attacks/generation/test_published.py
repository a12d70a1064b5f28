from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from support.embedders import DIMENSIONS, WordEmbedder
from support.travel_notes import travel_notes
from vecveil.attacks import TrainingRun
from vecveil.attacks.generation.corrector import Corrector
from vecveil.attacks.generation.inverter import Inverter, build_t5
from vecveil.attacks.generation.published import load_corrector, load_inverter, load_inverter_tokenizer
from vecveil.attacks.generation.tokenizer import END, PADDING, train_tokenizer
from vecveil.attacks.standardize import Standardize
from vecveil.attacks.vec2text import Vec2Text
from vecveil.core.errors import ArtifactError, EmbedderMismatchError


def tiny_t5(vocabulary: int) -> Any:
    return build_t5(
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
    tokenizer = train_tokenizer(sample.texts, vocabulary=400)
    tensors = {
        name: value.detach().clone().contiguous()
        for name, value in network.state_dict().items()
        if not name.startswith("standardize")
    }
    folder.mkdir()
    save_file({**tensors, "embedder.encoder.weight": torch.ones(3, 3)}, folder / "model.safetensors")
    settings = {"model_name_or_path": "t5-base", "num_repeat_tokens": 4, "max_seq_length": 32}
    (folder / "config.json").write_text(json.dumps(settings))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend, eos_token=END, pad_token=PADDING).save_pretrained(
        folder
    )


@pytest.fixture
def published(tmp_path: Path) -> tuple[Inverter, Corrector]:
    torch.manual_seed(0)
    inverter = Inverter(Standardize.identity(DIMENSIONS), tiny_t5(400), positions=4)
    corrector = Corrector(Standardize.identity(DIMENSIONS), Standardize.identity(DIMENSIONS), tiny_t5(400), positions=4)
    write_published(tmp_path / "inverter", inverter)
    write_published(tmp_path / "corrector", corrector)
    return inverter.eval(), corrector.eval()


def test_published_networks_load_as_they_were_saved(published: tuple[Inverter, Corrector], tmp_path: Path) -> None:
    inverter = load_inverter(str(tmp_path / "inverter"), DIMENSIONS).eval()
    corrector = load_corrector(str(tmp_path / "corrector"), DIMENSIONS).eval()
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
    recovery = attack.train(TrainingRun(sample, held_out, np.random.default_rng(0))).recover(test.vectors[:3])
    assert recovery.texts is not None
    assert len(recovery.texts) == 3


@pytest.mark.usefixtures("published")
def test_published_networks_of_another_kind_or_size_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"holds no tensor 'embedding_transform\.0\.weight'"):
        load_inverter(str(tmp_path / "corrector"), DIMENSIONS)
    with pytest.raises(EmbedderMismatchError, match=f"reads vectors of {DIMENSIONS} dimensions, not of 5"):
        load_inverter(str(tmp_path / "inverter"), 5)
    (tmp_path / "inverter" / "model.safetensors").unlink()
    with pytest.raises(ArtifactError, match=r"holds no model\.safetensors"):
        load_inverter(str(tmp_path / "inverter"), DIMENSIONS)


def test_published_networks_that_cannot_be_had_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(ArtifactError, match="'nobody/nothing' is no folder, and can't be had from the hub"):
        load_inverter("nobody/nothing", DIMENSIONS)


@pytest.mark.usefixtures("published")
def test_the_tokenizer_is_the_one_beside_the_network(tmp_path: Path) -> None:
    sample, _, _ = travel_notes()
    tokenizer, known = (
        load_inverter_tokenizer(str(tmp_path / "inverter")),
        train_tokenizer(sample.texts, vocabulary=400),
    )
    assert (tokenizer.size, tokenizer.end, tokenizer.padding) == (known.size, known.end, known.padding)


@pytest.mark.usefixtures("published")
def test_a_network_that_lacks_a_tensor_is_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = tmp_path / "inverter" / "model.safetensors"
    save_file({name: value for name, value in load_file(path).items() if name != "embedding_transform.3.bias"}, path)
    with pytest.raises(ArtifactError, match=r"lacks the tensor 'embedding_transform\.3\.bias'"):
        load_inverter(str(tmp_path / "inverter"), DIMENSIONS)


@pytest.mark.usefixtures("published")
def test_a_broken_config_is_named(tmp_path: Path) -> None:
    (tmp_path / "inverter" / "config.json").write_text("{")
    with pytest.raises(ArtifactError, match=r"config\.json can't be read"):
        load_inverter(str(tmp_path / "inverter"), DIMENSIONS)
