"""The paper's white-box variant, which looks through a trained attack, beside SPARSE and plain noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
                keys={"dataset": name, "epsilon": epsilon, "defence": defence.name, "attack": attack},
                dataset=name,
                defence=defence,
                attack=attack,
                metrics=("leakage", "utility"),
                scale=scale,
                compared=attack == lab.main_attack,
            )
            for name in ("sts12", "fiqa")
            for attack in (lab.main_attack, "mlc")
            for epsilon, scale, defence in _defences(lab)
        ]
        finding = measured(lab, self.name, self.title, requests)
        note = "SPARSE-WB looks into mlc here, so that the rows of mlc are its white box."
        return replace(finding, notes=(*finding.notes, note))


def _defences(lab: Lab) -> list[tuple[str, str, DefenceName]]:
    noises = [
        (f"{budget.value:g}", budget.scale, DefenceName(name=name, budget=budget))
        for budget in budgets(lab, EPSILONS)
        for name in DEFENCES
    ]
    return [("inf", "", DefenceName(name="none")), *noises]
