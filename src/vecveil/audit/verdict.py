"""Verdicts on a veil: words, presence, fill in the blank."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vecveil.audit.rows import (
    PARTS,
    AttackRow,
    BlankRow,
    Estimate,
    Judgment,
    Outcome,
    Part,
    PartVerdict,
    ProbeRow,
    Setting,
    Verdict,
)
from vecveil.core.checks import fraction, one_of
from vecveil.core.percent import percent

LEAST: Mapping[Part, float] = {"words": 0.05, "presence": 0.1, "blank": 0.1}
"""What an attack must read out of unprotected vectors, above chance, to be a positive control."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Share of what is read out of unprotected vectors, above chance, that may remain behind the veil.

    Attributes:
        words: Of the private words that attacks read back.
        presence: Of how well probes tell a text with the concept from the same text without it.
        blank: Of how often someone is right who has the text but for one private value.
    """

    words: float = 0.25
    presence: float = 0.25
    blank: float = 0.25

    def __post_init__(self) -> None:
        for part in PARTS:
            fraction(getattr(self, part), f"tolerance of {part}")

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Tolerance:
        """Return what `SHARE` (of every part) and `PART=SHARE` stand for; later ones go before earlier ones."""
        given: dict[str, float] = {}
        for text in texts:
            part, equals, share = text.rpartition("=")
            try:
                number = float(share)
            except ValueError:
                number = math.nan
            value = fraction(number, f"tolerance {text!r}")
            given |= {one_of(part, PARTS, "part of a verdict"): value} if equals else dict.fromkeys(PARTS, value)
        return cls(**given)


@dataclass(frozen=True, kw_only=True)
class _Measure:
    """How much one attack reads above chance, out of unprotected vectors and behind the veil, of how many texts."""

    part: Part
    name: str
    before: Estimate
    after: Estimate
    texts: int


def reach_verdicts(
    attacks: Sequence[AttackRow], probes: Sequence[ProbeRow], blanks: Sequence[BlankRow], *, tolerance: Tolerance
) -> tuple[Verdict, ...]:
    """Return the verdict on the veil at each budget and seed.

    A part fails where any attack still reads more than may remain, by the whole of its interval. It passes where at
    least one attack is known to work on unprotected vectors and all such were held off. Anything else is inconclusive:
    an attack that can't read unprotected vectors has nothing to say about protected ones.
    """
    found = [*(row.setting for row in attacks), *(row.setting for row in probes), *(row.setting for row in blanks)]
    settings = dict.fromkeys(setting for setting in found if setting.defense == "veil")
    return tuple(_verdict(setting, [*_measure(setting, attacks, probes, blanks)], tolerance) for setting in settings)


def _verdict(setting: Setting, measures: Sequence[_Measure], tolerance: Tolerance) -> Verdict:
    parts = []
    for part in PARTS:
        allowed = getattr(tolerance, part)
        judgments = tuple(_judge(measure, allowed) for measure in measures if measure.part == part)
        if judgments:
            parts.append(PartVerdict(part=part, outcome=_decide(judgments), tolerance=allowed, judgments=judgments))
    outcomes = {part.outcome for part in parts}
    outcome: Outcome = "fail" if "fail" in outcomes else "pass" if outcomes == {"pass"} else "inconclusive"
    return Verdict(setting=setting, outcome=outcome, parts=tuple(parts))


def _decide(judgments: Sequence[Judgment]) -> Outcome:
    outcomes = [judgment.outcome for judgment in judgments if judgment.retained is not None]
    if "fail" in outcomes:
        return "fail"
    return "pass" if outcomes and set(outcomes) == {"pass"} else "inconclusive"


def _judge(measure: _Measure, tolerance: float) -> Judgment:
    def judge(outcome: Outcome, kept: Estimate | None, reason: str, needed: int | None = None) -> Judgment:
        return Judgment(
            part=measure.part,
            attack=measure.name,
            outcome=outcome,
            before=measure.before,
            after=measure.after,
            retained=kept,
            reason=reason,
            texts_needed=needed,
        )

    least = LEAST[measure.part]
    if measure.before.low < least:
        return judge(
            "inconclusive",
            None,
            f"{measure.name} reads too little out of unprotected vectors to be a test ({percent(measure.before.value)} "
            f"above chance, at least {percent(measure.before.low)}; {percent(least)} is needed): it says nothing about "
            "the veil",
        )
    kept = _share(measure.after, measure.before)
    reads = (
        f"{measure.name} still reads {percent(max(0.0, kept.value))} of what it reads out of unprotected vectors "
        f"({percent(max(0.0, measure.after.value))} of {percent(measure.before.value)} above chance)"
    )
    if kept.low > tolerance:
        return judge("fail", kept, f"{reads}; {percent(tolerance)} may remain")
    if kept.high <= tolerance:
        return judge("pass", kept, f"{reads}, and {percent(tolerance)} may remain")
    needed = _texts_needed(kept, tolerance, measure.texts)
    more = "" if needed is None else f": about {needed:,} test texts would tell, there were {measure.texts:,}"
    return judge(
        "inconclusive",
        kept,
        f"{reads}, but the interval, {percent(max(0.0, kept.low))} to {percent(kept.high)}, reaches across the "
        f"{percent(tolerance)} that may remain{more}",
        needed,
    )


def _texts_needed(kept: Estimate, tolerance: float, texts: int) -> int | None:
    """Return how many texts would bring the tolerance to an end of the interval, which narrows with their root."""
    distance = abs(kept.value - tolerance)
    width = kept.high - kept.value if kept.value <= tolerance else kept.value - kept.low
    if distance <= 0.01 * width:
        return None
    return math.ceil(texts * (width / distance) ** 2)


def _measure(
    setting: Setting, attacks: Sequence[AttackRow], probes: Sequence[ProbeRow], blanks: Sequence[BlankRow]
) -> Iterable[_Measure]:
    def control(row: AttackRow | ProbeRow | BlankRow) -> bool:
        return row.setting.defense == "none" and row.setting.seed == setting.seed

    read = {row.attack: row for row in attacks if control(row)}
    for row in (row for row in attacks if row.setting == setting):
        yield _Measure(
            part="words",
            name=row.attack if row.releases == 1 else f"{row.attack} ({row.releases} releases)",
            before=_above(read[row.attack].r_precision, read[row.attack].r_chance),
            after=_above(row.r_precision, row.r_chance),
            texts=row.texts,
        )
    seen = {row.probe: row for row in probes if control(row)}
    for probe in (row for row in probes if row.setting == setting):
        yield _Measure(
            part="presence",
            name=f"{probe.probe} concept probe",
            before=_above(seen[probe.probe].auc, 0.5),
            after=_above(probe.auc, 0.5),
            texts=probe.tested,
        )
    told = next((row for row in blanks if control(row)), None)
    for blank in (row for row in blanks if row.setting == setting and told is not None):
        yield _Measure(
            part="blank",
            name="fill in the blank",
            before=_above(told.right, told.chance) if told else blank.right,
            after=_above(blank.right, blank.chance),
            texts=blank.texts,
        )


def _share(after: Estimate, before: Estimate) -> Estimate:
    """Return `after` over `before`; both were measured, so the interval is as wide as the errors of both make it."""
    value = after.value / before.value
    below = math.hypot(after.value - after.low, value * (before.high - before.value)) / before.value
    above = math.hypot(after.high - after.value, value * (before.value - before.low)) / before.value
    return Estimate(value=value, low=value - below, high=value + above)


def _above(estimate: Estimate, chance: float) -> Estimate:
    return Estimate(value=estimate.value - chance, low=estimate.low - chance, high=estimate.high - chance)
