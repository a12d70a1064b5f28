"""Overhead of protection and of learning, in time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from reproduction.lab import Lab, machine
from reproduction.published import read_published
from reproduction.result import PaperResult, Row, row_of
from vecveil.core.arrays import Embeddings
from vecveil.core.randomness import FreshRows
from vecveil.mechanisms import MECHANISMS, Mechanism
from vecveil.shapes import ContrastPairs, Evidence, build_learner
from vecveil.veil.provenance import installed_versions

DIMENSIONS = 768
EPSILON = 10.0
BATCH = 1000


@dataclass(frozen=True, kw_only=True)
class Timed:
    """Seconds."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Overhead:
    """Microseconds per vector of the three mechanisms, and minutes of training over the number of samples."""

    name: ClassVar[str] = "overhead"
    title: ClassVar[str] = "Time per vector, and time to learn a mask"
    where: ClassVar[str] = "Appendix, computational overhead"

    def run(self, lab: Lab) -> PaperResult:
        """Return the times on this machine; what was timed before is not timed again."""
        rows = [
            row
            for name, mechanism in (("laplace", "laplace"), ("purkayastha", "purkayastha"), ("sparse", "mahalanobis"))
            for row in self._protecting(lab, name, mechanism, runs=lab.effort.runs)
        ]
        rows += [self._training(lab, samples) for samples in lab.effort.samples]
        notes = (
            f"{DIMENSIONS} dimensions; vectors with random coordinates; the cryptographic generator; one process.",
            'The paper says "under 45 minutes" for 20,000 samples; its epsilon is not told, ours is a literal 10.',
            "The paper's machine had 18 cores and an RTX 3090; a timing says something on one machine only.",
        )
        return PaperResult(name=self.name, title=self.title, rows=tuple(rows), notes=notes, lab=lab.facts())

    def _protecting(self, lab: Lab, name: str, mechanism: str, *, runs: int) -> list[Row]:
        """Return the time per vector, one at a time as the paper has it and many at once."""
        vectors = np.random.default_rng(0).standard_normal((BATCH, DIMENSIONS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        kind = MECHANISMS.load(mechanism)
        variances = np.linspace(0.1, 1.9, DIMENSIONS) if kind.takes_shape else np.ones(DIMENSIONS)
        built = kind.for_shape(epsilon=EPSILON, variances=variances, axes=None, center=None)
        singly = self._time(lab, f"{name} {runs}", lambda: [add_noise(built, vectors[:1]) for _ in range(runs)])
        together = self._time(lab, f"{name} batch", lambda: add_noise(built, vectors))
        found = []
        for samples, seconds in (("1", singly / runs), (str(BATCH), together / BATCH)):
            keys = {"what": name, "samples": samples}
            printed = read_published(self.name).value(keys, "microseconds")
            found.append(row_of(keys, "microseconds", [1e6 * seconds], paper=printed))
        return found

    def _training(self, lab: Lab, samples: int) -> Row:
        rng = np.random.default_rng(0)
        first = rng.standard_normal((samples, DIMENSIONS)).astype(np.float32)
        pairs = ContrastPairs(first, first + 0.1 * rng.standard_normal(first.shape).astype(np.float32))
        learner = build_learner("hard-concrete", preset="paper")
        seconds = self._time(lab, f"training {samples}", lambda: learner.fit(Evidence(pairs), np.random.default_rng(0)))
        keys = {"what": "training", "samples": str(samples)}
        return row_of(keys, "minutes", [seconds / 60], paper=read_published(self.name).value(keys, "minutes"))

    def _time(self, lab: Lab, what: str, work: Callable[[], object]) -> float:
        def measure(*_: Any) -> Timed:
            started = time.perf_counter()
            work()
            return Timed(seconds=time.perf_counter() - started)

        settings = {"dimensions": DIMENSIONS, "epsilon": EPSILON, "batch": BATCH, "machine": machine()}
        return lab.run("time", None, 0, Timed, measure, what=what, versions=installed_versions(), **settings).seconds


def add_noise(mechanism: Mechanism, vectors: Embeddings) -> Embeddings:
    """Return vectors with secure noise."""
    return mechanism.perturb(vectors, FreshRows(len(vectors))).astype(vectors.dtype)
