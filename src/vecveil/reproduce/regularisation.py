"""The weight λ of the mask's penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from vecveil.audit.frontier.contender import Contender
from vecveil.core.arrays import evenly
from vecveil.reproduce.defences import SHAPES, DefenceName
from vecveil.reproduce.finding import Finding, Row, row_of
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
        undefended = [
            Request(
                keys={"dataset": name, "epsilon": "inf", "regularisation": ""},
                dataset=name,
                defence=DefenceName(name="none"),
                metrics=("leakage", "utility"),
            )
            for name in ("sts12", "fiqa")
        ]
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
            for budget in budgets(lab, [EPSILONS[place] for place in evenly(len(EPSILONS), lab.effort.epsilons)])
        ]
        finding = measured(lab, self.name, self.title, [*undefended, *requests])
        return replace(finding, rows=(*finding.rows, *_gates(lab, finding)))


def _gates(lab: Lab, finding: Finding) -> list[Row]:
    """Return how far each λ closes the gates: what the paper's table is about, and does not show."""
    rows = []
    for name in dict.fromkeys(row.keys["dataset"] for row in finding.rows if row.ours is not None):
        for weight in GRID:
            contender = Contender(SHAPES["sparse"], (("penalty", weight),))
            facts = [lab.bench(name).fitted(contender, None, seed).facts for seed in lab.effort.seeds]
            keys = {"dataset": name, "epsilon": "", "regularisation": f"{weight:g}"}
            rows += [
                row_of(keys, metric, [100 * one[fact] for one in facts])
                for metric, fact in (("mean gate", "mean_gate"), ("gates closed", "closed_gates"))
            ]
    return rows
