"""The self-test: every check of every subject, then the canaries."""

import itertools
import platform
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import version
from typing import TypeAlias

import numpy as np

from vecveil.core.checks import at_least, one_of
from vecveil.core.errors import InvalidInputError, needs_extra
from vecveil.core.progress import Progress, silent
from vecveil.mechanisms import MECHANISMS
from vecveil.shapes import NoiseShape
from vecveil.testing.selftest.canaries.canary import Canary, canaries
from vecveil.testing.selftest.law import FEWEST_ROWS, density_findings, law_findings, stated_loss
from vecveil.testing.selftest.pairs import NEAR_LOSS, observe, pairs_of
from vecveil.testing.selftest.privacy_loss import losses
from vecveil.testing.selftest.result import (
    BREAKDOWN,
    CanaryOutcome,
    Finding,
    SelfTestResult,
    catch_error,
    collect,
    level_of,
)
from vecveil.testing.selftest.streams import release_findings, stream_findings
from vecveil.testing.selftest.subjects import DIMENSIONS, MORE_DIMENSIONS, Subject, subject_of, subjects_of

Source: TypeAlias = Callable[[], np.random.Generator]
"""Returns another generator each time."""

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
        with needs_extra("scipy", "audit"):
            import_module("scipy")
        source = _make_source(self.seed)
        findings = [
            *collect("secure streams", stream_findings()),
            *collect("releases", release_findings()),
        ]
        subjects, errors = self._subjects()
        findings += errors
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
        errors: list[Finding] = []
        for name in self._names:
            found, failed = catch_error(name, subjects_of(name, dimensions))
            subjects += found
            errors += failed
        if "laplace" in self._names:
            keyed = subject_of(
                MECHANISMS.load("laplace"),
                NoiseShape(variances=np.ones(16)),
                name="laplace",
                variant="noise from keys",
                law="elliptical",
                paired=False,
                keyed=True,
            )
            subjects.append(keyed)
        return subjects, errors

    def _outcome(self, canary: Canary, level: float, source: Source) -> CanaryOutcome:
        found = (
            examine(canary.broken, samples=self.samples, source=source)
            if isinstance(canary.broken, Subject)
            else collect(canary.name, stream_findings(canary.broken, methods=("fork",)))
        )
        # A canary that breaks down is not caught: it has not been tried.
        caught = [finding for finding in found if finding.pvalue <= level and finding.check != BREAKDOWN]
        surest = sorted(caught, key=lambda finding: finding.pvalue)
        return CanaryOutcome(
            name=canary.name, flaw=canary.flaw, caught_by=tuple(dict.fromkeys(finding.check for finding in surest))
        )


def examine(subject: Subject, *, samples: int, source: Source) -> list[Finding]:
    """Return every finding about `subject`; an error inside its mechanism is one of them."""
    return collect(subject.title, _findings(subject, samples=samples, source=source))


def _findings(subject: Subject, *, samples: int, source: Source) -> Iterator[Finding]:
    yield from law_findings(subject, samples=samples, rng=source())
    mechanism = subject.mechanism
    for pair in pairs_of(subject) if subject.paired else ():
        ours, theirs = (
            observe(subject, pair, original, samples=samples, rng=source()) for original in (pair.first, pair.second)
        )
        yield stated_loss(subject.title, mechanism.epsilon, pair, ours, theirs)
        yield from losses(subject.title, mechanism, pair, ours, theirs)
        # Far apart, few releases of the one look like those of the other, and nothing can be predicted.
        if mechanism.epsilon * pair.distance <= 1.5 * NEAR_LOSS:
            yield from density_findings(subject.title, mechanism.epsilon, pair, ours, theirs)


def _make_source(seed: int | None) -> Source:
    start = secrets.randbits(128) if seed is None else seed
    numbers = itertools.count()
    return lambda: np.random.Generator(np.random.Philox(np.random.SeedSequence([start, next(numbers)])))


def _versions() -> dict[str, str]:
    system = {"python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    return system | {package: version(package) for package in PACKAGES}
