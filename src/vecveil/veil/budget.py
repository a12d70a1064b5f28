"""Budgets, typical lengths, and the literal epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from vecveil.accounting import paper_noise_ratio
from vecveil.core.arrays import Vector
from vecveil.core.checks import LARGEST_BUDGET, SMALLEST_BUDGET, magnitude, one_of, positive
from vecveil.core.errors import InvalidInputError
from vecveil.mechanisms import Mechanism
from vecveil.shapes import ContrastPairs

ROUNDING = 2.0**-24
"""Relative rounding error of single precision."""

DIGITS = 11
"""Of an epsilon that was searched for: its last bits depend on the machine, and keyed noise depends on every bit."""

LEAST_STEPS = 100
"""Noise must span this many rounding steps along the quietest axis, or coordinates come out bit for bit."""

BudgetScale: TypeAlias = Literal["literal", "paper", "noise-ratio"]
SCALES: Mapping[str, BudgetScale] = {"epsilon": "literal", "noise_ratio": "noise-ratio", "paper_epsilon": "paper"}
"""The scale of each setting by which a budget is given."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A budget as it was asked for.

    Attributes:
        value: The number.
        scale: `literal` is a privacy loss per unit of each mechanism's own distance, `paper` an epsilon on the axis of
            the paper's tables (calibrated, not derived), `noise-ratio` the length of the noise over that of an
            embedding.
    """

    value: float
    scale: BudgetScale

    def __post_init__(self) -> None:
        one_of(self.scale, get_args(BudgetScale), "scale of a budget")
        positive(self.value, "noise ratio" if self.scale == "noise-ratio" else "epsilon")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Budget | None:
        """Return the one of `epsilon`, `noise_ratio` and `paper_epsilon` that is given, or None where none is."""
        given = {name: settings[name] for name in SCALES if settings.get(name) is not None}
        if len(given) > 1:
            raise InvalidInputError(f"give one budget, got {' and '.join(f'{name} {given[name]!r}' for name in given)}")
        return next((cls(value=value, scale=SCALES[name]) for name, value in given.items()), None)

    @property
    def asked(self) -> str:
        """How tables name it."""
        if self.scale == "noise-ratio":
            return f"noise {self.value:g}"
        return f"ε = {self.value:g}" + (" (paper's scale)" if self.scale == "paper" else "")

    def literal(self, mechanism_at: Callable[[float], Mechanism], signal: float) -> float:
        """Return the literal epsilon.

        Args:
            mechanism_at: Returns the mechanism at a literal epsilon.
            signal: Typical length of an embedding.
        """
        if self.scale == "literal":
            return self.value
        ratio = paper_noise_ratio(self.value) if self.scale == "paper" else self.value
        return epsilon_for_noise_ratio(ratio, lambda epsilon: mechanism_at(epsilon).noise_ratio(signal))


@dataclass(frozen=True, kw_only=True)
class TypicalLengths:
    """Percentiles over the contrast pairs that a veil was learned on, medians where nothing else is said.

    Attributes:
        signal: Euclidean length of an embedding.
        pair: Length of a pair's difference in the distance of the guarantee.
        euclidean_pair: Euclidean length of a pair's difference.
        high_pair: 95th percentile of what `pair` is the median of.
    """

    signal: float
    pair: float
    euclidean_pair: float
    high_pair: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            magnitude(value, f"typical {name}")

    @classmethod
    def from_pairs(cls, pairs: ContrastPairs, mechanism: Mechanism, *, normalized: bool) -> TypicalLengths:
        """Return the percentiles of `pairs`; the mechanism's distance does not depend on its epsilon.

        Args:
            pairs: Vectors of texts with the concept and without.
            mechanism: Whose distance counts.
            normalized: Whether every vector has length one: then that is the typical length too, to the last digit.
        """
        differences = np.asarray(pairs.with_concept, dtype=np.float64) - pairs.without_concept
        distances = mechanism.distance(pairs.with_concept, pairs.without_concept)
        return cls(
            signal=1.0 if normalized else _round(np.median(np.linalg.norm(pairs.with_concept, axis=1))),
            pair=_round_up(np.median(distances)),
            euclidean_pair=_round(np.median(np.linalg.norm(differences, axis=1))),
            high_pair=_round_up(np.quantile(distances, 0.95)),
        )


def epsilon_for_noise_ratio(ratio: float, noise_ratio: Callable[[float], float]) -> float:
    """Return the epsilon at which `noise_ratio`, a falling function of epsilon, equals `ratio`.

    Additive noise is as long as one over epsilon. For other mechanisms it is found by bisection on the logarithm.
    """
    wanted = positive(ratio, "noise ratio")
    additive = noise_ratio(1.0) / wanted
    if SMALLEST_BUDGET < additive < LARGEST_BUDGET and math.isclose(noise_ratio(additive), wanted, rel_tol=1e-12):
        return float(f"{additive:.{DIGITS}g}")
    low, high = math.log(SMALLEST_BUDGET), math.log(LARGEST_BUDGET)
    if not noise_ratio(math.exp(high)) < wanted < noise_ratio(math.exp(low)):
        raise InvalidInputError(f"no epsilon gives a noise ratio of {wanted!r}")
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if noise_ratio(math.exp(middle)) > wanted else (low, middle)
    return float(f"{math.exp((low + high) / 2):.{DIGITS}g}")


def require_noise_on_every_axis(epsilon: float, noise_ratio: float, variances: Vector) -> None:
    """Raise if, along the quietest of the released axes, the noise would drown in rounding."""
    released = variances[np.isfinite(variances)]
    quietest = noise_ratio * float(np.sqrt(released.min() / released.mean()))
    if quietest < LEAST_STEPS * ROUNDING:
        raise InvalidInputError(
            f"epsilon {epsilon:g} is too large: along the quietest axis the noise is {quietest:.1g} of the signal, "
            "which is lost in the rounding of single precision, and the axis would be released in clear"
        )


def _round(value: np.floating[Any]) -> float:
    # A percentile is the exact value of one record, and a veil may be shown to others: three digits serve as well.
    return float(f"{value:.3g}")


def _round_up(value: np.floating[Any]) -> float:
    """Return three digits that are no smaller: what is promised for a pair must not be for a nearer one."""
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(float(value)))
