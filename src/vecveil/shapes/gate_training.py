"""The steps of Algorithm 2, with the gradients written out. Imports torch; the learner imports it late.

Automatic differentiation has bookkeeping of its own, and works out the gradient of every masked input where only their
sum over a minibatch is needed: with G the gradient of the first layer's weights for unmasked inputs, that of the
weights W is G·m, and that of the mask m the sum of W·G over the layer's units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vecveil.shapes.gates import STRETCH_HIGH, STRETCH_LOW, Gates

CLOSING = math.log(-STRETCH_LOW / STRETCH_HIGH)
"""How far, in units of the temperature, a gate's location lies from where it would be closed half of the time."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GateStep:
    """One step's gradients: of a classifier behind gates, and of the gates.

    Attributes:
        gates: The gates.
        layers: The classifier's linear layers, with ReLU between them; the last one has one logit.
        penalty: Weight of the expected share of open gates, with its sign.
        mean: Whether the loss is a mean over the minibatch, and not a sum.
    """

    gates: Gates
    layers: tuple[nn.Linear, ...]
    penalty: float
    mean: bool

    def __call__(self, inputs: Tensor, targets: Tensor, uniform: Tensor) -> None:
        """Put the gradients for a minibatch, and the mask of these uniform numbers, in their place."""
        with torch.no_grad():
            temperature = self.gates.log_beta.exp()
            place = (torch.logit(uniform) + self.gates.log_alpha) / temperature
            slope = torch.sigmoid(place)
            stretched = slope * (STRETCH_HIGH - STRETCH_LOW) + STRETCH_LOW
            mask = stretched.clamp(0, 1)
            by_mask = self._classifier(inputs, targets, mask)
            # A gate that is cut off at 0 or 1 doesn't move.
            by_mask *= (stretched > 0) & (stretched < 1)
            by_place = by_mask * (STRETCH_HIGH - STRETCH_LOW) * slope * (1 - slope)
            still_open = torch.sigmoid(self.gates.log_alpha - temperature * CLOSING)
            by_location = self.penalty / len(mask) * still_open * (1 - still_open)
            self.gates.log_alpha.grad = by_place / temperature + by_location
            self.gates.log_beta.grad = -by_place * place - by_location * CLOSING * temperature

    def _classifier(self, inputs: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
        """Put the classifier's gradients in their place, and return that of the mask."""
        first, *others = self.layers
        seen = [torch.addmm(first.bias, inputs * mask, first.weight.T)]
        for layer in others:
            seen.append(torch.addmm(layer.bias, seen[-1].relu_(), layer.weight.T))
        error = torch.sigmoid(seen.pop()) - targets[:, None]
        if self.mean:
            error /= len(targets)
        for layer, before in zip(reversed(others), reversed(seen), strict=True):
            layer.bias.grad = error.sum(0)
            layer.weight.grad = error.T @ before
            error = error @ layer.weight
            # What the ReLU has cut off had no part in the error.
            error *= before > 0
        first.bias.grad = error.sum(0)
        unmasked = error.T @ inputs
        first.weight.grad = unmasked * mask
        return unmasked.mul_(first.weight).sum(0)
