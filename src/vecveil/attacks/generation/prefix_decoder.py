"""GEIA's network: an embedding, projected to one position before the text, and a language model that reads on."""

from __future__ import annotations

from typing import Any

import torch

from vecveil.attacks.generation.tokeniser import Tokeniser
from vecveil.attacks.generation.writing import likeliest
from vecveil.attacks.standardise import Standardise


class PrefixDecoder(torch.nn.Module):
    """A causal language model whose first position is not a word but the projected embedding.

    Args:
        standardise: Brings the dimensions of a vector to a common scale.
        decoder: A causal language model of transformers.
        hidden: Width of the projection's hidden layer.
        tokeniser: The decoder's.
    """

    def __init__(self, standardise: Standardise, decoder: Any, *, hidden: int, tokeniser: Tokeniser) -> None:
        super().__init__()
        self.standardise = standardise
        self.decoder = decoder
        self.end, self.padding = tokeniser.end, tokeniser.padding
        self.projection = torch.nn.Sequential(
            torch.nn.Linear(standardise.mean.shape[0], hidden),
            torch.nn.GELU(),
            torch.nn.Linear(hidden, decoder.get_input_embeddings().embedding_dim),
        )

    def forward(self, pieces: torch.Tensor, real: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """Return one row of logits for each real piece, each from the embedding and the pieces before it."""
        before = self.decoder.get_input_embeddings()(pieces[:, :-1])
        prefix = self.prefix(vectors).to(before.dtype)
        # Causal attention never looks ahead, so the padding at the end needs no mask; its positions are left out here,
        # before the softmax, which is half of the work.
        states = self.decoder.base_model(inputs_embeds=torch.cat([prefix, before], dim=1)).last_hidden_state
        logits: torch.Tensor = self.decoder.get_output_embeddings()(states[real])
        return logits

    def prefix(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the position that stands before the text."""
        projected: torch.Tensor = self.projection(self.standardise(vectors))
        return projected[:, None]

    def generate(self, vectors: torch.Tensor, *, beams: int, longest: int, kept: int = 1) -> list[list[int]]:
        """Return the pieces of the `kept` likeliest texts of each vector, one after the other."""
        prefix = self.prefix(vectors)
        found = likeliest(
            self.decoder,
            beams=beams,
            kept=kept,
            longest=longest,
            inputs_embeds=prefix,
            attention_mask=torch.ones(prefix.shape[:2], dtype=torch.long),
            eos_token_id=self.end,
            pad_token_id=self.padding,
        )
        rows: list[list[int]] = found.tolist()
        return rows
