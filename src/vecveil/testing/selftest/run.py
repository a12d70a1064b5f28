"""The self-test itself."""

from __future__ import annotations

import itertools
import platform
import secrets
from dataclasses import asdict, dataclass
from importlib.metadata import version

import numpy as np

from vecveil.core.checks import at_least, one_of
from vecveil.core.errors import InvalidInputError, MissingExtraError
from vecveil.core.progress import Progress, silent
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries.canary import Canary, canaries
from vecveil.testing.selftest.examination import examine
from vecveil.testing.selftest.finding import BREAKDOWN, Finding, Mishap, collected
from vecveil.testing.selftest.in_use import in_use
from vecveil.testing.selftest.law import FEWEST_ROWS
from vecveil.testing.selftest.released import released_findings
from vecveil.testing.selftest.result import CanaryOutcome, SelfTestResult, level_of
from vecveil.testing.selftest.streams import keyed_findings, stream_findings
from vecveil.testing.selftest.subjects import DIMENSIONS, MORE_DIMENSIONS, Subject, subject_of, subjects_of
from vecveil.testing.selftest.workers import Source

RAREST, OFTENEST = 1e-6, 0.1
"""Bounds of the false-alarm rate. Further out, the normal laws behind some p-values are not to be trusted."""

PACKAGES = ("vecveil", "numpy", "cryptography", "scipy")


@dataclass(frozen=True, kw_only=True)
class SelfTest:
    """An audit of the installed mechanisms and of where their noise comes from, on this machine.

    Attributes:
        mechanisms: Names of the mechanisms; all that are registered where empty.
        samples: Number of releases of each input.
        false_alarms: Chance that a right installation fails.
        thorough: Whether to test high dimensions too, which takes minutes.
        seed: Makes a run repeatable; where None, every run draws other keys for the noise, as it does in use.
    """

    mechanisms: tuple[str, ...] = ()
    samples: int = 30_000
    false_alarms: float = 1e-6
    thorough: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        for name in self.mechanisms:
            one_of(name, MECHANISMS.names(), "mechanism")
        at_least(self.samples, FEWEST_ROWS, "samples")
        if not RAREST <= self.false_alarms <= OFTENEST:
            raise InvalidInputError(
                f"false_alarms must be between {RAREST:g} and {OFTENEST:g}, got {self.false_alarms!r}"
            )
        if self.seed is not None:
            at_least(self.seed, 0, "seed")

    def run(self, progress: Progress = silent) -> SelfTestResult:
        """Run every check, and then the canaries at the same level.

        It starts worker processes: in a script, call it under `if __name__ == "__main__":`.
        """
        _require_scipy()
        source = _source(self.seed)
        findings = [
            *collected("secure streams", stream_findings()),
            *collected("keyed streams", keyed_findings()),
            *collected("releases", released_findings()),
        ]
        subjects, mishaps = self._subjects()
        findings += mishaps
        for subject in progress(subjects, label="testing mechanisms", total=len(subjects)):
            findings += examine(subject, samples=self.samples, source=source)
        level = level_of(self.false_alarms, len(findings))
        broken = list(canaries())
        outcomes = [
            self._outcome(canary, level, source)
            for canary in progress(broken, label="testing the test", total=len(broken))
        ]
        return SelfTestResult(
            settings={**asdict(self), "mechanisms": self._names},
            versions=_versions(),
            false_alarms=self.false_alarms,
            findings=tuple(findings),
            canaries=tuple(outcomes),
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.mechanisms or MECHANISMS.names()))

    def _subjects(self) -> tuple[list[Subject], list[Finding]]:
        """Return what can be tested, and what failed before that."""
        dimensions = DIMENSIONS + (MORE_DIMENSIONS if self.thorough else ())
        subjects: list[Subject] = []
        mishaps: list[Finding] = []
        for name in self._names:
            with Mishap() as mishap:
                subjects.extend(map(in_use, subjects_of(name, dimensions)))
            mishaps += mishap.findings(name)
        if "laplace" in self._names:
            plain = subject_of(
                MECHANISMS.load("laplace"),
                NoiseShape(variances=np.ones(16)),
                name="laplace",
                variant="noise from keys",
                law="elliptical",
                paired=False,
            )
            subjects.append(in_use(plain, keyed=True))
        return subjects, mishaps

    def _outcome(self, canary: Canary, level: float, source: Source) -> CanaryOutcome:
        found = (
            examine(canary.broken, samples=self.samples, source=source)
            if isinstance(canary.broken, Subject)
            else collected(canary.name, stream_findings(canary.broken, methods=("fork",)))
        )
        # A canary that breaks down is not caught: it has not been tried.
        caught = [finding for finding in found if finding.pvalue <= level and finding.check != BREAKDOWN]
        surest = sorted(caught, key=lambda finding: finding.pvalue)
        return CanaryOutcome(
            name=canary.name, flaw=canary.flaw, caught_by=tuple(dict.fromkeys(finding.check for finding in surest))
        )


def _source(seed: int | None) -> Source:
    start = secrets.randbits(128) if seed is None else seed
    numbers = itertools.count()
    return lambda: np.random.Generator(np.random.Philox(np.random.SeedSequence([start, next(numbers)])))


def _versions() -> dict[str, str]:
    system = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    return system | {package: version(package) for package in PACKAGES}


def _require_scipy() -> None:
    try:
        import scipy
    except ImportError:
        raise MissingExtraError("scipy", "audit") from None
    del scipy
