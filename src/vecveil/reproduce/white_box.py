"""The paper's white-box variant, which looks through a trained attack, beside SPARSE and plain noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.finding import Finding
from vecveil.reproduce.grid import EPSILONS, Request, budgets, measured
from vecveil.reproduce.lab import Lab

DEFENCES = ("laplace", "sparse", "sparse-wb", "vecveil")


@dataclass(frozen=True, kw_only=True)
class WhiteBox:
    """Leakage and utility of SPARSE-WB over epsilon."""

    name: ClassVar[str] = "white-box"
    title: ClassVar[str] = "SPARSE-WB against SPARSE and LapMech"
    where: ClassVar[str] = "Table 4"

    def run(self, lab: Lab) -> Finding:
        """Return the table."""
        requests = [
            Request(
                keys={"dataset": name, "epsilon": f"{budget.value:g}", "defence": defence},
                dataset=name,
                defence=DefenceName(name=defence, budget=budget),
                metrics=("leakage", "utility"),
                scale=budget.scale,
            )
            for name in ("sts12", "fiqa")
            for budget in budgets(lab, EPSILONS)
            for defence in DEFENCES
        ]
        return measured(lab, self.name, self.title, requests)
