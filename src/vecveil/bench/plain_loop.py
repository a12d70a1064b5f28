"""Algorithm 2 of the paper as one would write it down in PyTorch, and the products that no way around it can spare."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from vecveil.shapes import ContrastPairs
from vecveil.shapes.gates import CLOSING, MARGIN, STRETCH_LOW, WIDTH
from vecveil.shapes.hard_concrete import HardConcrete


class PlainGates(nn.Module):
    """Hard-concrete gates whose gradients PyTorch finds."""

    def __init__(self, dimensions: int, temperature: float) -> None:
        super().__init__()
        self.log_alpha = nn.Parameter(torch.zeros(dimensions))
        self.log_beta = nn.Parameter(torch.full((dimensions,), math.log(temperature)))

    def sample(self, uniform: Tensor | None = None) -> Tensor:
        """Return one random mask (equation 1 of the paper)."""
        inside = (torch.rand_like(self.log_alpha) if uniform is None else uniform).clamp(MARGIN, 1 - MARGIN)
        return _stretched(torch.sigmoid((torch.logit(inside) + self.log_alpha) / self.log_beta.exp()))

    def settled(self) -> Tensor:
        """Return the mask that is used after training (equation 2)."""
        return _stretched(torch.sigmoid(self.log_alpha))

    def expected_open(self) -> Tensor:
        """Return the expected share of gates that are not closed (equation 4, without its sign)."""
        return torch.sigmoid(self.log_alpha - self.log_beta.exp() * CLOSING).mean()


def plain_classifier(dimensions: int, hidden: tuple[int, ...]) -> nn.Sequential:
    """Return an MLP with ReLU layers of the given widths and one logit."""
    layers: list[nn.Module] = []
    for width, following in itertools.pairwise((dimensions, *hidden)):
        layers += [nn.Linear(width, following), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear((dimensions, *hidden)[-1], 1), nn.Flatten(0))


def plain_loop(pairs: ContrastPairs, settings: HardConcrete) -> Tensor:
    """Return the mask, trained by automatic differentiation on batches of a data loader."""
    gates = PlainGates(pairs.dimensions, settings.temperature)
    logits = plain_classifier(pairs.dimensions, tuple(settings.hidden))
    optimiser = torch.optim.Adam([*gates.parameters(), *logits.parameters()], lr=settings.learning_rate)
    loss = nn.BCEWithLogitsLoss(reduction=settings.loss)
    samples = TensorDataset(torch.tensor(pairs.with_concept), torch.tensor(pairs.without_concept))
    batches: DataLoader[tuple[Tensor, ...]] = DataLoader(samples, batch_size=settings.batch_size, shuffle=True)
    for _ in range(settings.epochs):
        for positives, negatives in batches:
            inputs = torch.cat([positives, negatives]) * gates.sample()
            targets = torch.cat([torch.ones(len(positives)), torch.zeros(len(negatives))])
            optimiser.zero_grad()
            total = loss(logits(inputs), targets) + settings.penalty * gates.expected_open()
            total.backward()
            optimiser.step()
    return gates.settled()


def products_alone(pairs: ContrastPairs, settings: HardConcrete, *, in_torch: bool) -> None:
    """Make the classifier's matrix products of every step, forwards and backwards, and nothing else.

    Of the gradient of the masked inputs, which the plain loop works out too, nothing is needed.

    Args:
        pairs: What is learned from, of which nothing but the size counts.
        settings: Sizes of batches and layers, and how often.
        in_torch: Whether PyTorch makes them, and not NumPy.
    """
    rows, widths = 2 * settings.batch_size, (pairs.dimensions, *settings.hidden, 1)

    def filled(*shape: int) -> Any:
        values = np.full(shape, 0.5, np.float32)
        return torch.from_numpy(values) if in_torch else values

    product: Any = torch.mm if in_torch else np.matmul
    held, made = ([filled(rows, width) for width in widths] for _ in range(2))
    weights, gradients = ([filled(width, units) for width, units in itertools.pairwise(widths)] for _ in range(2))
    steps = -(-len(pairs) // settings.batch_size)
    for _ in range(settings.epochs * steps):
        for before, weight, after in zip(held[:-1], weights, made[1:], strict=True):
            product(before, weight, out=after)
        for (before, after), gradient in zip(itertools.pairwise(held), gradients, strict=True):
            product(before.T, after, out=gradient)
        for after, weight, before in zip(held[2:], weights[1:], made[1:-1], strict=True):
            product(after, weight.T, out=before)


def _stretched(gates: Tensor) -> Tensor:
    return (gates * WIDTH + STRETCH_LOW).clamp(0, 1)
