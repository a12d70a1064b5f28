"""Verdicts on a veil: pass, fail or inconclusive, with reasons in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from vecveil.audit.results import AttackRow, Estimate, Judgment, Outcome, ProbeRow, Setting, Verdict

LEAST_LEAKAGE = 0.05
"""An attack must read this share of the sensitive tokens above chance out of unprotected vectors to be a control."""

LEAST_AUC = 0.6
"""A probe must reach this on unprotected vectors to be one."""


@dataclass(frozen=True, kw_only=True)
class _Measure:
    """How much one attack reads above chance, out of unprotected vectors and behind the veil.

    Attributes:
        name: The attack.
        what: What is measured.
        before: Out of unprotected vectors.
        after: Behind the veil.
        least: What it must read out of unprotected vectors to be a test.
        releases: Fresh releases of each record that it averages.
    """

    name: str
    what: str
    before: Estimate
    after: Estimate
    least: float
    releases: int = 1


def reach_verdicts(
    attacks: Sequence[AttackRow], probes: Sequence[ProbeRow], *, tolerance: float
) -> tuple[Verdict, ...]:
    """Return the verdict on the veil at each budget and seed.

    It fails where any attack still reads more than `tolerance` of what it reads out of unprotected vectors. It passes
    only where every attack that was tried is known to work on unprotected vectors and was held off. Anything else is
    inconclusive: an attack that can't read unprotected vectors has nothing to say about protected ones.
    """
    settings = dict.fromkeys([*(row.setting for row in attacks), *(row.setting for row in probes)])
    return tuple(_verdict(setting, attacks, probes, tolerance) for setting in settings if setting.defense == "veil")


def _verdict(setting: Setting, attacks: Sequence[AttackRow], probes: Sequence[ProbeRow], tolerance: float) -> Verdict:
    judgments = tuple(
        _judge(measure, tolerance) for measure in (*_of_attacks(setting, attacks), *_of_probes(setting, probes))
    )
    outcomes = {judgment.outcome for judgment in judgments}
    outcome: Outcome = "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "inconclusive"
    reasons = tuple(judgment.reason for judgment in judgments if judgment.outcome == outcome)
    if not judgments:
        reasons = ("no attack was run",)
    return Verdict(setting=setting, outcome=outcome, reasons=reasons, judgments=judgments)


def _judge(measure: _Measure, tolerance: float) -> Judgment:
    who = measure.name if measure.releases == 1 else f"{measure.name} ({measure.releases} releases)"
    if measure.before.low < measure.least:
        reason = (
            f"{who} reads too little out of unprotected vectors to be a test ({measure.what} "
            f"{measure.before.value:.0%} above chance, at least {measure.before.low:.0%}; {measure.least:.0%} is "
            "needed): it says nothing about the veil"
        )
        return Judgment(attack=measure.name, outcome="inconclusive", retained=None, reason=reason)
    kept = _share(measure.after, measure.before)
    reads = f"{who} still reads {max(0.0, kept.value):.0%} of what it reads out of unprotected vectors"
    if kept.low > tolerance:
        return Judgment(
            attack=measure.name, outcome="fail", retained=kept, reason=f"{reads}; {tolerance:.0%} may remain"
        )
    if kept.high <= tolerance:
        return Judgment(
            attack=measure.name, outcome="pass", retained=kept, reason=f"{reads}, and {tolerance:.0%} may remain"
        )
    reason = (
        f"{reads}, but the interval, {max(0.0, kept.low):.0%} to {kept.high:.0%}, reaches across the {tolerance:.0%} "
        "that may remain: more test texts would tell"
    )
    return Judgment(attack=measure.name, outcome="inconclusive", retained=kept, reason=reason)


def _of_attacks(setting: Setting, rows: Sequence[AttackRow]) -> list[_Measure]:
    before = {row.attack: row for row in rows if row.setting.defense == "none" and row.setting.seed == setting.seed}
    return [
        _Measure(
            name=row.attack,
            what="leakage",
            before=_above(before[row.attack].leakage, before[row.attack].chance),
            after=_above(row.leakage, row.chance),
            least=LEAST_LEAKAGE,
            releases=row.releases,
        )
        for row in rows
        if row.setting == setting
    ]


def _of_probes(setting: Setting, rows: Sequence[ProbeRow]) -> list[_Measure]:
    before = {row.probe: row for row in rows if row.setting.defense == "none" and row.setting.seed == setting.seed}
    return [
        _Measure(
            name=f"{row.probe} concept probe",
            what="AUC",
            before=_above(before[row.probe].auc, 0.5),
            after=_above(row.auc, 0.5),
            least=LEAST_AUC - 0.5,
        )
        for row in rows
        if row.setting == setting
    ]


def _share(after: Estimate, before: Estimate) -> Estimate:
    """Return `after` over `before`; both were measured, so the interval is as wide as the errors of both make it."""
    value = after.value / before.value
    below = math.hypot(after.value - after.low, value * (before.high - before.value)) / before.value
    above = math.hypot(after.high - after.value, value * (before.value - before.low)) / before.value
    return Estimate(value=value, low=value - below, high=value + above)


def _above(estimate: Estimate, chance: float) -> Estimate:
    return Estimate(value=estimate.value - chance, low=estimate.low - chance, high=estimate.high - chance)
