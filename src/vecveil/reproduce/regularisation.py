"""The weight λ of the mask's penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.finding import Finding
from vecveil.reproduce.grid import EPSILONS, Request, budgets, measured
from vecveil.reproduce.lab import Lab

GRID = (0.01, 0.005, 0.001, 0.0005, 0.0001)


@dataclass(frozen=True, kw_only=True)
class Regularisation:
    """Leakage and utility for every λ of the paper's search.

    The caption of the paper's table says that smaller values regularise more, its text that larger ones do.
    """

    name: ClassVar[str] = "regularisation"
    title: ClassVar[str] = "The weight λ of the mask's penalty"
    where: ClassVar[str] = "Appendix, hyperparameter analysis"

    def run(self, lab: Lab) -> Finding:
        """Return the table."""
        requests = [
            Request(
                keys={"dataset": name, "epsilon": f"{budget.value:g}", "regularisation": f"{weight:g}"},
                dataset=name,
                defence=DefenceName(name="sparse", settings=(("penalty", weight),), budget=budget),
                metrics=("leakage", "utility"),
                scale=budget.scale,
            )
            for name in ("sts12", "fiqa")
            for weight in GRID
            for budget in budgets(lab, lab.some(list(EPSILONS), 2))
        ]
        return measured(lab, self.name, self.title, requests)
