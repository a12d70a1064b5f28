"""Text-level defenses, and the paper's trade-off rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import ClassVar

from reproduction.defenses import DefenseName
from reproduction.grid import Request, budgets, measure
from reproduction.lab import Lab
from reproduction.published import read_published
from reproduction.result import PaperResult, Row
from vecveil.audit.metrics import tradeoff_rate
from vecveil.veil.budget import Budget

REWRITERS = ("remove-pii", "random-replacement", "semantic-replacement")
PROTECTED = ("laplace", "sparse", "vecveil")


@dataclass(frozen=True, kw_only=True)
class PiiBaselines:
    """RemovePII, random and semantic replacement against SPARSE at ε = 20.

    The paper takes it that rewritten texts leak nothing. Here they are attacked like everything else, and the rate is
    given by what leaks.
    """

    name: ClassVar[str] = "pii-baselines"
    title: ClassVar[str] = "Rewriting texts against protecting vectors, ε = 20"
    where: ClassVar[str] = "Appendix, comparison with PII-based defenses"

    def run(self, lab: Lab) -> PaperResult:
        """Return the table with the trade-off rate of each defense."""
        requests = [
            Request(
                keys={"dataset": name, "defense": defense.name},
                dataset=name,
                defense=defense,
                metrics=("leakage", "utility"),
                scale=scale,
            )
            for name in ("sts12", "fiqa")
            for scale, defense in _defenses(budgets(lab, (20,)))
        ]
        result = measure(lab, self.name, self.title, requests)
        return replace(result, rows=(*result.rows, *rates_of(result)))


def _defenses(asked: list[Budget]) -> list[tuple[str, DefenseName]]:
    plain = [("", DefenseName(name=name)) for name in ("none", *REWRITERS)]
    return plain + [(one.scale, DefenseName(name=name, budget=one)) for one in asked for name in PROTECTED]


def rates_of(result: PaperResult) -> list[Row]:
    """Return R for each line: leakage prevented per utility lost, both in points.

    The paper takes the leakage of rewritten texts as zero; so its figures for them stand beside a rate of that kind.
    """
    found = {(row.keys["dataset"], row.keys["defense"], row.scale, row.metric): row for row in result.rows}
    rates = []
    for (name, defense, scale, metric), row in found.items():
        clean = [found.get((name, "none", "", one)) for one in ("leakage", "utility")]
        utility = found.get((name, defense, scale, "utility"))
        if metric != "leakage" or defense == "none" or row.ours is None:
            continue
        printed = read_published(result.name).value(row.keys, "rate") if scale != "literal" else None
        rewritten = defense in REWRITERS
        rates.append(_rate(row, "rate", row.ours, [*clean, utility], None if rewritten else printed))
        if rewritten:
            rates.append(_rate(row, "rate, leakage as 0", 0.0, [*clean, utility], printed))
    return rates


def _rate(line: Row, metric: str, leakage: float, others: list[Row | None], printed: float | None) -> Row:
    values = [None if one is None else one.ours for one in others]
    leak, useful, left = (float("nan") if value is None else value for value in values)
    rate = tradeoff_rate(undefended_leakage=leak, undefended_utility=useful, leakage=leakage, utility=left)
    # Infinite where nothing was lost, which JSON can't say; the table shows a dash.
    return replace(line, metric=metric, ours=rate if isfinite(rate) else None, deviation=None, paper=printed)
