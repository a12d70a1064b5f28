"""Hard-concrete gates and the classifier that they are trained with. Imports torch; the learner imports it late."""

from __future__ import annotations

import itertools
import math

import torch
from torch import Tensor, nn

STRETCH_HIGH, STRETCH_LOW = 1.1, -0.1
"""The paper's ξ and γ: the concrete distribution is stretched past 0 and 1, then cut, so that gates can close."""


class Gates(nn.Module):
    """One gate per dimension, each with its own location log α and temperature log β."""

    def __init__(self, dimensions: int, temperature: float) -> None:
        super().__init__()
        self.log_alpha = nn.Parameter(torch.zeros(dimensions))
        self.log_beta = nn.Parameter(torch.full((dimensions,), math.log(temperature)))

    def sample(self) -> Tensor:
        """Return one random mask (equation 1 of the paper)."""
        uniform = uniform_like(self.log_alpha)
        return _stretched(torch.sigmoid((torch.logit(uniform) + self.log_alpha) / self.log_beta.exp()))

    def settled(self) -> Tensor:
        """Return the mask that is used after training (equation 2)."""
        return _stretched(torch.sigmoid(self.log_alpha))

    def expected_open(self) -> Tensor:
        """Return the expected share of gates that are not closed (equation 4, without its sign)."""
        shift = self.log_beta.exp() * math.log(-STRETCH_LOW / STRETCH_HIGH)
        return torch.sigmoid(self.log_alpha - shift).mean()


def uniform_like(values: Tensor) -> Tensor:
    """Return as many numbers between 0 and 1, of which neither is reached: their logits are infinite."""
    return torch.rand_like(values).clamp(1e-6, 1 - 1e-6)


def classifier(dimensions: int, hidden: tuple[int, ...]) -> nn.Sequential:
    """Return an MLP with ReLU layers of the given widths and one logit."""
    layers: list[nn.Module] = []
    for width, following in itertools.pairwise((dimensions, *hidden)):
        layers += [nn.Linear(width, following), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear((dimensions, *hidden)[-1], 1), nn.Flatten(0))


def _stretched(gates: Tensor) -> Tensor:
    return (gates * (STRETCH_HIGH - STRETCH_LOW) + STRETCH_LOW).clamp(0, 1)
