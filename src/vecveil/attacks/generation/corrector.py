"""Vec2Text's second network: it sees where a guess landed, where it should have landed, and writes a better one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch

from vecveil.attacks.generation.inverter import Inverter, generate, logits, projection
from vecveil.attacks.standardise import Standardise, standardised


class Corrector(torch.nn.Module):
    """An encoder–decoder that reads a target, a guess with its embedding, and the difference of the two embeddings.

    Its parameters have the names and shapes of the published Vec2Text correctors, so that those can be loaded.

    Args:
        standardise: Brings the dimensions of a target to a common scale; the published ones have none.
        standardise_guess: The same for the embedding of a guess, which is clean where a target is noisy.
        encoder_decoder: A T5 of transformers.
        positions: Length of the sequence that each of the three vectors is projected to.
    """

    def __init__(
        self, standardise: Standardise, standardise_guess: Standardise, encoder_decoder: Any, *, positions: int
    ) -> None:
        super().__init__()
        dimensions = standardise.mean.shape[0]
        self.standardise = standardise
        self.standardise_guess = standardise_guess
        self.encoder_decoder = encoder_decoder
        self.positions = positions
        self.embedding_transform_1 = projection(encoder_decoder, dimensions, positions)
        self.embedding_transform_2 = projection(encoder_decoder, dimensions, positions)
        self.embedding_transform_3 = projection(encoder_decoder, dimensions, positions)
        self.layernorm = torch.nn.LayerNorm(encoder_decoder.config.d_model)

    def forward(self, pieces: torch.Tensor, real: torch.Tensor, *guess: torch.Tensor) -> torch.Tensor:
        """Return one row of logits for each real piece of the right text."""
        return logits(self.encoder_decoder, pieces, real, *self.inputs(*guess))

    def generate(self, *guess: torch.Tensor, beams: int, longest: int, kept: int = 1) -> list[list[int]]:
        """Return the pieces of the `kept` likeliest better texts of each guess, one after the other."""
        return generate(self.encoder_decoder, *self.inputs(*guess), beams=beams, longest=longest, kept=kept)

    def inputs(
        self, vectors: torch.Tensor, guessed: torch.Tensor, pieces: torch.Tensor, real: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what the encoder reads, and which positions of it are real.

        Args:
            vectors: The targets.
            guessed: The embeddings of the guesses.
            pieces: The guesses.
            real: Which of their pieces are no padding.
        """
        rows = vectors.shape[0]
        target, guess = self.standardise(vectors), self.standardise_guess(guessed)
        words = self.encoder_decoder.encoder.embed_tokens
        between = words(torch.full((rows, 1), self.encoder_decoder.config.eos_token_id))
        parts = [
            self.embedding_transform_1(target),
            self.embedding_transform_3(guess),
            self.embedding_transform_2(target - guess),
        ]
        sequences = [part.reshape(rows, self.positions, -1) for part in parts]
        separated = [piece for sequence in sequences for piece in (between, sequence)]
        sequence = self.layernorm(torch.cat([*separated, between, words(pieces)], dim=1))
        known = torch.ones((rows, 4 + 3 * self.positions), dtype=torch.long)
        return sequence, torch.cat([known, real.long()], dim=1)


def corrector_from(inverter: Inverter, guessed: torch.Tensor) -> Corrector:
    """Return a corrector that starts with what an inverter knows of language and of vectors.

    Args:
        inverter: Its weights are copied.
        guessed: Embeddings of guesses, which are clean and so may spread less than what the inverter reads.
    """
    network = Corrector(
        deepcopy(inverter.standardise),
        standardised(guessed),
        deepcopy(inverter.encoder_decoder),
        positions=inverter.positions,
    )
    for transform in (network.embedding_transform_1, network.embedding_transform_2, network.embedding_transform_3):
        transform.load_state_dict(inverter.embedding_transform.state_dict())
    return network
