"""The paper's three attacks on STS12, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from reproduction.defenses import DefenseName
from reproduction.grid import NOISES, Request, budgets, measure
from reproduction.lab import Lab
from reproduction.result import PaperResult

ATTACKS = ("vec2text", "geia", "mlc")


@dataclass(frozen=True, kw_only=True)
class AttackModels:
    """Leakage to each attack at ε = 5 and 10."""

    name: ClassVar[str] = "attack-models"
    title: ClassVar[str] = "Leakage on STS12 to three attacks"
    where: ClassVar[str] = "Table 2"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table."""
        requests = []
        for attack in ATTACKS:
            requests.append(_request(attack, "inf", DefenseName(name="none"), ""))
            requests += [
                _request(attack, f"{budget.value:g}", DefenseName(name=name, budget=budget), budget.scale)
                for budget in budgets(lab, (5, 10))
                for name in NOISES
            ]
        return measure(lab, self.name, self.title, requests)


def _request(attack: str, epsilon: str, defense: DefenseName, scale: str) -> Request:
    return Request(
        keys={"attack": attack, "epsilon": epsilon, "defense": defense.name},
        dataset="sts12",
        defense=defense,
        attack=attack,
        metrics=("leakage", "chance"),
        scale=scale,
    )
