"""The exact profile of spherical and elliptical Laplace noise."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from vecveil.accounting.profile.curve import ReleaseProfile
from vecveil.accounting.profile.laws import LineLaw, SpheroidalLaw
from vecveil.core.arrays import Vector
from vecveil.core.checks import at_least, not_negative, positive


def additive_profile(*, epsilon: float, dimensions: int, distance: float) -> ReleaseProfile:
    """Return the profile of noise z with density proportional to exp(-epsilon * ||z||), for two inputs.

    Args:
        epsilon: Privacy loss per unit of distance.
        dimensions: Length of a vector; for elliptical noise, the number of released axes.
        distance: How far the two inputs are apart; for elliptical noise, in Mahalanobis distance.
    """
    worst_case = positive(epsilon, "epsilon") * not_negative(distance, "distance")
    if at_least(dimensions, 1, "dimensions") == 1 or worst_case == 0:
        return ReleaseProfile(law=LineLaw(worst_case=worst_case, atom=0.5, level=0.25))
    # Integrating the distances' sum away leaves the mean of μ² - 1, with μ that sum in units of the distance.
    stretch = (dimensions - 1) / (worst_case / 2) * _bessel_ratio(dimensions, worst_case / 2)
    log_weight = partial(_log_weight, worst_case=worst_case, dimensions=dimensions, stretch=stretch)
    return ReleaseProfile(law=SpheroidalLaw(worst_case=worst_case, log_weight=log_weight))


def _log_weight(bearings: Vector, *, worst_case: float, dimensions: int, stretch: float) -> Vector:
    """Return the log of sin^(n-2)·(sin² + stretch)·exp(worst_case/2·cos), up to a constant."""
    sines = np.sin(bearings)
    # Divided by 1 + stretch, which is infinite where the two inputs nearly touch.
    factor = sines**2 / (1 + stretch) + 1 / (1 + 1 / stretch)
    return np.asarray((dimensions - 2) * np.log(sines) + np.log(factor) - worst_case * np.sin(bearings / 2) ** 2)


def _bessel_ratio(dimensions: int, argument: float) -> float:
    """Return K(n/2)/K(n/2 - 1), modified Bessel functions of the second kind, by the recurrence of their ratios."""
    order, ratio = (0.5, 1.0) if dimensions % 2 else (1.0, _first_bessel_ratio(argument))
    while order < dimensions / 2:
        ratio = 2 * order / argument + 1 / ratio
        order += 1
    return ratio


def _first_bessel_ratio(argument: float) -> float:
    """Return K1/K0 from the integrals of exp(-argument·cosh t)·cosh t and of exp(-argument·cosh t)."""
    # What is integrated falls off doubly exponentially, and the trapezoid rule has no better prey.
    times = np.linspace(0.0, math.acosh(1 + 700 / argument) if argument > 1e-300 else 700.0, 800)
    weights = np.exp(-2 * argument * np.sinh(times / 2) ** 2)
    weights[0] /= 2
    return float(weights @ np.cosh(times) / weights.sum())
