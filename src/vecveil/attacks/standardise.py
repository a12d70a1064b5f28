"""The first layer of an attack: dimensions brought to mean 0 and spread 1, so that any length of noise is learned."""

from __future__ import annotations

import torch

STILL = 1e-4
"""A dimension whose spread is this share of the largest does not move."""


class Standardise(torch.nn.Module):
    """Subtracts a mean and divides by a spread, both fixed."""

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, mean: torch.Tensor, spread: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the vectors, standardised."""
        return (vectors - self.mean) / self.spread


def standardised(vectors: torch.Tensor) -> Standardise:
    """Return the layer that standardises `vectors`; a dimension that never moves, as an erased one, keeps its scale."""
    spread = vectors.std(dim=0, correction=0)
    # Models have dimensions that hardly move; dividing by their spread would blow up the rounding of a constant.
    moves = spread > STILL * spread.max()
    return Standardise(vectors.mean(dim=0), torch.where(moves, spread, torch.ones_like(spread)))
