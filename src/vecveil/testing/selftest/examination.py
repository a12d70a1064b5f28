"""Every check of one subject."""

from __future__ import annotations

from collections.abc import Iterator

from vecveil.testing.selftest.density import density_findings, stated_loss
from vecveil.testing.selftest.finding import Finding, collected
from vecveil.testing.selftest.law import law_findings
from vecveil.testing.selftest.pairs import NEAR_LOSS, pairs_of
from vecveil.testing.selftest.privacy_loss import losses
from vecveil.testing.selftest.releases import release
from vecveil.testing.selftest.subjects import Subject
from vecveil.testing.selftest.workers import Source


def examine(subject: Subject, *, samples: int, source: Source) -> list[Finding]:
    """Return every finding about `subject`; an error inside its mechanism is one of them."""
    return collected(subject.title, _findings(subject, samples=samples, source=source))


def _findings(subject: Subject, *, samples: int, source: Source) -> Iterator[Finding]:
    yield from law_findings(subject, samples=samples, rng=source())
    mechanism = subject.mechanism
    for pair in pairs_of(subject) if subject.paired else ():
        ours, theirs = (
            release(mechanism, pair, original, samples=samples, rng=source()) for original in (pair.first, pair.second)
        )
        yield stated_loss(subject.title, mechanism.epsilon, pair, ours, theirs)
        yield from losses(subject.title, mechanism, pair, ours, theirs)
        # Far apart, few releases of the one look like those of the other, and nothing can be foretold.
        if mechanism.epsilon * pair.distance <= 1.5 * NEAR_LOSS:
            yield from density_findings(subject.title, mechanism.epsilon, pair, ours, theirs)
