from __future__ import annotations

import pytest
import torch

from support.travel_notes import travel_notes
from vecveil.attacks.generation.inverter import INITIAL_SIZE, Inverter, build_small_t5, build_t5
from vecveil.attacks.generation.tokenizer import TextTokenizer, train_tokenizer
from vecveil.attacks.standardize import Standardize


@pytest.fixture(scope="module")
def tokenizer() -> TextTokenizer:
    return train_tokenizer(travel_notes()[0].texts, vocabulary=400)


def _inverter(tokenizer: TextTokenizer, *, small: bool) -> Inverter:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if small:
            t5 = build_small_t5(tokenizer, width=16, encoder_layers=1, layers=2, heads=2)
        else:
            t5 = build_t5(
                vocab_size=400, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0
            )
        return Inverter(Standardize.identity(8), t5, positions=3).eval()


def _vectors() -> torch.Tensor:
    return torch.randn(3, 8, generator=torch.Generator().manual_seed(1))


def _pieces() -> torch.Tensor:
    return torch.randint(2, 300, (3, 5), generator=torch.Generator().manual_seed(2))


def test_a_vector_becomes_so_many_positions(tokenizer: TextTokenizer) -> None:
    sequence, mask = _inverter(tokenizer, small=True).encoder_inputs(_vectors())
    assert sequence.shape == (3, 3, 16)
    assert mask.tolist() == [[1, 1, 1]] * 3


@torch.no_grad()
@pytest.mark.parametrize("small", [True, False])
def test_each_real_piece_has_the_logits_that_the_whole_model_gives(tokenizer: TextTokenizer, small: bool) -> None:
    network, pieces = _inverter(tokenizer, small=small), _pieces()
    real = torch.arange(5) < torch.tensor([5, 2, 4])[:, None]
    sequence, mask = network.encoder_inputs(_vectors())
    whole = network.encoder_decoder(inputs_embeds=sequence, attention_mask=mask, labels=pieces).logits
    torch.testing.assert_close(network(pieces, real, _vectors()), whole[real], rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_what_follows_a_piece_and_padding_make_no_difference_to_it(tokenizer: TextTokenizer) -> None:
    network, pieces = _inverter(tokenizer, small=True), _pieces()
    real = torch.arange(5) < torch.tensor([[3]] * 3)
    other = pieces.clone()
    other[:, 3:] = 0
    torch.testing.assert_close(network(pieces, real, _vectors()), network(other, real, _vectors()))


@torch.no_grad()
def test_what_is_generated_is_greedy_or_the_best_of_the_beams(tokenizer: TextTokenizer) -> None:
    network = _inverter(tokenizer, small=True)
    greedy = network.generate(_vectors(), beams=1, kept=1, longest=3)
    first = network(torch.zeros(3, 1, dtype=torch.long), torch.ones(3, 1, dtype=torch.bool), _vectors())
    assert [row[0] for row in greedy] == first.argmax(dim=1).tolist()
    assert len(network.generate(_vectors(), beams=3, kept=2, longest=3)) == 6


def test_the_weights_of_a_small_t5_start_small_and_what_layers_add_smaller(tokenizer: TextTokenizer) -> None:
    t5 = build_small_t5(tokenizer, width=64, encoder_layers=2, layers=3, heads=4)
    sizes = {
        name: float(module.weight.detach().std())
        for name, module in t5.named_modules()
        if isinstance(module, torch.nn.Linear)
    }
    added = [size for name, size in sizes.items() if name.endswith((".o", ".wo"))]
    others = [size for name, size in sizes.items() if not name.endswith((".o", ".wo"))]
    assert others == pytest.approx([INITIAL_SIZE] * len(others), rel=0.1)
    assert added == pytest.approx([INITIAL_SIZE * 13**-0.5] * len(added), rel=0.1)
    assert (t5.config.eos_token_id, t5.config.pad_token_id) == (tokenizer.end, tokenizer.padding)
