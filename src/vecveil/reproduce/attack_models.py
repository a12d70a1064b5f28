"""The paper's three attacks on STS12, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from vecveil.reproduce.defences import DefenceName
from vecveil.reproduce.finding import Finding
from vecveil.reproduce.grid import NOISES, Request, budgets, measured
from vecveil.reproduce.lab import Lab

ATTACKS = ("vec2text", "geia", "mlc")


@dataclass(frozen=True, kw_only=True)
class AttackModels:
    """Leakage to each attack at ε = 5 and 10."""

    name: ClassVar[str] = "attack-models"
    title: ClassVar[str] = "Leakage on STS12 to three attacks"
    where: ClassVar[str] = "Table 2"

    def run(self, lab: Lab) -> Finding:
        """Return the table."""
        requests = []
        for attack in ATTACKS:
            requests.append(_request(attack, "inf", DefenceName(name="none"), ""))
            requests += [
                _request(attack, f"{budget.value:g}", DefenceName(name=name, budget=budget), budget.scale)
                for budget in budgets(lab, (5, 10))
                for name in NOISES
            ]
        return measured(lab, self.name, self.title, requests)


def _request(attack: str, epsilon: str, defence: DefenceName, scale: str) -> Request:
    return Request(
        keys={"attack": attack, "epsilon": epsilon, "defence": defence.name},
        dataset="sts12",
        defence=defence,
        attack=attack,
        metrics=("leakage", "chance"),
        scale=scale,
    )
