"""The lengths that turn an epsilon into something one can picture."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from vecveil.core.arrays import Vector
from vecveil.core.checks import positive
from vecveil.mechanisms import Mechanism
from vecveil.shapes import ContrastPairs


@dataclass(frozen=True, kw_only=True)
class TypicalLengths:
    """Medians over the contrast pairs that a veil was learned on.

    Attributes:
        signal: Euclidean length of an embedding.
        pair: Length of a pair's difference in the distance of the guarantee.
        euclidean_pair: Euclidean length of a pair's difference.
    """

    signal: float
    pair: float
    euclidean_pair: float

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value, f"median {name}")

    @classmethod
    def of(cls, pairs: ContrastPairs, mechanism: Mechanism) -> TypicalLengths:
        """Return the medians of `pairs`; the mechanism's distance does not depend on its epsilon."""
        differences = np.asarray(pairs.with_concept, dtype=np.float64) - pairs.without_concept
        return cls(
            signal=_rounded_median(np.linalg.norm(pairs.with_concept, axis=1)),
            pair=_rounded_median(mechanism.distance(pairs.with_concept, pairs.without_concept)),
            euclidean_pair=_rounded_median(np.linalg.norm(differences, axis=1)),
        )


def _rounded_median(values: Vector) -> float:
    # A median is the exact value of one record, and a veil may be shown to others: three digits serve as well.
    return float(f"{np.median(values):.3g}")
