"""The angle of the Purkayastha distribution: density proportional to sin(t)^(n - 2) * exp(-epsilon * t) on [0, π].

Its logarithm is concave, so that three tangents make an upper bound that can be sampled exactly; draws under the
bound are accepted by the ratio of the two. Everything stays in logarithms: sin(t)^4094 underflows, its log doesn't.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.randomness import Rows
from vecveil.mechanisms.chance import Accepted, Chance, until_accepted


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
    def log_normaliser(self) -> float:
        """The log of the integral of sin(t)^(n - 2) * exp(-epsilon * t) over [0, π]."""
        nodes, weights = self._quadrature
        return float(self._peak + np.log(weights @ np.exp(self._log_weight(nodes) - self._peak)))

    @cached_property
    def mean_shortfall(self) -> float:
        """How far the mean cosine of the angle falls short of one; small angles keep their digits in this form."""
        nodes, weights = self._quadrature
        shortfall = 2 * np.sin(nodes / 2) ** 2
        return float(weights @ (shortfall * np.exp(self._log_weight(nodes) - self.log_normaliser)))

    def sample(self, chance: Chance) -> Vector:
        """Return one independent angle for each row."""

        def attempt(rows: Rows) -> tuple[Vector, Accepted]:
            place, depth, height = chance.uniforms(rows, 3)
            drafts, log_bound = self._under_bound(place, depth)
            return drafts, np.log1p(-height) <= self._log_weight(drafts) - log_bound

        return until_accepted(attempt)

    def _under_bound(self, place: Vector, depth: Vector) -> tuple[Vector, Vector]:
        """Return angles from the bound (rising tangent, flat top, falling tangent) and its log height there."""
        left, right, rise, fall = self._tangents
        # Areas in units of exp(peak). -expm1(-x)/rate is the area under an exponential cut off at the interval's end.
        rising = -math.expm1(-rise * left) / rise if left > 0 else 0.0
        falling = -math.expm1(-fall * (math.pi - right)) / fall
        place = place * (rising + (right - left) + falling)
        before = np.log1p(depth * math.expm1(-rise * left)) / rise if left > 0 else np.zeros(depth.shape)
        after = -np.log1p(depth * math.expm1(-fall * (math.pi - right))) / fall
        on_left, on_right = place < rising, place >= rising + (right - left)
        angles = np.where(on_left, left + before, np.where(on_right, right + after, left + depth * (right - left)))
        drop = np.where(on_left, rise * before, np.where(on_right, -fall * after, 0.0))
        return angles, self._peak + drop

    @cached_property
    def _tangents(self) -> tuple[float, float, float, float]:
        """Where the tangents to the left and the right of the peak reach its height, and how steep they are."""
        if self.dimensions == 2:
            return 0.0, 0.0, 1.0, self.epsilon
        # Tangents one and a half widths away lose little area; any other points would be right too, only slower.
        reach = 1.5 * self.spread
        before = max(self.mode - reach, 0.3 * self.mode)
        after = min(self.mode + reach, self.mode + 0.7 * (math.pi - self.mode))
        rise, fall = self._slope(before), -self._slope(after)
        heights = self._log_weight(np.array([before, after]))
        left = max(0.0, before + float(self._peak - heights[0]) / rise)
        right = min(math.pi, after - float(self._peak - heights[1]) / fall)
        return left, right, rise, fall

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

    def _slope(self, angle: float) -> float:
        return (self.dimensions - 2) / math.tan(angle) - self.epsilon


@cache
def _legendre() -> tuple[Vector, Vector]:
    # Finding the nodes takes a hundred times as long as using them, and a search for an epsilon uses them often.
    return np.polynomial.legendre.leggauss(200)
