"""The angle of the Purkayastha distribution.

Its density is proportional to sin(t)^(n - 2) * exp(-epsilon * t) on [0, π]. The logarithm of sin(t)/t is concave, so
that its tangent at the mode bounds it: the density is nowhere above that of a Gamma law with the same mode. Draws of
that law are accepted by the ratio of the two, at worst, in three dimensions and for a tiny epsilon, 47 in 100.
Everything stays in logarithms: sin(t)^4094 underflows, its log doesn't.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.randomness import RandomRows, draw_gammas


@dataclass(frozen=True, kw_only=True)
class AngleDistribution:
    """The law of the angle between a direction and its Purkayastha release, in `dimensions` dimensions."""

    epsilon: float
    dimensions: int

    @cached_property
    def mode(self) -> float:
        """The likeliest angle: tan(mode) = (dimensions - 2)/epsilon."""
        return math.atan2(self.dimensions - 2, self.epsilon)

    @cached_property
    def spread(self) -> float:
        """The width of the peak, from the curvature at the mode (one over epsilon on the circle, a plain slope)."""
        if self.dimensions == 2:
            return 1 / self.epsilon
        return math.sin(self.mode) / math.sqrt(self.dimensions - 2)

    @cached_property
    def log_normalizer(self) -> float:
        """The log of the integral of sin(t)^(n - 2) * exp(-epsilon * t) over [0, π]."""
        nodes, weights = self._quadrature
        return float(self._peak + np.log(weights @ np.exp(self._log_weight(nodes) - self._peak)))

    @cached_property
    def mean_shortfall(self) -> float:
        """How far the mean cosine of the angle falls short of one; small angles keep their digits in this form."""
        nodes, weights = self._quadrature
        shortfall = 2 * np.sin(nodes / 2) ** 2
        return float(weights @ (shortfall * np.exp(self._log_weight(nodes) - self.log_normalizer)))

    def sample(self, random: RandomRows) -> Vector:
        """Return one independent angle for each row."""
        if self.dimensions == 2:
            return self._on_circle(random.uniforms(1)[:, 0])
        # The Gamma law with the same mode, whose density is nowhere below this one.
        power = self.dimensions - 2
        scale, slope = self.mode / power, 1 / self.mode - 1 / math.tan(self.mode)
        highest = math.log(math.sin(self.mode) / self.mode) + self.mode * slope
        angles, missing = np.empty(len(random)), np.arange(len(random))
        while missing.size:
            proposed = scale * draw_gammas(random, power + 1)
            inside = np.minimum(proposed, math.pi)
            with np.errstate(divide="ignore"):
                cost = power * (highest - slope * proposed - np.log(np.sin(inside) / inside))
            accepted = (proposed < math.pi) & (-np.log(random.uniforms(1)[:, 0]) > cost)
            angles[missing[accepted]] = proposed[accepted]
            missing, random = missing[~accepted], random.select(np.flatnonzero(~accepted))
        return angles

    def _on_circle(self, uniforms: Vector) -> Vector:
        """Return angles of two dimensions, where the law is an exponential one that is cut off at π."""
        return np.asarray(np.log1p(uniforms * math.expm1(-self.epsilon * math.pi)) / -self.epsilon)

    @cached_property
    def _peak(self) -> float:
        return float(self._log_weight(np.array([self.mode]))[0])

    @cached_property
    def _quadrature(self) -> tuple[Vector, Vector]:
        # Forty widths to each side hold all but e^-40 of a log-concave law; the peak is the border of two panels.
        low, high = max(0.0, self.mode - 40 * self.spread), min(math.pi, self.mode + 40 * self.spread)
        nodes, weights = _legendre()
        panels = [(a, b) for a, b in ((low, self.mode), (self.mode, high)) if b > a]
        return (
            np.concatenate([(b - a) / 2 * nodes + (a + b) / 2 for a, b in panels]),
            np.concatenate([(b - a) / 2 * weights for a, b in panels]),
        )

    def _log_weight(self, angles: Vector) -> Vector:
        if self.dimensions == 2:
            return -self.epsilon * angles
        with np.errstate(divide="ignore"):
            return (self.dimensions - 2) * np.log(np.sin(angles)) - self.epsilon * angles


@cache
def _legendre() -> tuple[Vector, Vector]:
    # Finding the nodes takes a hundred times as long as using them, and a search for an epsilon uses them often.
    return np.polynomial.legendre.leggauss(200)
