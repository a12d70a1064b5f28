"""A promise, never without its distance, its unit and its assumptions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vecveil.core.checks import positive


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """Metric local differential privacy of one release.

    For any two inputs x and x' and any set of outputs, the probability of landing in the set differs by a factor
    of at most exp(epsilon * distance(x, x')).

    Attributes:
        mechanism: Name of the mechanism that makes the promise.
        epsilon: Largest privacy loss, in nats, per unit of the distance.
        metric: Short name of the distance.
        distance: The distance, in words and as a formula.
        unit: What one unit of the distance is.
        assumptions: What must be true for the promise to hold.
        grid: What releases are rounded to, in words; empty where that is left to the caller.
    """

    mechanism: str
    epsilon: float
    metric: str
    distance: str
    unit: str
    assumptions: tuple[str, ...]
    grid: str = ""

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")

    def assuming(self, *assumptions: str) -> Guarantee:
        """Return the same promise under further assumptions."""
        return replace(self, assumptions=(*self.assumptions, *assumptions))

    def on_grid(self, grid: str) -> Guarantee:
        """Return the same promise for releases that are rounded to a grid, which looks at the noisy value alone."""
        return replace(self, grid=grid)

    def __str__(self) -> str:
        assumptions = "\n".join(f"  - {assumption}" for assumption in self.assumptions)
        return (
            f"{self.mechanism}: {self.epsilon:.6g}·d metric local differential privacy\n"
            f"  distance d: {self.distance}\n"
            f"  unit:       {self.unit}\n"
            + (f"  grid:       {self.grid}\n" if self.grid else "")
            + f"It holds if:\n{assumptions}"
        )
