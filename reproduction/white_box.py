"""SPARSE-WB beside SPARSE and plain noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from reproduction.defenses import DefenseName
from reproduction.grid import EPSILONS, Request, budgets, measure
from reproduction.lab import Lab
from reproduction.result import PaperResult

DEFENSES = ("laplace", "sparse", "sparse-wb", "vecveil")


@dataclass(frozen=True, kw_only=True)
class WhiteBox:
    """Leakage and utility of SPARSE-WB over epsilon."""

    name: ClassVar[str] = "white-box"
    title: ClassVar[str] = "SPARSE-WB against SPARSE and LapMech"
    where: ClassVar[str] = "Table 4"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table."""
        requests = [
            Request(
                keys={"dataset": name, "epsilon": epsilon, "defense": defense.name, "attack": attack},
                dataset=name,
                defense=defense,
                attack=attack,
                metrics=("leakage", "utility"),
                scale=scale,
                compared=attack == lab.main_attack,
            )
            for name in ("sts12", "fiqa")
            for attack in (lab.main_attack, "mlc")
            for epsilon, scale, defense in _defenses(lab)
        ]
        result = measure(lab, self.name, self.title, requests)
        note = "SPARSE-WB looks into mlc here, so that the rows of mlc are its white box."
        return replace(result, notes=(*result.notes, note))


def _defenses(lab: Lab) -> list[tuple[str, str, DefenseName]]:
    noises = [
        (f"{budget.value:g}", budget.scale, DefenseName(name=name, budget=budget))
        for budget in budgets(lab, EPSILONS)
        for name in DEFENSES
    ]
    return [("inf", "", DefenseName(name="none")), *noises]
