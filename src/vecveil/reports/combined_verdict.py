"""The verdicts of all seeds at one budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vecveil.audit.results import Outcome, Verdict
from vecveil.reports.conditions import Condition


@dataclass(frozen=True, kw_only=True)
class CombinedVerdict:
    """The verdicts of all seeds on the veil at one budget.

    Attributes:
        condition: The veil and its budget.
        outcome: A fail where any seed fails, a pass where all pass, inconclusive otherwise: a reader takes one seed's
            luck for none.
        reasons: Those of the seeds that decide it, with the seed where there are several.
        verdicts: One for each seed.
    """

    condition: Condition
    outcome: Outcome
    reasons: tuple[str, ...]
    verdicts: tuple[Verdict, ...]


def combine_verdicts(verdicts: Iterable[Verdict]) -> tuple[CombinedVerdict, ...]:
    """Return the verdicts brought together by budget, in their order."""
    groups: dict[Condition, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(Condition.from_setting(verdict.setting), []).append(verdict)
    return tuple(_combine(condition, tuple(group)) for condition, group in groups.items())


def _combine(condition: Condition, verdicts: tuple[Verdict, ...]) -> CombinedVerdict:
    outcomes = {verdict.outcome for verdict in verdicts}
    outcome: Outcome = "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "inconclusive"
    reasons = tuple(
        reason if len(verdicts) == 1 else f"seed {verdict.setting.seed}: {reason}"
        for verdict in verdicts
        if verdict.outcome == outcome
        for reason in verdict.reasons
    )
    return CombinedVerdict(condition=condition, outcome=outcome, reasons=reasons, verdicts=verdicts)
