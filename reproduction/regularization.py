"""The weight λ of the mask's penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from reproduction.defenses import SHAPES, DefenseName
from reproduction.grid import EPSILONS, Request, budgets, measure
from reproduction.lab import Lab
from reproduction.result import PaperResult, Row, row_of
from vecveil.audit.frontier.contender import Contender
from vecveil.core.arrays import spread_rows

GRID = (0.01, 0.005, 0.001, 0.0005, 0.0001)


@dataclass(frozen=True, kw_only=True)
class Regularization:
    """Leakage and utility for every λ of the paper's search.

    The caption of the paper's table says that smaller values regularize more, its text that larger ones do.
    """

    name: ClassVar[str] = "regularization"
    title: ClassVar[str] = "The weight λ of the mask's penalty"
    where: ClassVar[str] = "Appendix, hyperparameter analysis"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table."""
        undefended = [
            Request(
                keys={"dataset": name, "epsilon": "inf", "regularization": ""},
                dataset=name,
                defense=DefenseName(name="none"),
                metrics=("leakage", "utility"),
            )
            for name in ("sts12", "fiqa")
        ]
        requests = [
            Request(
                keys={"dataset": name, "epsilon": f"{budget.value:g}", "regularization": f"{weight:g}"},
                dataset=name,
                defense=DefenseName(name="sparse", settings=(("penalty", weight),), budget=budget),
                metrics=("leakage", "utility"),
                scale=budget.scale,
            )
            for name in ("sts12", "fiqa")
            for weight in GRID
            for budget in budgets(lab, [EPSILONS[place] for place in spread_rows(len(EPSILONS), lab.effort.epsilons)])
        ]
        result = measure(lab, self.name, self.title, [*undefended, *requests])
        return replace(result, rows=(*result.rows, *_gates(lab, result)))


def _gates(lab: Lab, result: PaperResult) -> list[Row]:
    """Return how far each λ closes the gates: what the paper's table is about, and does not show."""
    rows = []
    for name in dict.fromkeys(row.keys["dataset"] for row in result.rows if row.ours is not None):
        for weight in GRID:
            contender = Contender(SHAPES["sparse"], (("penalty", weight),))
            facts = [lab.bench(name).learn(contender, None, seed).provenance.facts for seed in lab.effort.seeds]
            keys = {"dataset": name, "epsilon": "", "regularization": f"{weight:g}"}
            rows += [
                row_of(keys, metric, [100 * one[fact] for one in facts])
                for metric, fact in (("mean gate", "mean_gate"), ("gates closed", "closed_gates"))
            ]
    return rows
