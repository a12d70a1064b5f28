"""Verdicts of an audit that nobody ran."""

from __future__ import annotations

from collections.abc import Mapping

from vecveil.audit.results import Estimate, Judgment, Outcome, Setting, Verdict

LIMIT = 0.3


def verdict_of(one: Setting, left: Mapping[str, float]) -> Verdict:
    """Return the verdict on a setting behind which each attack still reads a share of what it reads elsewhere."""
    judgments = tuple(judgment(attack, share) for attack, share in left.items())
    for outcome in ("fail", "inconclusive"):
        reasons = tuple(f"{one.attack} {one.reason}" for one in judgments if one.outcome == outcome)
        if reasons:
            return Verdict(setting=one, outcome=outcome, reasons=reasons, judgments=judgments)
    reason = f"all {len(judgments)} attacks read less than {LIMIT:.0%} of what they read out of unprotected vectors"
    return Verdict(setting=one, outcome="pass", reasons=(reason,), judgments=judgments)


def judgment(attack: str, share: float) -> Judgment:
    """Return what an attack says that still reads a share of what it reads out of unprotected vectors."""
    retained = Estimate(value=share, low=max(0.0, share - 0.04), high=min(1.0, share + 0.04))
    outcome: Outcome = "fail" if retained.low > LIMIT else "pass" if retained.high < LIMIT else "inconclusive"
    reason = {
        "pass": f"still reads {share:.0%} of what it reads out of unprotected vectors; up to {LIMIT:.0%} is allowed",
        "inconclusive": f"still reads {share:.0%}, and its interval holds the limit of {LIMIT:.0%}: too close to tell",
        "fail": f"still reads {share:.0%} of what it reads out of unprotected vectors, above the limit of {LIMIT:.0%}",
    }[outcome]
    return Judgment(attack=attack, outcome=outcome, retained=retained, reason=reason)


def blind(attack: str) -> Judgment:
    """Return the judgment of an attack that reads nothing out of unprotected vectors."""
    reason = "reads no more than chance out of unprotected vectors, so its failure proves nothing"
    return Judgment(attack=attack, outcome="inconclusive", retained=None, reason=reason)
