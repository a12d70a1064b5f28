"""Vec2Text's first network: an embedding spread over a few positions, and an encoder–decoder that writes the text."""

from __future__ import annotations

from typing import Any

import torch

from vecveil.attacks.generation.writing import likeliest
from vecveil.attacks.standardise import Standardise


class Inverter(torch.nn.Module):
    """An encoder–decoder whose input is not words but an embedding, projected to a short sequence.

    Its parameters have the names and shapes of the published Vec2Text inverters, so that those can be loaded.

    Args:
        standardise: Brings the dimensions of a vector to a common scale; the published ones have none.
        encoder_decoder: A T5 of transformers.
        positions: Length of the sequence that a vector is projected to.
    """

    def __init__(self, standardise: Standardise, encoder_decoder: Any, *, positions: int) -> None:
        super().__init__()
        self.standardise = standardise
        self.encoder_decoder = encoder_decoder
        self.positions = positions
        self.embedding_transform = projection(encoder_decoder, standardise.mean.shape[0], positions)

    def forward(self, pieces: torch.Tensor, real: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """Return one row of logits for each real piece, each from the embedding and the pieces before it."""
        return logits(self.encoder_decoder, pieces, real, *self.inputs(vectors))

    def generate(self, vectors: torch.Tensor, *, beams: int, longest: int, kept: int = 1) -> list[list[int]]:
        """Return the pieces of the `kept` likeliest texts of each vector, one after the other."""
        return generate(self.encoder_decoder, *self.inputs(vectors), beams=beams, longest=longest, kept=kept)

    def inputs(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the encoder reads, and which positions of it are real."""
        sequence = self.embedding_transform(self.standardise(vectors)).reshape(vectors.shape[0], self.positions, -1)
        return sequence, torch.ones(sequence.shape[:2], dtype=torch.long)


def projection(encoder_decoder: Any, dimensions: int, positions: int) -> torch.nn.Sequential:
    """Return the two layers that make a sequence of a vector."""
    config = encoder_decoder.config
    return torch.nn.Sequential(
        torch.nn.Linear(dimensions, dimensions),
        torch.nn.Dropout(config.dropout_rate),
        torch.nn.GELU(),
        torch.nn.Linear(dimensions, config.d_model * positions),
    )


def logits(
    encoder_decoder: Any, pieces: torch.Tensor, real: torch.Tensor, sequence: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """Return the logits of an encoder–decoder at the real pieces alone: the softmax is half of the work."""
    start = torch.full_like(pieces[:, :1], encoder_decoder.config.decoder_start_token_id)
    encoded = encoder_decoder.encoder(inputs_embeds=sequence, attention_mask=mask).last_hidden_state
    states = encoder_decoder.decoder(
        input_ids=torch.cat([start, pieces[:, :-1]], dim=1),
        encoder_hidden_states=encoded,
        encoder_attention_mask=mask,
        use_cache=False,
    ).last_hidden_state[real]
    # The first T5 shrinks its states before the softmax, its successor doesn't; the config knows which it is.
    scale = encoder_decoder.config.d_model**-0.5 if encoder_decoder.config.scale_decoder_outputs else 1.0
    found: torch.Tensor = encoder_decoder.lm_head(states * scale)
    return found


def generate(
    encoder_decoder: Any, sequence: torch.Tensor, mask: torch.Tensor, *, beams: int, longest: int, kept: int
) -> list[list[int]]:
    """Return the `kept` likeliest rows of pieces after each sequence, without the start token."""
    from transformers import DynamicCache, EncoderDecoderCache

    found = likeliest(
        encoder_decoder,
        beams=beams,
        kept=kept,
        longest=longest,
        inputs_embeds=sequence,
        attention_mask=mask,
        # The cache that transformers makes itself has room for as many layers as the encoder has, not the decoder.
        past_key_values=EncoderDecoderCache(DynamicCache(), DynamicCache()),
    )
    rows: list[list[int]] = found[:, 1:].tolist()
    return rows
