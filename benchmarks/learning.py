"""Learning: shapes in closed form, and the paper's mask."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.measurement import Benchmark, Measurement, Work, time_benchmarks
from benchmarks.workload import SEED, Workload, make_evidence
from vecveil.shapes import Evidence, build_learner

CLOSED_FORMS = ("canonical", "subspace", "difference", "leace", "neuron-sensitivity")


def measure_learning(workload: Workload) -> list[Measurement]:
    """Time the learners that need no attack; of the mask's epochs, some."""
    evidence = make_evidence(workload.pairs)
    benchmarks = [Benchmark(name, prepare_fit(name, evidence), unit="s", target=2.0) for name in CLOSED_FORMS]
    mask: Any = build_learner("hard-concrete", preset="paper")
    training = partial(replace(mask, epochs=workload.epochs).fit, evidence, np.random.default_rng(SEED))
    name = f"hard-concrete, the paper's settings, {mask.epochs} epochs"
    benchmarks.append(Benchmark(name, training, workload.epochs / mask.epochs, "s", target=120.0))
    return time_benchmarks(benchmarks, rounds=max(2, workload.rounds // 2))


def prepare_fit(name: str, evidence: Evidence) -> Work:
    """Return the learning of a shape, to be timed."""
    return partial(build_learner(name).fit, evidence, np.random.default_rng(SEED))
