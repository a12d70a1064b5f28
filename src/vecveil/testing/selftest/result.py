"""The result of a self-test, with its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from vecveil.testing.selftest.finding import Finding
from vecveil.testing.selftest.privacy_loss import Loss


@dataclass(frozen=True, kw_only=True)
class CanaryOutcome:
    """Whether a broken part was caught.

    Attributes:
        name: What it is called.
        flaw: What is wrong with it.
        caught_by: The checks that caught it, the surest first; none where it went unseen.
    """

    name: str
    flaw: str
    caught_by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SelfTestResult:
    """Every finding, and the level that each is held against.

    Attributes:
        settings: Of the run: mechanisms, samples, seed and the rest.
        versions: Of Python and the packages that make noise.
        false_alarms: Chance that a right installation fails.
        findings: One for each p-value.
        canaries: One for each broken part.
    """

    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    false_alarms: float
    findings: tuple[Finding, ...]
    canaries: tuple[CanaryOutcome, ...]

    @property
    def level(self) -> float:
        """What each p-value is held against: an equal share of the false alarms (Bonferroni)."""
        return level_of(self.false_alarms, len(self.findings))

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that no chance explains."""
        return tuple(finding for finding in self.findings if finding.pvalue <= self.level)

    @property
    def missed(self) -> tuple[CanaryOutcome, ...]:
        """The canaries that no check caught."""
        return tuple(canary for canary in self.canaries if not canary.caught_by)

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong and the test could see."""
        return not self.failures and not self.missed

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        if self.passed:
            return (
                f"Passed: {len(self.findings):,} checks found nothing wrong, and all {len(self.canaries)} canaries "
                f"were caught. {self._rate} That is no proof of privacy: it says that noise is as stated, as far as "
                f"{self.settings['samples']:,} releases of an input can tell."
            )
        reasons = []
        if self.failures:
            subjects = "; ".join(dict.fromkeys(finding.subject for finding in self.failures))
            reasons.append(f"{len(self.failures):,} of {len(self.findings):,} checks, on {subjects}. {self._rate}")
        if self.missed:
            names = "; ".join(canary.name for canary in self.missed)
            reasons.append(
                f"The self-test is blind: it did not catch what is broken on purpose ({names}), so that where it finds "
                "nothing wrong, that is worth nothing. More samples may help."
            )
        return f"Failed: {' '.join(reasons)}"

    @property
    def _rate(self) -> str:
        return f"A right installation fails this test in one of {1 / self.false_alarms:,.0f} runs at most."

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, with bounds at the level of this result."""
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            "settings": dict(self.settings),
            "versions": dict(self.versions),
            "false_alarms": self.false_alarms,
            "level": self.level,
            "findings": [self._finding(finding) for finding in self.findings],
            "canaries": [asdict(canary) for canary in self.canaries],
        }

    def _finding(self, finding: Finding) -> dict[str, Any]:
        bound = {"at_least": finding.bound(self.level)} if isinstance(finding, Loss) else {}
        return {**asdict(finding), **bound, "passed": finding.pvalue > self.level}


def level_of(false_alarms: float, checks: int) -> float:
    """Return what each of some p-values is held against."""
    return false_alarms / checks
