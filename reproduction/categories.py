"""Leakage by category: personal data and clinical facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reproduction.grid import Request, measure, with_undefended
from reproduction.lab import Lab
from reproduction.result import PaperResult


@dataclass(frozen=True, kw_only=True)
class Categories:
    """Leakage by category at ε = 10."""

    name: ClassVar[str] = "categories"
    title: ClassVar[str] = "Leakage by category of what is private, ε = 10"
    where: ClassVar[str] = "Table 3"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table."""
        requests = []
        for name in ("pii", "clinical"):
            requests += [
                Request(
                    keys={"dataset": name, "category": category, "defense": defense.name},
                    dataset=name,
                    defense=defense,
                    category=label,
                    metrics=("leakage", "tokens"),
                    scale=scale,
                )
                for category, label in lab.dataset(name).categories.items()
                for scale, defense in with_undefended(lab, 10)
            ]
        return measure(lab, self.name, self.title, requests)
