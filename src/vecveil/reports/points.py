"""One point for each defence at each budget: what the seeds of a row have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from vecveil.accounting import Dials
from vecveil.audit.results import Setting


@dataclass(frozen=True, kw_only=True)
class Point:
    """A defence at a budget, whatever the seed.

    Attributes:
        defence: Kind of the defence, "none" for unprotected vectors.
        label: How the audit names it.
        budget: The budget as it was asked for; empty where there is none.
        dials: The budget's three readings; None where there is none.
    """

    defence: str
    label: str
    budget: str
    # What was asked for tells budgets apart; readings may differ between seeds in their last digit.
    dials: Dials | None = field(compare=False)

    @classmethod
    def of(cls, setting: Setting) -> Point:
        """Return the point that `setting` belongs to."""
        noise = f"noise {setting.dials.noise_ratio:.6g}" if setting.dials else ""
        budget = setting.asked or noise
        return cls(defence=setting.defence, label=setting.label, budget=budget, dials=setting.dials)

    @property
    def unprotected(self) -> bool:
        """Whether this is the positive control."""
        return self.defence == "none"

    @property
    def name(self) -> str:
        """The defence, as people read it."""
        return "unprotected" if self.unprotected else self.label

    def __str__(self) -> str:
        return f"{self.name}, {self.budget}" if self.budget else self.name


def ordered(points: Iterable[Point]) -> tuple[Point, ...]:
    """Return each point once: the unprotected one, the veil, the others; each from little noise to much."""
    once = tuple(dict.fromkeys(points))
    labels = list(dict.fromkeys(point.label for point in once))

    def place(point: Point) -> tuple[int, int, float]:
        rank = {"none": 0, "veil": 1}.get(point.defence, 2)
        return rank, labels.index(point.label), point.dials.noise_ratio if point.dials else 0.0

    return tuple(sorted(once, key=place))
