"""Verdicts of an audit that nobody ran."""

from __future__ import annotations

from collections.abc import Mapping

from vecveil.audit.rows import Estimate, Judgment, Outcome, PartVerdict, Setting, Verdict

LIMIT = 0.3


def verdict_of(one: Setting, left: Mapping[str, float]) -> Verdict:
    """Return the verdict on a setting behind which each attack still reads a share of what it reads elsewhere."""
    return made_verdict(one, tuple(judgment(attack, share) for attack, share in left.items()))


def made_verdict(one: Setting, judgments: tuple[Judgment, ...]) -> Verdict:
    """Return the verdict that judgments on words come to."""
    outcomes = [judgment.outcome for judgment in judgments]
    outcome: Outcome = next((worst for worst in ("fail", "inconclusive") if worst in outcomes), "pass")
    part = PartVerdict(part="words", outcome=outcome, tolerance=LIMIT, judgments=judgments)
    return Verdict(setting=one, outcome=outcome, parts=(part,))


def judgment(attack: str, share: float) -> Judgment:
    """Return what an attack says that still reads a share of what it reads out of unprotected vectors."""
    retained = Estimate(value=share, low=max(0.0, share - 0.04), high=min(1.0, share + 0.04))
    outcome: Outcome = "fail" if retained.low > LIMIT else "pass" if retained.high < LIMIT else "inconclusive"
    reason = {
        "pass": f"still reads {share:.0%} of what it reads out of unprotected vectors; up to {LIMIT:.0%} is allowed",
        "inconclusive": f"still reads {share:.0%}, and its interval holds the limit of {LIMIT:.0%}: too close to tell",
        "fail": f"still reads {share:.0%} of what it reads out of unprotected vectors, above the limit of {LIMIT:.0%}",
    }[outcome]
    return _judgment(attack, outcome, retained, f"{attack} {reason}")


def blind(attack: str) -> Judgment:
    """Return the judgment of an attack that reads nothing out of unprotected vectors."""
    reason = "reads no more than chance out of unprotected vectors, so its failure proves nothing"
    return _judgment(attack, "inconclusive", None, f"{attack} {reason}")


def _judgment(attack: str, outcome: Outcome, retained: Estimate | None, reason: str) -> Judgment:
    before = Estimate(value=0.5, low=0.48, high=0.52)
    after = Estimate(value=0.0, low=0.0, high=0.1) if retained is None else retained
    return Judgment(
        part="words", attack=attack, outcome=outcome, before=before, after=after, retained=retained, reason=reason
    )
