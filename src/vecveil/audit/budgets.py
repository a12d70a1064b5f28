"""The budgets of an audit: one number that means the same for every mechanism that is compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from vecveil.accounting import paper_noise_ratio
from vecveil.core.checks import one_of, positive
from vecveil.mechanisms import Mechanism
from vecveil.shapes import NoiseShape
from vecveil.veil.budget import epsilon_for_noise_ratio

BudgetScale: TypeAlias = Literal["literal", "paper", "noise-ratio"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """A budget as it was asked for.

    Attributes:
        value: The number.
        scale: `literal` is a privacy loss per unit of each mechanism's own distance, `paper` an epsilon on the axis of
            the paper's tables, `noise-ratio` the length of the noise over that of an embedding.
    """

    value: float
    scale: BudgetScale

    def __post_init__(self) -> None:
        one_of(self.scale, get_args(BudgetScale), "scale of a budget")
        positive(self.value, "noise ratio" if self.scale == "noise-ratio" else "epsilon")

    @property
    def asked(self) -> str:
        """How tables name it."""
        if self.scale == "noise-ratio":
            return f"noise {self.value:g}"
        return f"ε = {self.value:g}" + (" (paper's scale)" if self.scale == "paper" else "")

    def mechanism(self, kind: type[Mechanism], shape: NoiseShape, *, signal: float) -> Mechanism:
        """Return the mechanism at this budget, for embeddings whose typical length is `signal`."""

        def at(epsilon: float) -> Mechanism:
            return kind.for_shape(epsilon=epsilon, variances=shape.variances, axes=shape.axes, centre=shape.centre)

        if self.scale == "literal":
            return at(self.value)
        ratio = paper_noise_ratio(self.value) if self.scale == "paper" else self.value
        return at(epsilon_for_noise_ratio(ratio, lambda epsilon: at(epsilon).noise_ratio(signal)))
