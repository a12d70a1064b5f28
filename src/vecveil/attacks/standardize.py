"""The layer that brings the dimensions of vectors to a common scale."""

from __future__ import annotations

import torch

STILL = 1e-4
"""A dimension whose spread is this share of the largest counts as constant."""


class Standardize(torch.nn.Module):
    """Subtracts a mean and divides by a spread, both fixed, so that noise of any length is learned."""

    mean: torch.Tensor
    spread: torch.Tensor

    def __init__(self, mean: torch.Tensor, spread: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("spread", spread)

    @classmethod
    def fit(cls, vectors: torch.Tensor) -> Standardize:
        """Return the layer that brings `vectors` to mean 0 and spread 1; a constant dimension keeps its scale."""
        spread = vectors.std(dim=0, correction=0)
        # Models have dimensions that hardly move; dividing by their spread would blow up the rounding of a constant.
        moves = spread > STILL * spread.max()
        return cls(vectors.mean(dim=0), torch.where(moves, spread, torch.ones_like(spread)))

    @classmethod
    def identity(cls, dimensions: int) -> Standardize:
        """Return the layer that changes nothing."""
        return cls(torch.zeros(dimensions), torch.ones(dimensions))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Return the vectors, standardized."""
        return (vectors - self.mean) / self.spread

    def widen(self, vectors: torch.Tensor) -> None:
        """Adapt to `vectors` that spread wider than those before, as noisy ones do.

        Each dimension is shrunk by the share of its variance that is not noise: the best linear guess of the clean one.
        """
        spread = vectors.std(dim=0, correction=0)
        self.spread.copy_((spread**2 / self.spread).maximum(self.spread))
