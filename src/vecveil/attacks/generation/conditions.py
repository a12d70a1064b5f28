"""What a network is told of a text: its vector, as it is, with noise, or brought back to a known scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vecveil.attacks.training.loop import Rows
from vecveil.core.arrays import Embeddings

if TYPE_CHECKING:
    import torch

    from vecveil.attacks.standardise import Standardise


def tensor(vectors: Embeddings) -> torch.Tensor:
    """Return vectors as torch takes them."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32))


def noisy(vectors: torch.Tensor, ratio: float) -> Callable[[Rows], tuple[torch.Tensor, ...]]:
    """Return the function that takes rows of `vectors`, each time with fresh noise of `ratio` times their length."""
    import torch

    scale = ratio * float(vectors.norm(dim=1).mean()) / vectors.shape[1] ** 0.5

    def taken(rows: Rows) -> tuple[torch.Tensor, ...]:
        chosen = vectors[rows]
        return (chosen + scale * torch.randn_like(chosen),) if scale else (chosen,)

    return taken


def adapt(standardise: Standardise, vectors: torch.Tensor) -> None:
    """Bring vectors that spread wider than those of the prior, as noisy ones do, back to what it knows.

    Each dimension is shrunk by the share of its variance that is not noise: the best linear guess of the clean one.
    """
    spread = vectors.std(dim=0, correction=0)
    standardise.spread.copy_((spread**2 / standardise.spread).maximum(standardise.spread))
