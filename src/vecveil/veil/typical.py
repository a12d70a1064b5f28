"""The lengths that turn an epsilon into something one can picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Context
from typing import Any

import numpy as np

from vecveil.core.checks import positive
from vecveil.mechanisms import Mechanism
from vecveil.shapes import ContrastPairs


@dataclass(frozen=True, kw_only=True)
class TypicalLengths:
    """Percentiles over the contrast pairs that a veil was learned on, medians where nothing else is said.

    Attributes:
        signal: Euclidean length of an embedding.
        pair: Length of a pair's difference in the distance of the guarantee.
        euclidean_pair: Euclidean length of a pair's difference.
        high_pair: 95th percentile of what `pair` is the median of; None in veils that were made before it was kept.
    """

    signal: float
    pair: float
    euclidean_pair: float
    high_pair: float | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None:
                positive(value, f"typical {name}")

    @classmethod
    def of(cls, pairs: ContrastPairs, mechanism: Mechanism) -> TypicalLengths:
        """Return the medians of `pairs`; the mechanism's distance does not depend on its epsilon."""
        differences = np.asarray(pairs.with_concept, dtype=np.float64) - pairs.without_concept
        distances = mechanism.distance(pairs.with_concept, pairs.without_concept)
        return cls(
            signal=_rounded(np.median(np.linalg.norm(pairs.with_concept, axis=1))),
            pair=_rounded_up(np.median(distances)),
            euclidean_pair=_rounded(np.median(np.linalg.norm(differences, axis=1))),
            high_pair=_rounded_up(np.quantile(distances, 0.95)),
        )


def _rounded(value: np.floating[Any]) -> float:
    # A percentile is the exact value of one record, and a veil may be shown to others: three digits serve as well.
    return float(f"{value:.3g}")


def _rounded_up(value: np.floating[Any]) -> float:
    """Return three digits that are no smaller: what is promised for a pair must not be for a nearer one."""
    return float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(float(value)))
