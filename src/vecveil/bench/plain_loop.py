"""Algorithm 2 of the paper as one would write it down in PyTorch, and the products that no way around it can spare."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from vecveil.shapes import ContrastPairs
from vecveil.shapes.gates import Gates, classifier
from vecveil.shapes.hard_concrete import HardConcrete


def plain_loop(pairs: ContrastPairs, settings: HardConcrete) -> Tensor:
    """Return the mask, trained by automatic differentiation on batches of a data loader."""
    gates = Gates(pairs.dimensions, settings.temperature)
    logits = classifier(pairs.dimensions, tuple(settings.hidden))
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


def products_alone(pairs: ContrastPairs, settings: HardConcrete) -> None:
    """Make the classifier's matrix products of every step, forwards and backwards, and nothing else.

    Of the gradient of the masked inputs, which the plain loop works out too, nothing is needed.
    """
    rows = 2 * settings.batch_size
    widths = (pairs.dimensions, *settings.hidden, 1)
    held = [torch.rand(rows, width) for width in widths]
    weights = [torch.rand(following, width) for width, following in itertools.pairwise(widths)]
    steps = -(-len(pairs) // settings.batch_size)
    for _ in range(settings.epochs * steps):
        for before, weight in zip(held[:-1], weights, strict=True):
            torch.mm(before, weight.T)
        for before, after in itertools.pairwise(held):
            torch.mm(after.T, before)
        for after, weight in zip(held[2:], weights[1:], strict=True):
            torch.mm(after, weight)
