"""One ruling for each budget, whatever the number of seeds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from vecveil.audit.results import Outcome, Verdict
from vecveil.reports.points import Point


@dataclass(frozen=True, kw_only=True)
class Ruling:
    """The verdicts of all seeds on the veil at one budget.

    Attributes:
        point: The veil and its budget.
        outcome: A fail where any seed fails, a pass where all pass, inconclusive otherwise: a reader takes one seed's
            luck for none.
        reasons: Those of the seeds that decide it, with the seed where there are several.
        verdicts: One for each seed.
    """

    point: Point
    outcome: Outcome
    reasons: tuple[str, ...]
    verdicts: tuple[Verdict, ...]


def rulings(verdicts: Iterable[Verdict]) -> tuple[Ruling, ...]:
    """Return the verdicts brought together by budget, in their order."""
    groups: dict[Point, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(Point.of(verdict.setting), []).append(verdict)
    return tuple(_ruling(point, tuple(group)) for point, group in groups.items())


def _ruling(point: Point, verdicts: tuple[Verdict, ...]) -> Ruling:
    outcomes = {verdict.outcome for verdict in verdicts}
    outcome: Outcome = "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "inconclusive"
    reasons = tuple(
        reason if len(verdicts) == 1 else f"seed {verdict.setting.seed}: {reason}"
        for verdict in verdicts
        if verdict.outcome == outcome
        for reason in verdict.reasons
    )
    return Ruling(point=point, outcome=outcome, reasons=reasons, verdicts=verdicts)
