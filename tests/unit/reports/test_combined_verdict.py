from __future__ import annotations

from dataclasses import replace

import pytest

from support.audits import VEIL, made_audit, setting
from vecveil.audit.results import Outcome, Verdict
from vecveil.reports.combined_verdict import combine_verdicts


def verdict(outcome: Outcome, seed: int) -> Verdict:
    return Verdict(setting=setting(VEIL, 0.7, seed=seed), outcome=outcome, reasons=(f"{outcome} it is",), judgments=())


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
    (combined,) = combine_verdicts(verdict(outcome, seed) for seed, outcome in enumerate(outcomes))
    assert combined.outcome == together
    assert combined.reasons == tuple(
        f"seed {seed}: {together} it is" for seed, outcome in enumerate(outcomes) if outcome == together
    )


def test_one_seed_speaks_for_itself() -> None:
    (combined,) = combine_verdicts([verdict("pass", 4)])
    assert combined.reasons == ("pass it is",)


def test_each_budget_has_one_combined_verdict() -> None:
    found = combine_verdicts(made_audit(seeds=(0, 1)).verdicts)
    assert [combined.condition.budget for combined in found] == [
        "noise 0.3",
        "noise 0.5",
        "noise 0.7",
        "noise 1",
        "noise 1.5",
    ]
    assert {len(combined.verdicts) for combined in found} == {2}
    assert combine_verdicts([replace(one, outcome="pass") for one in found[0].verdicts])[0].outcome == "pass"
