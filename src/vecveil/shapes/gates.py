"""Hard-concrete gates: random numbers between 0 and 1 that reach both, and whose law can be learned."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vecveil.core.arrays import Singles

STRETCH_HIGH, STRETCH_LOW = 1.1, -0.1
"""The paper's ξ and γ: the concrete distribution is stretched past 0 and 1, then cut, so that gates can close."""

WIDTH = STRETCH_HIGH - STRETCH_LOW

CLOSING = math.log(-STRETCH_LOW / STRETCH_HIGH)
"""How far, in units of the temperature, a gate's location lies from where it would be closed half of the time."""

MARGIN = 1e-6
"""Uniform numbers stay this far from 0 and 1, whose logits are infinite."""


class Mask(NamedTuple):
    """One random mask, and what its gradients need.

    Attributes:
        values: The gates, from 0 to 1.
        stretched: The same before they were cut.
        share: The same before they were stretched.
        place: Their logits.
    """

    values: Singles
    stretched: Singles
    share: Singles
    place: Singles


class Gates(NamedTuple):
    """One gate per dimension.

    Attributes:
        log_alpha: Locations.
        log_beta: Temperatures, as logarithms.
    """

    log_alpha: Singles
    log_beta: Singles

    def sample(self, uniform: Singles) -> Mask:
        """Return the mask that uniform numbers make (equation 1 of the paper)."""
        inside = np.clip(uniform, np.float32(MARGIN), np.float32(1 - MARGIN))
        place = np.asarray((np.log(inside) - np.log1p(-inside) + self.log_alpha) / np.exp(self.log_beta), np.float32)
        share = sigmoid(place)
        stretched = _stretched(share)
        return Mask(stretched.clip(0, 1), stretched, share, place)

    def settled(self) -> Singles:
        """Return the mask that is used after training (equation 2)."""
        return _stretched(sigmoid(self.log_alpha)).clip(0, 1)

    def chance_open(self) -> Singles:
        """Return the chance of each gate not to be closed (equation 4, without its sign and before its mean)."""
        return sigmoid(np.asarray(self.log_alpha - np.float32(CLOSING) * np.exp(self.log_beta), np.float32))

    def gradients(self, mask: Mask, by_mask: Singles, penalty: float) -> tuple[Singles, Singles]:
        """Return the gradients of the locations and of the temperatures.

        Args:
            mask: The mask of this step.
            by_mask: The loss's gradients for its values.
            penalty: Weight of the expected share of open gates, with its sign.
        """
        temperature = np.exp(self.log_beta)
        # A gate that is cut off at 0 or 1 doesn't move.
        moving = (mask.stretched > 0) & (mask.stretched < 1)
        by_place = by_mask * moving * np.float32(WIDTH) * mask.share * (1 - mask.share)
        chance = self.chance_open()
        by_location = np.float32(penalty / len(chance)) * chance * (1 - chance)
        return (
            by_place / temperature + by_location,
            -by_place * mask.place - by_location * np.float32(CLOSING) * temperature,
        )


def sigmoid(values: Singles) -> Singles:
    """Return 1/(1 + exp(-x))."""
    # Of numbers far below zero, the exponential is infinite, and what is returned zero.
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-values)))


def _stretched(share: Singles) -> Singles:
    return share * np.float32(WIDTH) + np.float32(STRETCH_LOW)
