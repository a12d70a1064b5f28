"""Conditions of an audit: a defense at a budget, whatever the seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from vecveil.accounting import BudgetReadings
from vecveil.audit.result import NAMES
from vecveil.audit.rows import Setting


@dataclass(frozen=True, kw_only=True)
class Condition:
    """A defense at a budget, whatever the seed.

    Attributes:
        defense: Kind of the defense, "none" for unprotected vectors.
        label: How the audit names it.
        budget: The budget as it was asked for; empty where there is none.
        readings: The budget's three readings; None where there is none.
    """

    defense: str
    label: str
    budget: str
    # What was asked for tells budgets apart; readings may differ between seeds in their last digit.
    readings: BudgetReadings | None = field(compare=False)

    @classmethod
    def from_setting(cls, setting: Setting) -> Condition:
        """Return the condition that `setting` belongs to."""
        noise = f"noise {setting.readings.noise_ratio:.6g}" if setting.readings else ""
        budget = setting.asked or noise
        return cls(defense=setting.defense, label=setting.label, budget=budget, readings=setting.readings)

    @property
    def unprotected(self) -> bool:
        """Whether this is the positive control."""
        return self.defense == "none"

    @property
    def name(self) -> str:
        """The defense, as people read it."""
        return NAMES.get(self.defense, self.label)

    def __str__(self) -> str:
        return f"{self.name}, {self.budget}" if self.budget else self.name


def sort_conditions(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return each condition once: the unprotected one, the veil, the others; each from little noise to much."""
    once = tuple(dict.fromkeys(conditions))
    labels = list(dict.fromkeys(condition.label for condition in once))

    def place(condition: Condition) -> tuple[int, int, float]:
        rank = {"none": 0, "veil": 1}.get(condition.defense, 2)
        return rank, labels.index(condition.label), condition.readings.noise_ratio if condition.readings else 0.0

    return tuple(sorted(once, key=place))
