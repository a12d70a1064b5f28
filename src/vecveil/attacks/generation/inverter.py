"""Vec2Text's first network, and the T5 below both networks."""

from typing import Any

import torch

from vecveil.attacks.generation.generator import generate_pieces
from vecveil.attacks.generation.tokenizer import TextTokenizer
from vecveil.attacks.standardize import Standardize

INITIAL_SIZE = 0.02
"""Standard deviation of the initial weights of a small T5, as in GPT-2.

T5's own large start, with scales inside of the weights, suits an optimizer whose steps grow with the weights. Adam's
don't, so weights start small here and scales stand outside of them (docs/priors.md has the figures).
"""


class EncoderDecoder(torch.nn.Module):
    """A T5 that reads vectors, each projected to so many `positions`, and writes a text; the base of both networks.

    Parameters have the names and shapes of the published Vec2Text networks, so that those can be loaded.
    """

    def __init__(self, standardize: Standardize, encoder_decoder: Any, *, positions: int) -> None:
        super().__init__()
        self.standardize = standardize
        self.encoder_decoder = encoder_decoder
        self.positions = positions

    def encoder_inputs(self, *condition: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the sequence that the encoder reads, and which positions of it are real."""
        raise NotImplementedError

    def forward(self, pieces: torch.Tensor, real: torch.Tensor, *condition: torch.Tensor) -> torch.Tensor:
        """Return one row of logits for each real piece, each from the condition and the pieces before it."""
        model = self.encoder_decoder
        sequence, mask = self.encoder_inputs(*condition)
        start = torch.full_like(pieces[:, :1], model.config.decoder_start_token_id)
        encoded = model.encoder(inputs_embeds=sequence, attention_mask=mask).last_hidden_state
        # Only the real pieces go through the softmax, which is half of the work.
        states = model.decoder(
            input_ids=torch.cat([start, pieces[:, :-1]], dim=1),
            encoder_hidden_states=encoded,
            encoder_attention_mask=mask,
            use_cache=False,
        ).last_hidden_state[real]
        # The first T5 shrinks its states before the softmax, its successor doesn't; the config knows which it is.
        scale = model.config.d_model**-0.5 if model.config.scale_decoder_outputs else 1.0
        logits: torch.Tensor = model.lm_head(states * scale)
        return logits

    def generate(self, *condition: torch.Tensor, **search: int) -> list[list[int]]:
        """Return the pieces of the likeliest texts of each row, one after the other."""
        from transformers import DynamicCache, EncoderDecoderCache

        sequence, mask = self.encoder_inputs(*condition)
        pieces = generate_pieces(
            self.encoder_decoder,
            **search,
            inputs_embeds=sequence,
            attention_mask=mask,
            # The cache that transformers makes itself has as many layers as the encoder, not as the decoder.
            past_key_values=EncoderDecoderCache(DynamicCache(), DynamicCache()),
        )
        rows: list[list[int]] = pieces[:, 1:].tolist()
        return rows

    def _build_projection(self) -> torch.nn.Sequential:
        """Return two layers that project a vector to a sequence."""
        dimensions, config = self.standardize.mean.shape[0], self.encoder_decoder.config
        return torch.nn.Sequential(
            torch.nn.Linear(dimensions, dimensions),
            torch.nn.Dropout(config.dropout_rate),
            torch.nn.GELU(),
            torch.nn.Linear(dimensions, config.d_model * self.positions),
        )


class Inverter(EncoderDecoder):
    """A T5 whose input is not words but a vector, projected to a short sequence."""

    def __init__(self, standardize: Standardize, encoder_decoder: Any, *, positions: int) -> None:
        super().__init__(standardize, encoder_decoder, positions=positions)
        self.embedding_transform = self._build_projection()

    def encoder_inputs(self, *condition: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the projected vectors, all of them real."""
        (vectors,) = condition
        sequence = self.embedding_transform(self.standardize(vectors)).reshape(vectors.shape[0], self.positions, -1)
        return sequence, torch.ones(sequence.shape[:2], dtype=torch.long)


def build_small_t5(tokenizer: TextTokenizer, *, width: int, encoder_layers: int, layers: int, heads: int) -> Any:
    """Return an untrained T5 of these sizes, whose weights start small."""
    from torch.nn import Embedding, Linear
    from torch.nn.init import normal_

    model = build_t5(
        vocab_size=tokenizer.size,
        d_model=width,
        d_kv=width // heads,
        d_ff=4 * width,
        num_layers=encoder_layers,
        num_decoder_layers=layers,
        num_heads=heads,
        eos_token_id=tokenizer.end,
        pad_token_id=tokenizer.padding,
        decoder_start_token_id=tokenizer.padding,
    )
    # What a layer adds is smaller the more layers there are, so that words come through.
    added = (2 * encoder_layers + 3 * layers) ** -0.5
    for name, module in model.named_modules():
        if isinstance(module, Embedding | Linear):
            normal_(module.weight, std=INITIAL_SIZE * (added if name.endswith((".o", ".wo")) else 1.0))
        if hasattr(module, "scaling"):
            module.scaling = model.config.d_kv**-0.5
    model.config.scale_decoder_outputs = False
    return model


def build_t5(**settings: Any) -> Any:
    """Return an untrained T5 with these settings of its config."""
    from transformers import T5Config, T5ForConditionalGeneration

    architecture: Any = T5ForConditionalGeneration
    return architecture(T5Config(**settings))
