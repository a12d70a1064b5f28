from __future__ import annotations

from dataclasses import replace

import pytest
from support.audits import VEIL, made_audit, setting

from vecveil.audit.results import Outcome, Verdict
from vecveil.reports.rulings import rulings


def verdict(outcome: Outcome, seed: int) -> Verdict:
    return Verdict(setting=setting(VEIL, 0.7, seed=seed), outcome=outcome, reasons=(f"{outcome} it is",), judgements=())


@pytest.mark.parametrize(
    ("outcomes", "together"),
    [
        (("pass", "pass"), "pass"),
        (("pass", "fail"), "fail"),
        (("inconclusive", "fail"), "fail"),
        (("pass", "inconclusive"), "inconclusive"),
    ],
)
def test_the_worst_seed_decides(outcomes: tuple[Outcome, ...], together: Outcome) -> None:
    (ruling,) = rulings(verdict(outcome, seed) for seed, outcome in enumerate(outcomes))
    assert ruling.outcome == together
    assert ruling.reasons == tuple(
        f"seed {seed}: {together} it is" for seed, outcome in enumerate(outcomes) if outcome == together
    )


def test_one_seed_speaks_for_itself() -> None:
    (ruling,) = rulings([verdict("pass", 4)])
    assert ruling.reasons == ("pass it is",)


def test_each_budget_has_one_ruling() -> None:
    found = rulings(made_audit(seeds=(0, 1)).verdicts)
    assert [ruling.point.budget for ruling in found] == ["noise 0.3", "noise 0.5", "noise 0.7", "noise 1", "noise 1.5"]
    assert {len(ruling.verdicts) for ruling in found} == {2}
    assert rulings([replace(one, outcome="pass") for one in found[0].verdicts])[0].outcome == "pass"
