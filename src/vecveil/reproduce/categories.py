"""Leakage of single categories of what is private: personal data, and clinical facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vecveil.reproduce.finding import Finding
from vecveil.reproduce.grid import Request, measured, undefended_and
from vecveil.reproduce.lab import Lab


@dataclass(frozen=True, kw_only=True)
class Categories:
    """Leakage by category at ε = 10."""

    name: ClassVar[str] = "categories"
    title: ClassVar[str] = "Leakage by category of what is private, ε = 10"
    where: ClassVar[str] = "Table 3"

    def run(self, lab: Lab) -> Finding:
        """Return the table."""
        requests = []
        for name in ("pii", "clinical"):
            requests += [
                Request(
                    keys={"dataset": name, "category": category, "defence": defence.name},
                    dataset=name,
                    defence=defence,
                    category=label,
                    metrics=("leakage", "tokens"),
                    scale=scale,
                )
                for category, label in lab.dataset(name).categories.items()
                for scale, defence in undefended_and(lab, 10)
            ]
        return measured(lab, self.name, self.title, requests)
