"""Findings of a self-test as p-values, and its result with the verdict."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeVar

T = TypeVar("T")

BREAKDOWN = "works at all"
"""The check that fails where there is an error in place of a p-value."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One p-value.

    Attributes:
        subject: What was tested.
        check: What was looked at.
        pvalue: At most this likely, if all is right, is what was seen or anything worse. A check without chance has 0
            or 1, and one that comes to no number has 0.
        detail: What a reader of a failure needs to know.
    """

    subject: str
    check: str
    pvalue: float
    detail: str = ""

    def __post_init__(self) -> None:
        # NaN is below no level, and would pass.
        if math.isnan(self.pvalue):
            object.__setattr__(self, "pvalue", 0.0)

    @classmethod
    def without_chance(cls, subject: str, check: str, right: bool) -> Self:
        """Return what a check says that is right or wrong for sure."""
        return cls(subject=subject, check=check, pvalue=float(right))

    def as_dict(self, level: float) -> dict[str, Any]:
        """Return everything as plain data, with the verdict at that level."""
        return {**asdict(self), "passed": self.pvalue > level}


def catch_error(subject: str, items: Iterable[T]) -> tuple[list[T], list[Finding]]:
    """Return the items, and an error on the way to the next as a finding about `subject`.

    One broken mechanism must not end the test of the others.
    """
    found: list[T] = []
    try:
        found.extend(items)
    except Exception as error:  # noqa: BLE001
        detail = f"{type(error).__name__}: {error}"
        return found, [Finding(subject=subject, check=BREAKDOWN, pvalue=0.0, detail=detail)]
    return found, []


def collect(subject: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; an error on the way is the last of them."""
    found, errors = catch_error(subject, findings)
    return found + errors


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
            "findings": [finding.as_dict(self.level) for finding in self.findings],
            "canaries": [asdict(canary) for canary in self.canaries],
        }


def level_of(false_alarms: float, checks: int) -> float:
    """Return what each of some p-values is held against."""
    return false_alarms / checks
