"""The exact profile of the Purkayastha mechanism."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from vecveil.accounting.profile.curve import ReleaseProfile
from vecveil.accounting.profile.laws import LineLaw, SpheroidalLaw
from vecveil.core.arrays import Vector
from vecveil.core.checks import at_least, not_negative, positive
from vecveil.core.errors import InvalidInputError


def angular_profile(*, epsilon: float, dimensions: int, angle: float) -> ReleaseProfile:
    """Return the profile of a density proportional to exp(-epsilon * angle(x, y)) on the sphere, for two inputs.

    Args:
        epsilon: Privacy loss per radian.
        dimensions: Length of a vector, at least 2.
        angle: Angle between the two inputs in radians, at most π.
    """
    epsilon, angle = positive(epsilon, "epsilon"), not_negative(angle, "angle")
    if angle > math.pi:
        raise InvalidInputError(f"angle must be at most π, got {angle!r}")
    if at_least(dimensions, 2, "dimensions") == 2 or epsilon * angle == 0:
        return ReleaseProfile(law=_circle(epsilon, angle))
    log_weight = partial(_log_weight, epsilon=epsilon, dimensions=dimensions, angle=angle)
    stretch = _stretch(epsilon, dimensions, angle)

    def stretch_weight(bearings: Vector) -> Vector:
        factor = _squares(bearings, angle) / (1 + stretch) + (1 / (1 + 1 / stretch) if stretch else 0.0)
        return np.asarray(log_weight(bearings) + np.log(factor))

    return ReleaseProfile(law=SpheroidalLaw(worst_case=epsilon * angle, log_weight=stretch_weight))


def _circle(epsilon: float, angle: float) -> LineLaw:
    # The way round the other side adds to the density between the inputs, and takes from what lies behind them.
    whole, round_about = -math.expm1(-epsilon * math.pi), math.exp(-epsilon * (math.pi - angle))
    return LineLaw(
        worst_case=epsilon * angle,
        atom=-math.expm1(-epsilon * (math.pi - angle)) / (2 * whole),
        level=(1 + round_about) / (4 * whole),
    )


def _stretch(epsilon: float, dimensions: int, angle: float) -> float:
    """Return what integrating the angles' sum away leaves: a mean of the same kind, for the angle that is left to π."""
    rest = math.pi - angle
    if epsilon * rest == 0:
        return 0.0
    log_weight = partial(_log_weight, epsilon=epsilon, dimensions=dimensions, angle=rest)
    opposite = SpheroidalLaw(worst_case=epsilon * rest, log_weight=log_weight)
    return (rest / angle) * (rest / angle) * opposite.mean(partial(_squares, angle=rest))


def _log_weight(bearings: Vector, *, epsilon: float, dimensions: int, angle: float) -> Vector:
    """Return the log of (cos τ - cos angle)^((n-4)/2)·exp(epsilon·τ/2) at τ = angle·cos(bearing), up to a constant."""
    # One of the sines comes from the change of variable.
    powers = (dimensions - 4) / 2 * np.log(_squares(bearings, angle)) + np.log(np.sin(bearings))
    return np.asarray(powers - epsilon * angle * np.sin(bearings / 2) ** 2)


def _squares(bearings: Vector, angle: float) -> Vector:
    """Return 2(cos τ - cos angle)/angle² at τ = angle·cos(bearing); it is sin²(bearing) where the angle is small."""
    near, far = np.sin(bearings / 2) ** 2, np.cos(bearings / 2) ** 2
    return 4 * _sines(near, far, angle) * _sines(far, near, angle)


def _sines(shares: Vector, others: Vector, angle: float) -> Vector:
    """Return sin(share·angle)/angle, where shares and others add up to one."""
    small = np.asarray(shares * np.sinc(shares * (angle / math.pi)))
    if angle < math.pi / 2:
        return small
    # Near π a sine keeps its digits only when taken from the other end.
    return np.where(shares * angle < math.pi / 2, small, np.sin(math.pi - angle + others * angle) / angle)
